import * as assert from 'uvu/assert'
import { compile } from '../../src/cel/index.ts'
import { effort } from '../support/effort.ts'
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
  ['status.ratio * 2 == 1', true],
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
  ["timestamp('2030-01-01T00:00:00Z') < timestamp('2031-01-01T00:00:00Z')", true],
  ['spec.replicas', undefined],
  ['// nothing but this\ntrue', true],
]

/** What is wrong with each text, and where. */
const WRONG: [string, string][] = [
  ['', '1:1: the expression ends too early'],
  ['1 +', '1:4: the expression ends too early'],
  ['1 2', '1:3: "2" stands where the expression should end'],
  ['(1', '1:3: the expression ends where ")" is expected'],
  ['object.status =! 1', '1:15: "=" has no meaning here'],
  ['objekt.status == 1', '1:1: there is no objekt; known are object, metadata, spec, status'],
  ['matches("a")', '1:1: there is no function matches()'],
  ["'a'.matches('(a+)+b')", '1:4: there is no function matches()'],
  ['toString()', '1:1: there is no function toString()'],
  ["'a'.constructor('b')", '1:4: there is no function constructor()'],
  ["'a'.startsWith()", '1:4: startsWith() takes 1 arguments, not 0'],
  ['has(object)', '1:1: has() takes one field, such as has(object.status)'],
  ['[1].all(1, true)', '1:9: the name of a variable is expected'],
  ['object.\n  status.\n  1', '3:3: a field is expected'],
  [`${'('.repeat(70)}1`, '1:65: is nested more than 64 deep'],
  [`${'!'.repeat(70)}true`, '1:64: is nested more than 64 deep'],
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

  const texts = [
    "size(object.a.split('')) == 0",
    "object.a.lowerAscii() == ''",
    "object.a.contains('xy')",
    'size(object.a) == 0',
    "object.a + 'b' == ''",
  ]
  for (const text of texts) {
    it(`stops ${text} over a long text again and again`, () => {
      const program = compile(`object.list.exists(i, ${text})`, ['object'])
      const long = { a: 'x'.repeat(900_000), list: Array.from({ length: 1000 }, (_, index) => index) }
      const spent = effort()
      assert.is(typeof program === 'function' && program({ object: long }), undefined)
      assert.ok(spent() < 500, `${spent()} ms`)
    })
  }

  it('stops an expression that costs too much', () => {
    const many = { list: Array.from({ length: 1000 }, (_, index) => index) }
    const program = compile('object.list.all(a, object.list.all(b, object.list.all(c, a + b + c >= 0)))', ['object'])
    const spent = effort()
    assert.is(typeof program === 'function' && program({ object: many }), undefined)
    assert.ok(spent() < 1000, `${spent()} ms`)
  })
})
