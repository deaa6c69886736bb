import * as assert from 'uvu/assert'
import { isRecord, parseYaml, parseYamlTree, type YamlLimits } from '../../src/std/index.ts'
import { effort } from '../support/effort.ts'
import { describe } from '../support/suite.ts'

const values = (text: string) => parseYaml(text).documents?.map(({ value }) => value)
const problem = (text: string, limits?: Partial<YamlLimits>) => {
  const { problem: found } = parseYaml(text, limits)
  return found ? `${found.line}:${found.column} ${found.message}` : undefined
}

const tenfold = (below: string, name: string) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${below}`).join(', ')}]`
const BOMB = ['a0: &a0 [x, x]', ...Array.from({ length: 8 }, (_, at) => tenfold(`a${at}`, `a${at + 1}`))].join('\n')
const merged = Array.from({ length: 40 }, (_, at) => `m${at + 1}: &m${at + 1} {<<: [*m${at}, *m${at}]}`)

const NOT_PLAIN = 'Only what JSON has a value for is read: no !!binary, !!set or other tags, and no .nan or .inf'

const WRONG: [why: string, text: string, said: string][] = [
  ['a key twice', 'a: 1\nb:\n  c: 1\n  c: 2\n', '4:3 Map keys must be unique'],
  ['a key twice within braces', '{a: 1, b: 2, a: 3}', '1:14 Map keys must be unique'],
  ['a key twice, once quoted', 'a: 1\n"a": 2\n', '2:1 Map keys must be unique'],
  ['a template that was never filled in', 'image: {{ .Values.image }}\n', '1:9 A key may not be a list or a mapping'],
  ['an alias without an anchor', 'a: *b\n', '1:4 An alias leads nowhere or expands to too much'],
  ['an alias within what it stands for', 'a: &a [*a]\n', '1:8 An alias leads nowhere or expands to too much'],
  ['aliases of aliases', BOMB, '7:9 An alias leads nowhere or expands to too much'],
  ['bytes', 'a: !!binary aGk=\n', `1:13 ${NOT_PLAIN}`],
  ['bytes for a key', '!!binary aGk=: a\n', `1:10 ${NOT_PLAIN}`],
  ['bytes under another name', '%TAG ! tag:yaml.org,2002:\n---\na: !binary aGk=\n', `3:12 ${NOT_PLAIN}`],
  ['a set', 'a: !!set {b}\n', `1:10 ${NOT_PLAIN}`],
  ['a tag of its own', 'a: !secret b\n', `1:12 ${NOT_PLAIN}`],
  ['no number', 'a: [.nan]\n', `1:5 ${NOT_PLAIN}`],
  ['a number without end', 'a: -.inf\n', `1:4 ${NOT_PLAIN}`],
  ['a tag of another type', 'a: !!int 5.0\n', '1:10 The value is not of the type that its tag says'],
  ['half of a character', 'a: "\\ud800"\n', '1:4 The text holds half of a character (one of \\ud800 to \\udfff)'],
  ['half of a character in a key', '"\\ud800": a\n', '1:1 The text holds half of a character (one of \\ud800 to \\udfff)'],
  ['a key twice, once a number', '1: a\n"1": b\n', '2:1 Map keys must be unique'],
  ['a key that is null', '{~: a}', '1:2 A key may not be empty; put it in quotes if it is a text'],
  ['no key', 'a:\n  : b\n', '2:3 A key may not be empty; put it in quotes if it is a text'],
  ...['1e6', '1.2345678', '0.00001', '18446744073709551616'].map((key): [string, string, string] => [
    `${key} for a key`,
    `${key}: a\n`,
    '1:1 A key that is such a number is read in several ways; put it in quotes',
  ]),
]

/** Integers that no number is, or whose number JSON writes with other digits. */
const LARGE = [
  '9007199254740993',
  '-9007199254740993',
  '1152921504606846976',
  '18446744073709551616',
  '0x20000000000001',
  '0o400000000000000001',
  '9'.repeat(5000),
]

/** As kubectl 1.36 reads them. */
const NUMBERS: Record<string, unknown> = {
  '0o17 -0o17 0O17 0o_17 017 -017 0_17': [15, -15, 15, 15, 15, -15, 15],
  '0x1F 0X1f -0x1F 0b11 0B11 0b1_1': [31, 31, -31, 3, 3, 3],
  '08 09 1_000 1_ +5 1e3 1E3 .5 5. 1.10': [8, 9, 1000, 1, 5, 1000, 1000, 0.5, 5, 1.1],
  '0x 0x_ 0b2 0o 0o8 _1 0x1p3': ['0x', '0x_', '0b2', '0o', '0o8', '_1', '0x1p3'],
  '. -. +.e1 e5 -e5 E12 .e5 e1234567 ._5 .5_ ._': ['.', '-.', '+.e1', 'e5', '-e5', 'E12', '.e5', 'e1234567', '._5', '.5_', '._'],
  '1.e5 1_e5 1._e5 .5e3 1e_5 1e5_ -._5 1_.5 5_. 1.5E+3': [1e5, 1e5, 1e5, 500, 1e5, 1e5, -0.5, 1.5, 5, 1500],
  'yes no on off y n Y True ~ Null': [true, false, true, false, true, false, true, true, null, null],
  '2024-01-01 190:20:30': ['2024-01-01', '190:20:30'],
  '9007199254740992 -9007199254740992 10000000000000000': [9_007_199_254_740_992, -9_007_199_254_740_992, 10_000_000_000_000_000],
  '1e20 9007199254740993.0': [1e20, 9_007_199_254_740_992],
}

describe('YAML', (it) => {
  it('is read with merges, and with the same key in different mappings', () => {
    const text = 'base: &base {a: 1}\nmore: &more {b: 2}\nall:\n  <<: *base\n  <<: *more\n  c: 3\n'
    assert.equal(values(text), [{ base: { a: 1 }, more: { b: 2 }, all: { a: 1, b: 2, c: 3 } }])
  })

  it('is read with tags that say what a value is anyway', () => {
    assert.equal(values('a: !!str 1\nb: !!int "2"\nc: !!map {d: !!seq [!!bool yes, !!null ~, ! e]}\n'), [
      { a: '1', b: 2, c: { d: [true, null, 'e'] } },
    ])
  })

  for (const [why, text, said] of WRONG) it(`is not read with ${why}`, () => assert.is(problem(text), said))

  for (const [written, read] of Object.entries(NUMBERS))
    it(`is read as Kubernetes' own tools do: ${written}`, () => {
      assert.equal(values(`[${written.split(' ').join(', ')}]`), [read])
    })

  it('is read with keys that are numbers, as the texts that they are to everybody', () => {
    const [read] = values('1: a\n0x10: b\n1.5: c\nyes: d\n0.0001: e\n9007199254740993: f\n') ?? []
    assert.equal(isRecord(read) ? Object.keys(read) : [], ['1', '16', '1.5', 'true', '0.0001', '9007199254740993'])
  })

  it('is not read with an integer that would arrive as another one, and says where it is', () => {
    for (const text of LARGE)
      assert.is(
        problem(`spec:\n  ports:\n  - {port: ${text}}\n`),
        '3:12 spec.ports[0].port is an integer beyond 2^53 that would not arrive as it is written; put it in quotes if it is a text',
      )
    assert.is(problem(`{"a": ${LARGE[0]}}`)?.slice(0, 26), '1:7 a is an integer beyond')
    assert.equal(values(LARGE.map((text) => `- "${text}"\n`).join('')), [LARGE])
  })

  it('is not read when it merges without end', () => {
    assert.match(problem(['m0: &m0 {a: 1}', ...merged].join('\n')) ?? '', /An alias/)
  })

  it('is not read beyond its limits, which each say so and where', () => {
    assert.is(problem('a: bcdef\n', { characters: 4 }), '1:1 The document is larger than 4 characters')
    assert.match(
      problem('a:\n- b\n- c\n', { tokens: 9 }) ?? '',
      /^\d:\d+ The document consists of more than 9 words, signs and spaces$/,
    )
    assert.match(problem('a:\n  b:\n    [[x]]\n', { depth: 4 }) ?? '', /^\d:\d+ The document is nested more than 4 deep$/)
    assert.is(parseYaml('a: bcdef\n', { characters: 4 }).problem?.isTooLarge, true)
    assert.is(parseYaml('a: [\n').problem?.isTooLarge, undefined)
  })

  it('may not take the stack, however it is nested', () => {
    for (const opening of ['[', '{', '- ', '? ', '{a: ', ': ', '[[],', '- ? '])
      assert.match(problem(opening.repeat(10_000)) ?? '', /nested more than 200 deep/, opening)
    assert.is(problem(`${'['.repeat(150)}${']'.repeat(150)}`), undefined)
  })

  it('takes time by its length, not by the square of it', () => {
    const keys = Array.from({ length: 30_000 }, (_, at) => `k${at}: v\n`).join('')
    const spent = effort()
    assert.is(problem(`${keys}k7: v\n`), '30001:1 Map keys must be unique')
    assert.ok(spent() < 20_000, `${spent()} ms; comparing each with each takes a minute`)
  })
})

describe('YAML as a tree', (it) => {
  const entry = (text: string, key: string, schema?: 'core') => {
    const { tree } = parseYamlTree(text, { file: 'a.yaml', ...(schema && { schema }) })
    return tree?.kind === 'map' ? tree.entries.get(key)?.value : undefined
  }

  it('has the file, the line and the column of everything, and numbers as they were written', () => {
    const place = { file: 'a.yaml', line: 2, column: 4 }
    assert.equal(entry('a: x\nb: 1.50 # c\n', 'b'), { kind: 'scalar', ...place, value: 1.5, source: '1.50' })
    assert.equal(entry('a: x\nb: "1.50"\n', 'b'), { kind: 'scalar', ...place, value: '1.50', source: '1.50' })
  })

  it('is read by the rules of YAML 1.1 or 1.2, of which only the former merges', () => {
    const value = (text: string, key: string, schema?: 'core') => {
      const found = entry(text, key, schema)
      return found?.kind === 'scalar' ? found.value : found?.kind
    }
    assert.equal([value('a: on', 'a'), value('a: on', 'a', 'core')], [true, 'on'])
    assert.equal([value('a: 0644', 'a'), value('a: 0644', 'a', 'core')], [420, 644])
    const merging = '<<: &a {b: 1}\nc: 2\n'
    assert.equal([value(merging, 'b'), value(merging, '<<', 'core')], [1, 'map'])
  })

  it('has copies where aliases stand, so that one can be changed by itself', () => {
    const { tree } = parseYamlTree('a: &a {b: [c]}\nd: *a\n')
    const [one, other] = tree?.kind === 'map' ? [...tree.entries.values()].map(({ value }) => value) : []
    assert.equal(one, other)
    assert.is.not(one, other)
  })

  it('is not read with too many aliases, counted with those in what they stand for', () => {
    const read = (aliases: number) => parseYamlTree('a: &a x\nb: &b [*a, *a]\nc: [*b]\n', { limits: { aliases } }).problem
    assert.is(read(5), undefined)
    assert.equal(read(4), {
      line: 3,
      column: 5,
      message: 'The document has more than 4 aliases',
      isTooLarge: true,
      about: 'aliases',
    })
  })
})
