import * as assert from 'uvu/assert'
import { compile } from '../../src/cel/index.ts'
import { describe } from '../support/suite.ts'

const object = {
  metadata: { name: 'web', generation: 3, labels: { 'app.kubernetes.io/name': 'web' } },
  spec: { replicas: 3, ports: [80, 443], paused: false },
  status: {
    readyReplicas: 3,
    ratio: 0.5,
    conditions: [
      { type: 'Ready', status: 'True', observedGeneration: 3 },
      { type: 'Stalled', status: 'False' },
    ],
  },
}

/** What each expression comes to; `undefined` has no value. */
const ROWS: [string, boolean | undefined][] = [
  ['true', true],
  ['!false', true],
  ['1 + 2 * 3 == 7', true],
  ['(1 + 2) * 3 == 9', true],
  ['7 / 2 == 3', true],
  ['-7 / 2 == -3', true],
  ['7 % 4 == 3', true],
  ['1 / 0 == 1', undefined],
  ['0x10 == 16', true],
  ['1.5e1 == 15.0', true],
  ['10 - 2 - 3 == 5', true],
  ['- 1 < 0 && !(2 < 1)', true],
  ['"a" + \'b\' == "ab"', true],
  ['"a\\n\\u0041\\x41" == "a\\nAA"', true],
  ['r"\\n" == "\\\\n"', true],
  ['"""two\nlines""".size() == 9', true],
  ['"abc" < "abd"', true],
  ['1 == "1"', false],
  ['1 < "1"', undefined],
  ['null == null', true],
  ['[1, 2] == [1, 2]', true],
  ['[1, 2] + [3] == [1, 2, 3]', true],
  ['{"a": 1, "b": [2]} == {"b": [2], "a": 1}', true],
  ['2 in [1, 2]', true],
  ['"a" in {"a": 1}', true],
  ['"constructor" in {"a": 1}', false],
  ['[1, 2][1] == 2', true],
  ['[1, 2][2] == 2', undefined],
  ['true ? 1 == 1 : 1 / 0 == 1', true],
  ['false ? 1 == 2 : true ? true : false', true],
  ['object.spec.replicas == object.status.readyReplicas', true],
  ["object.metadata.labels['app.kubernetes.io/name'] == 'web'", true],
  ['status.ratio * 2 == 1', undefined],
  ['status.ratio * 2.0 == 1', true],
  ['status.ratio < 1 && 1 < 1.5 && 3 == 3.0', true],
  ['object.spec.replicas == 3 && object.spec.replicas - 1 == 2 && object.spec.replicas / 2 == 1', true],
  ['double(object.spec.replicas) / 2.0 == 1.5', true],
  ['9007199254740993 - 1 == 9007199254740992', true],
  ['has(object.status.phase)', false],
  ['has(object.status) && !has(object.spec.constructor)', true],
  ["object.status.phase == 'Ready'", undefined],
  ["has(object.status.phase) && object.status.phase == 'Ready'", false],
  ['false && object.nothing.here', false],
  ['object.nothing.here && false', false],
  ['object.nothing.here || true', true],
  ['object.nothing.here || false', undefined],
  ["status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')", true],
  ['status.conditions.all(c, c.observedGeneration == 3)', undefined],
  ['status.conditions.exists(c, c.observedGeneration == 3)', true],
  [
    "status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True' && e.observedGeneration == metadata.generation)",
    true,
  ],
  ["status.conditions.exists_one(c, c.status == 'False')", true],
  ['spec.ports.map(p, p + 1) == [81, 444]', true],
  ['spec.ports.all(p, spec.ports.exists(q, q == p))', true],
  ['metadata.labels.exists(key, key.endsWith("/name"))', true],
  ["size(spec.ports) == 2 && 'abc'.size() == 3 && size({}) == 0", true],
  ["'web-1'.startsWith('web') && 'web-1'.contains('-')", true],
  ["' A '.trim().lowerAscii() == 'a' && 'a,b'.split(',')[1] == 'b'", true],
  ["int('7') == 7 && string(7) == '7' && double('0.5') == 0.5 && bool('true')", true],
  ["int('seven') == 7", undefined],
  ["int('7.5') == 7", undefined],
  ["'ÄÖ'.lowerAscii() == 'ÄÖ'", true],
  ["timestamp('2030-01-01T00:00:00Z') < timestamp('2031-01-01T00:00:00Z')", true],
  ["timestamp('2030-01-01') < timestamp('2031-01-01T00:00:00Z')", undefined],
  ["timestamp('2030-01-01T12:00:00Z') + duration('90m') == timestamp('2030-01-01T13:30:00Z')", true],
  ["timestamp('2030-01-01T12:00:00Z').getHours('Europe/Berlin') == 13", true],
  ['metadata.namespace == "a"', undefined],
  ['spec.replicas', undefined],
  ['// nothing but this\ntrue', true],
  ['// two lines\n// of words (((\n"http://x" == "http:" + "//x" // and one at the end', true],
  [`${'!'.repeat(70)}true`, true],
  [`${"'((' + ".repeat(40)}'' != ''`, true],
]

/** What is wrong with each text, and where. */
const WRONG: [string, string][] = [
  ['', '1:1: found end of input'],
  ['1 +', '1:3: found + where end of input is expected'],
  ['1 2', '1:3: found 2 where end of input is expected'],
  ['(1', "1:3: found end of input where ')' is expected"],
  ['object.status =! 1', '1:15: found = where end of input is expected'],
  ['objekt.status == 1', '1:1: there is no objekt; known are object, metadata, spec, status'],
  ['spec.ports.all(p, q == 1)', '1:19: there is no q; known are object, metadata, spec, status, p'],
  ['matches("a")', '1:1: there is no function matches()'],
  ["'a'.matches('(a+)+b')", '1:4: there is no function matches()'],
  ['toString()', '1:1: there is no function toString()'],
  ["'a'.constructor('b')", '1:4: there is no function constructor()'],
  ["'a'.replace('a', 'b') == 'b'", '1:4: there is no function replace()'],
  ["'a'.startsWith()", '1:4: startsWith() takes 1 arguments, not 0'],
  ['has(object)', '1:1: has() takes one field, such as has(object.status)'],
  ['[1].all(1, true)', '1:4: all() takes a variable and an expression, such as list.all(item, item > 1)'],
  ['google.protobuf.Duration{seconds: 1} == spec', '1:1: there are no messages, such as google.protobuf.Duration'],
  ['9223372036854775808 > 1', '1:1: is no number of 64 bits'],
  ['"\\ud800" == ""', '1:1: surrogate code points are not allowed'],
  ['object.\n  status.\n  1', '2:9: found . where end of input is expected'],
  [`${'('.repeat(70)}1`, '1:65: is nested more than 64 deep'],
  [`object${'.a'.repeat(70)}`, '1:17: is nested more than 64 deep'],
  ['x'.repeat(5000), '1:1: is longer than 4096 characters'],
]

const NAMES = ['object', 'metadata', 'spec', 'status']

describe('cel', (it) => {
  for (const [text, expected] of ROWS) {
    it(`finds that ${JSON.stringify(text)} is ${expected ?? 'without value'}`, () => {
      const program = compile(text, NAMES)
      assert.is(typeof program === 'function' ? program({ object, ...object }) : program.wrong, expected)
    })
  }

  for (const [text, wrong] of WRONG) {
    it(`refuses ${JSON.stringify(text.slice(0, 40))}`, () => {
      assert.equal(compile(text, NAMES), { wrong })
    })
  }
})
