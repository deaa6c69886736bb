import * as assert from 'uvu/assert'
import { type Problem, parseDevfile, validateDevfile } from '../../src/devfile/index.ts'
import { effort } from '../support/effort.ts'
import { describe } from '../support/suite.ts'

/** Of the CPU. What is not bounded takes minutes or all memory. */
const ENOUGH_MS = 20_000

function problemsOf(text: string): Problem[] {
  const spent = effort()
  const read = parseDevfile(text)
  const took = spent()
  assert.ok(took < ENOUGH_MS, `took ${Math.round(took)} ms`)
  return 'problems' in read ? read.problems : []
}

const said = (text: string): string[] => problemsOf(text).map(({ rule, message }) => `${rule}: ${message}`)
const many = (count: number, of: (i: number) => string) => Array.from({ length: count }, (_, i) => of(i)).join('')

describe('devfile: bad input', (it) => {
  it('that is no YAML is told with its line', () => {
    const [found] = problemsOf('schemaVersion: 2.2.0\ncomponents: [')
    assert.equal([found?.rule, found?.line], ['yaml', 2])
    assert.is(problemsOf('\u0000\u0001{{{{').length > 0, true)
    assert.equal(said('schemaVersion: 2.2.0\nschemaVersion: 2.2.0'), ['yaml: Map keys must be unique'])
    assert.match(said('schemaVersion: 2.2.0\n---\na: b')[0] ?? '', /multiple documents/)
    assert.equal(said(''), ['type: must be a mapping'])
    assert.equal(said('just words'), ['type: must be a mapping'])
  })

  it('of 4 MB is refused before it is read', () => {
    assert.equal(said(`# ${'x'.repeat(4 * 1024 * 1024)}`), ['size: Devfile size (4 MB) exceeds the maximum allowed size of 3 MB'])
  })

  it('with 10,000 components is one problem', () => {
    const text = `schemaVersion: 2.2.0\ncomponents:\n${many(10_000, (i) => `  - { name: c${i}, container: { imge: i } }\n`)}`
    assert.equal(said(text), ['size: there are 10000, and at most 1000 are read'])
  })

  it('with a mistake in each of 1,000 components lists a thousand and counts the rest', () => {
    const found = problemsOf(
      `schemaVersion: 2.2.0\ncomponents:\n${many(1000, (i) => `  - { name: C${i}, container: { imge: i } }\n`)}`,
    )
    assert.is(found.length, 1001)
    assert.is(found.at(-1)?.message, 'there are 2000 more')
  })

  it('that refers to itself, or multiplies its aliases, is stopped', () => {
    assert.match(said('schemaVersion: 2.2.0\ncomponents: &a [*a]')[0] ?? '', /refers to itself/)
    const bomb = many(12, (i) => `a${i}: &a${i} [${new Array(9).fill(i ? `*a${i - 1}` : 'x').join(', ')}]\n`)
    assert.match(said(`${bomb}schemaVersion: 2.2.0\ncomponents: *a11`)[0] ?? '', /more than 100 aliases/)
  })

  it('that is nested a hundred thousand deep is stopped', () => {
    assert.match(said(`a: ${'['.repeat(100_000)}`)[0] ?? '', /nested too deep/)
    assert.match(said(`a: &x ${'['.repeat(100_000)}`)[0] ?? '', /nested too deep/)
    assert.match(said(many(200, (i) => `${' '.repeat(i)}a:\n`))[0] ?? '', /nested too deep/)
  })

  it('that is large and not plain YAML is not given to the library', () => {
    const [found, ...others] = problemsOf(`a: b\nb: !x c\n${many(40_000, (i) => `k${i}: v\n`)}`)
    assert.equal(others, [])
    assert.equal([found?.line, found?.column], [2, 4])
    assert.match(found?.message ?? '', /not plain YAML/)
  })

  it('of composites that meet again and again is walked once', () => {
    const text = `schemaVersion: 2.2.0\ncommands:\n${many(60, (i) => `  - { id: c${i}, composite: { commands: [c${i + 1}, c${i + 1}] } }\n`)}`
    const { problems } = validateDevfile(`${text}  - { id: c60, composite: { commands: [] } }\n`)
    assert.equal(problems, [])
  })

  it('keeps names that JavaScript knows out of its objects', () => {
    const { problems } = validateDevfile('schemaVersion: 2.2.0\n__proto__: { a: b }\nconstructor: x\nvariables: { __proto__: y }')
    assert.equal(
      problems.map(({ rule, path }) => `${rule} ${path}`),
      ['unknown-field __proto__', 'unknown-field constructor'],
    )
  })
})
