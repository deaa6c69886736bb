import * as assert from 'uvu/assert'
import { type DevfileProblem, parseDevfile, validateDevfile } from '../../src/devfile/index.ts'
import { effort } from '../support/effort.ts'
import { describe } from '../support/suite.ts'

/** Of the CPU. What is not bounded takes minutes or all memory. */
const ENOUGH_MS = 20_000

async function problemsOf(text: string): Promise<DevfileProblem[]> {
  const spent = effort()
  const read = await parseDevfile(text)
  const took = spent()
  assert.ok(took < ENOUGH_MS, `took ${Math.round(took)} ms`)
  return 'problems' in read ? read.problems : []
}

const said = async (text: string): Promise<string[]> => (await problemsOf(text)).map(({ rule, message }) => `${rule}: ${message}`)
const many = (count: number, of: (i: number) => string) => Array.from({ length: count }, (_, i) => of(i)).join('')

describe('devfile: bad input', (it) => {
  it('that is no YAML is told with its line', async () => {
    const [found] = await problemsOf('schemaVersion: 2.2.0\ncomponents: [')
    assert.equal([found?.rule, found?.line], ['yaml', 2])
    assert.is((await problemsOf('\u0000\u0001{{{{')).length > 0, true)
    assert.equal(await said('schemaVersion: 2.2.0\nschemaVersion: 2.2.0'), ['yaml: Map keys must be unique'])
    assert.match((await said('schemaVersion: 2.2.0\n---\na: b'))[0] ?? '', /multiple documents/)
    assert.equal(await said(''), ['type: is empty, and must be a mapping'])
    assert.equal(await said('just words'), ['type: must be a mapping'])
  })

  it('of 4 MB is refused before it is read', async () => {
    assert.equal(await said(`# ${'x'.repeat(4 * 1024 * 1024)}`), [
      'size: Devfile size (4 MB) exceeds the maximum allowed size of 3 MB',
    ])
  })

  it('with 10,000 components is one problem', async () => {
    const text = `schemaVersion: 2.2.0\ncomponents:\n${many(10_000, (i) => `  - { name: c${i}, container: { imge: i } }\n`)}`
    assert.equal(await said(text), ['size: there are 10000, and at most 1000 are read'])
  })

  it('with a mistake in each of 1,000 components lists a thousand and counts the rest', async () => {
    const found = await problemsOf(
      `schemaVersion: 2.2.0\ncomponents:\n${many(1000, (i) => `  - { name: C${i}, container: { imge: i } }\n`)}`,
    )
    assert.is(found.length, 1001)
    assert.is(found.at(-1)?.message, 'there are 2000 more')
  })

  it('that refers to itself, or multiplies its aliases, is stopped', async () => {
    assert.match((await said('schemaVersion: 2.2.0\ncomponents: &a [*a]'))[0] ?? '', /refers to itself/)
    const bomb = many(12, (i) => `a${i}: &a${i} [${new Array(9).fill(i ? `*a${i - 1}` : 'x').join(', ')}]\n`)
    assert.match((await said(`${bomb}schemaVersion: 2.2.0\ncomponents: *a11`))[0] ?? '', /more than 100 aliases/)
  })

  it('that is nested a hundred thousand deep is stopped', async () => {
    assert.match((await said(`a: ${'['.repeat(100_000)}`))[0] ?? '', /nested too deep/)
    assert.match((await said(`a: &x ${'['.repeat(100_000)}`))[0] ?? '', /nested too deep/)
    assert.match((await said(many(200, (i) => `${' '.repeat(i)}a:\n`)))[0] ?? '', /nested too deep/)
  })

  it('that is no data, or has too many words, is told with its place', async () => {
    const [tagged, ...others] = await problemsOf('a: b\nb: !x c\n')
    assert.equal([tagged?.rule, tagged?.line, tagged?.column, others.length], ['yaml', 2, 7, 0])
    const [long, ...more] = await problemsOf(many(100_000, (i) => `k${i}: v\n`))
    assert.equal([long?.rule, (long?.line ?? 0) > 50_000, more.length], ['size', true, 0])
  })

  it('of composites that meet again and again is walked once', async () => {
    const text = `schemaVersion: 2.2.0\ncommands:\n${many(60, (i) => `  - { id: c${i}, composite: { commands: [c${i + 1}, c${i + 1}] } }\n`)}`
    const { problems } = await validateDevfile(`${text}  - { id: c60, composite: { commands: [] } }\n`)
    assert.equal(problems, [])
  })

  it('whose events run more than a thousand commands, or whose variables multiply its texts, is refused', async () => {
    const head = 'schemaVersion: 2.2.0\ncomponents: [{ name: c, container: { image: i } }]\n'
    const commands = `commands:\n  - { id: a, exec: { component: c, commandLine: b } }\n  - { id: all, composite: { commands: [${'A,'.repeat(10_000)}] } }\n`
    const events = (ids: string) => `${head}${commands}events: { postStart: [${ids}] }`
    assert.equal(await said(events('all,'.repeat(8000))), [
      'size: there are 80000000 commands, and at most 1000 are run at one event',
    ])
    assert.equal(await said(events('a,'.repeat(1000))), [])
    const filled = `${head}variables: { v: ${'x'.repeat(1024)} }\ncommands: [{ id: a, exec: { component: c, commandLine: '`
    assert.equal(await said(`${filled}${'{{v}}'.repeat(129)}' } }]`), [
      'size: variables add more than 131072 characters to the devfile',
    ])
    assert.equal(await said(`${filled}${'{{v}}'.repeat(128)}' } }]`), [])
  })

  it('keeps names that JavaScript knows out of its objects', async () => {
    const { problems } = await validateDevfile(
      'schemaVersion: 2.2.0\n__proto__: { a: b }\nconstructor: x\nvariables: { __proto__: y }',
    )
    assert.equal(
      problems.map(({ rule, path }) => `${rule} ${path}`),
      ['unknown-field __proto__', 'unknown-field constructor'],
    )
  })
})
