import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { isAlive } from '../../src/adapters/control-plane/servers/processes.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { attempt } from './attempt.ts'
import { verdictOfTests } from './verdict.ts'

const SUPPORT = join(import.meta.dirname, '../support')
const SUITE = join(SUPPORT, 'suite.ts')
const fileOf = (body: string, rest = '') =>
  `import { describe } from '${SUITE}'\ndescribe('a file', (it) => it('does something', async () => { ${body} }))\n${rest}`

const FILES = {
  passes: fileOf(''),
  fails: fileOf("throw new Error('no')"),
  crashes: fileOf("setTimeout(() => { throw new Error('bang') }); await new Promise((done) => setTimeout(done, 1000))"),
  'never-answers': fileOf('await new Promise(() => {})'),
  'leaves-a-file': fileOf(
    "const { join } = await import('node:path'); (await import('node:fs')).writeFileSync(join((await import('node:os')).tmpdir(), 'left-over'), '')",
  ),
  'leaves-a-server': fileOf("(await import('node:net')).createServer().listen(0)"),
  'leaves-a-program': fileOf(
    "const { spawn } = await import('node:child_process'); const { pid } = spawn('sleep', ['1000'], { cwd: process.env.TMPDIR, detached: true, stdio: 'ignore' }); console.log(`program ${pid}`); process.kill(process.pid, 'SIGKILL')",
  ),
  'cannot-be-loaded': "import './nowhere.ts'\n",
  hangs: fileOf(
    `const { eventually } = await import('${join(SUPPORT, 'verbs.ts')}'); (await import('node:fs')).writeFileSync(process.env.BEGUN ?? '', ''); await eventually(() => false)`,
  ),
  'waits-for-a-timer': fileOf('', 'setTimeout(() => {}, 50)\n'),
}

describe('test files that share a process', (it) => {
  let dir = ''
  const path = (name: string) => join(dir, `${name}.ts`)
  it.before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'berth-test-'))
    for (const [name, text] of Object.entries(FILES)) await writeFile(path(name), text)
  })
  it.after(() => rm(dir, { recursive: true }))

  const run = async (...names: string[]) => {
    const attempts = await attempt(
      names.map(path),
      { env: { TEST_LEFTOVERS_MS: '500', TMPDIR: dir } },
      new AbortController().signal,
    )
    assert.equal(
      attempts.map(({ file }) => file),
      names.map(path),
    )
    return attempts.map(({ execution }) => ({ ...verdictOfTests(execution), output: execution.output, cpuMs: execution.cpuMs }))
  }

  it('are judged one by one', async () => {
    const [first, second, third] = await run('passes', 'fails', 'waits-for-a-timer')
    assert.is(first?.failed, 0)
    assert.is(second?.failed, 1)
    assert.match(second?.output ?? '', 'no')
    assert.is(third?.failed, 0)
    assert.type(third?.cpuMs, 'number')
  })

  it('fail where one leaves something in its folder for temporary things', async () => {
    const [first, second] = await run('leaves-a-file', 'passes')
    assert.equal([first?.passed, first?.failed], [1, 1])
    assert.match(first?.output ?? '', 'it leaves left-over in')
    assert.is(second?.failed, 0)
  })

  it('say what they wait for before they are ended', async () => {
    const begun = path('begun')
    const calling = new AbortController()
    const [attempts] = await Promise.all([
      attempt([path('hangs')], { env: { TMPDIR: dir, BEGUN: begun } }, calling.signal),
      eventually(() => existsSync(begun)).then(() => calling.abort()),
    ])
    const { output = '', cut } = attempts[0]?.execution ?? {}
    assert.is(cut, 'called off')
    assert.match(output, /it waits:\n\d+ s: does something\n\d+ s: waits for something to be so\n/)
  })

  it('take with them what they started apart, however they end', async () => {
    const [only] = await run('leaves-a-program')
    assert.is(only?.failed, 1)
    const pid = Number(/program (\d+)/.exec(only?.output ?? '')?.[1])
    await eventually(() => !isAlive(pid))
  })

  for (const [name, why] of [
    ['crashes', 'bang'],
    ['never-answers', 'a test still waits'],
    ['leaves-a-server', /keep its process alive: .*TCPServerWrap/],
    ['cannot-be-loaded', 'nowhere.ts'],
  ] as const)
    it(`fail alone where one ${name.replaceAll('-', ' ')}`, async () => {
      const [first, second, third] = await run('passes', name, 'passes')
      assert.is(first?.failed, 0)
      assert.is(second?.failed, 1)
      assert.match(second?.output ?? '', why)
      assert.is(third?.failed, 0)
    })
})
