import * as assert from 'uvu/assert'
import { compile } from '../../src/cel/index.ts'
import { isFailure } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'

const numbers = Array.from({ length: 10_000 }, (_, index) => index)
const deep = (levels: number): object => {
  let object = {}
  for (let level = 0; level < levels; level++) object = { a: object }
  return object
}

/** As much of everything as an object of Kubernetes can hold, and more. */
const object = {
  list: numbers,
  same: [...numbers],
  words: numbers.map((number) => `word-${number}`),
  things: numbers.map((number) => ({ number, on: true })),
  ones: Array.from({ length: 500_000 }, () => 1),
  map: Object.fromEntries(numbers.map((number) => [`k${number}`, number])),
  sameMap: Object.fromEntries(numbers.map((number) => [`k${number}`, number])),
  keys: Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, 1])),
  text: 'x'.repeat(300_000),
  long: 'x'.repeat(1_500_000),
  texts: Array.from({ length: 15 }, () => 'y'.repeat(100_000)),
  digits: '9'.repeat(300_000),
  a: 'a'.repeat(200_000),
  almostA: `${'a'.repeat(50_000)}b${'a'.repeat(50_000)}`,
  spaces: `${' '.repeat(300_000)}x`,
  deep: deep(5000),
  sameDeep: deep(5000),
}

/** What one evaluation does ten thousand times. */
const again = (text: string): string => `object.list.exists(i, ${text})`
const times = (count: number, text: string): string => text.repeat(count)

/** Each would go on for seconds, or for ever. */
const HOSTILE: Record<string, string> = {
  'loops in loops': 'object.list.all(a, object.list.all(b, object.list.all(c, a + b + c >= 0)))',
  'ten loops in one another': `${times(10, 'object.list.all(x, ')}true${times(10, ')')}`,
  'lists of lists': 'object.list.map(a, object.list.map(b, a * b)).size() == 0',
  'choices in choices': 'object.list.map(a, a >= 0, object.list.filter(b, b >= 0)).size() == 0',
  'exactly one of all pairs': 'object.list.exists_one(a, object.list.exists_one(b, a == b))',
  'one list through many filters': `object.list${times(40, '.filter(x, true)')}.size() == 1`,
  'the keys of a map, twice': 'object.map.all(k, object.map.all(l, k != l || true))',
  'an end behind or': `${times(20, 'object.list.all(a, object.list.all(b, true)) || ')}true`,
  'an end behind and': '!(object.list.all(a, object.list.all(b, true)) && false)',
  'an end within exists': '[1, 2, 3].exists(x, object.list.all(a, object.list.all(b, true)) || x == 3)',
  'an end within a choice': '(object.list.all(a, object.list.all(b, true)) || true) ? true : false',
  'an error in each turn': again('object.list.exists(b, b.nothing == 1)'),
  'a failed conversion in each turn': "object.list.exists(a, object.list.exists(b, int('x') == 1))",
  'a text that doubles': `['x']${times(40, '.map(x, x + x)')}[0].size() == 1`,
  'bytes that double': `[b'xx']${times(40, '.map(x, x + x)')}[0].size() == 1`,
  'a list that doubles': `[[1]]${times(40, '.map(x, x + x)')}[0].size() == 1`,
  'a tree that doubles, compared': `[[1]]${times(40, '.map(x, [x, x])')}.all(x, x == x || [x] == [x] || [x] == [[x]])`,
  'the sum of two lists': again('(object.list + object.same).exists(j, j == -1)'),
  'equality of lists': again('object.list != object.same'),
  'equality of maps': again('object.map != object.sameMap'),
  'equality of texts': again('object.texts[0] != object.texts[1]'),
  'equality of what lies deep': again('object.deep != object.sameDeep'),
  'equality of all pairs': 'object.things.all(a, object.things.exists(b, a == b))',
  'a word in a list': again("'nothing' in object.words"),
  'a map in a list of maps': again('{"number": -1, "on": true} in object.things'),
  'a text in a list of texts': again("object.texts[0] + 'z' in object.texts || object.texts[0] in []"),
  'a number in a map': again('i in object.keys'),
  'a number as a key': again('object.keys[i] == 1'),
  'a double as a key': again('object.keys[double(i)] == 1'),
  'a map that nobody goes through to its end': again('object.keys.exists(k, true) && false'),
  'a list that nobody goes through to its end': again('object.ones.exists(x, true) && false'),
  'one element of a long list': again('object.things[i].number == -1'),
  'the size of a map': again('size(object.keys) == 0'),
  'the size of a text': again('size(object.text) == 0'),
  'the size of a text that is too long': 'size(object.long) == 0',
  'small letters': again("object.text.lowerAscii() == ''"),
  'parts of a text': again("object.text.split('').size() == 0"),
  'parts that are kept': "object.list.map(i, object.text.split('x')).size() == 0",
  'texts that are kept': 'object.list.map(i, object.text + string(i)).size() == 0',
  'a text without its spaces': again("object.spaces.trim() == ''"),
  'the order of texts': again('object.texts[0] + "z" < object.texts[1]'),
  'a text that is found almost everywhere': 'object.a.contains(object.almostA)',
  'parts between what is found almost everywhere': 'object.a.split(object.almostA).size() == 0',
  'bytes of a text': again("string(bytes(object.text)) == ''"),
  'a number of many digits': again('int(object.digits) == 1'),
  'times of day': again("timestamp('2030-01-01T00:00:00Z') + duration('1h2m3s') < timestamp('2030-01-01T00:00:00Z')"),
  'times of day in zones': again("timestamp('2030-01-01T00:00:00Z').getHours('Europe/Berlin') == 77"),
  'a zone of any length': again("timestamp('2030-01-01T00:00:00Z').getHours(object.text) == 77"),
  'fields of fields': again(`object.things[i]${times(50, '.number')} == 1 || false`),
  'a body of many parts': again(`${times(150, 'i == -1 || ')}false`),
  'a literal of many parts': again(`[${times(900, 'i, ')}i].size() == 0`),
}

/** What can be known before any object is. */
const REFUSED: Record<string, string> = {
  'a regular expression': "'aaaa'.matches('(a+)+b')",
  'a regular expression from the object': 'object.text.matches(object.text)',
  'brackets that stay open': times(2000, '('),
  'brackets that seem to be closed in texts and comments': `${times(300, '(")" + ')}${times(100, '(// )\n')}1`,
  'brackets after raw texts': `r"\\" == "" || ${times(300, '(r"\\" + ')}1`,
  'choices in one another': `${times(900, 'true ? false : ')}true`,
  'a number that is no number': `${times(4000, '9')} > 1`,
  'a sum of a thousand': `${times(1000, '1 + ')}1 == 2`,
  'texts that stay open': times(2000, '"\\'),
  'more than can be read': times(5000, ' '),
}

describe('the budget of an expression', (it) => {
  for (const [what, text] of Object.entries(HOSTILE)) {
    it(`ends with ${what}`, () => {
      const program = compile(text, ['object'])
      if (typeof program !== 'function') return assert.unreachable(program.wrong)
      assert.throws(
        () => program({ object }),
        (thrown: unknown) => isFailure(thrown, 'too-large'),
      )
    })
  }

  for (const [what, text] of Object.entries(REFUSED)) {
    it(`has nothing to do with ${what}`, () => {
      assert.type(compile(text, ['object']), 'object')
    })
  }

  it('stops an expression that costs too much', () => {
    const program = compile('object.list.all(a, object.list.all(b, a == b || true)) || true', ['object'])
    assert.throws(() => typeof program === 'function' && program({ object }), /budget of 20000 steps for one object is used up/)
  })

  it('is a new one for each object', () => {
    const program = compile('object.list.all(a, a >= 0)', ['object'])
    if (typeof program !== 'function') return assert.unreachable(program.wrong)
    const some = { list: numbers.slice(0, 2000) }
    for (let round = 0; round < 10; round++) assert.is(program({ object: some }), true)
  })

  const ENOUGH: Record<string, string> = {
    'all of two thousand elements': "object.some.all(c, c.status == 'True' && c.generation == object.generation)",
    'a choice of two thousand elements': "object.some.filter(c, c.status == 'True').map(c, c.generation).size() == 2000",
    'a hundred thousand characters': 'object.text.contains("nothing") == false && size(object.text) == 100000',
    'one field beside a million others': 'object.generation == 3',
  }
  for (const [what, text] of Object.entries(ENOUGH)) {
    it(`is enough for ${what}`, () => {
      const program = compile(text, ['object'])
      if (typeof program !== 'function') return assert.unreachable(program.wrong)
      const some = Array.from({ length: 2000 }, () => ({ status: 'True', generation: 3 }))
      assert.is(program({ object: { generation: 3, text: 'x'.repeat(100_000), some, ones: new Array(1_000_000).fill(1) } }), true)
    })
  }
})
