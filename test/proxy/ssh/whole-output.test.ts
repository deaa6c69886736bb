import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { equal, is, match, ok } from 'uvu/assert'
import type { PodProcess } from '../../../src/adapters/kube/index.ts'
import { createOpenFolders, type SshChannel, type SshProgram } from '../../../src/adapters/ssh/index.ts'
import { createWholeOutput } from '../../../src/engines/lookout/index.ts'
import { runProgram } from '../../../src/proxy/ssh/programs.ts'
import { pause, systemClock } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { localPlace } from './local-pod.ts'

type Write = SshChannel['write']
type Take = Parameters<PodProcess['follow']>[0]

/** What a client sends, and what it has got at the end. */
async function run(text: string, input: AsyncIterable<Uint8Array>, take: Write = async () => undefined) {
  const got = { stdout: '', stderr: '', code: undefined as number | undefined }
  const program: SshProgram = {
    ...{ kind: 'command', text, terminal: undefined, variables: new Map() },
    ...{ onResize: () => undefined, onSignal: () => undefined },
  }
  const channel: SshChannel = {
    input,
    async write(bytes, to = 'stdout') {
      await take(bytes, to)
      got[to] += Buffer.from(bytes).toString('latin1')
    },
    end(code) {
      got.code = code
    },
    closed: new AbortController().signal,
    received: () => 0,
  }
  await runProgram(localPlace('/'), program, channel, createOpenFolders())
  return got
}

const chunks = async function* (...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}
const endless = async function* () {
  for (;;) yield Buffer.alloc(2 ** 15, 'y\n')
}
const silent = async function* () {
  await new Promise(() => undefined)
  yield Buffer.alloc(0)
}

type Piece = ['stdout' | 'stderr', string]

const processOf = (pieces: readonly Piece[], code: number, endInput: () => void): PodProcess => ({
  async follow(take) {
    for (const [from, text] of pieces) await take(from, Buffer.from(text))
    return code
  },
  endInput: async () => endInput(),
  ...{ input: async () => undefined, resize: async () => undefined, close: () => undefined },
})

describe('the whole output of a command', (it) => {
  it('is that of the command and nothing else, with its exit code', async () => {
    const said = { stdout: 'one', stderr: 'two\n', code: 3 }
    for (const input of [chunks(), chunks('x'), silent()]) equal(await run('printf one; echo two >&2; exit 3', input), said)
    equal(await run('kill -9 $$', silent()).then(({ stdout, code }) => [stdout, code]), ['', 137])
  })

  it('is that of the input, if it has one, to its end', async () => {
    equal(await run('cat', chunks('a', 'b')), { stdout: 'ab', stderr: '', code: 0 })
    equal(await run('cat; echo end', chunks()), { stdout: 'end\n', stderr: '', code: 0 })
    equal(await run('head -c 4', endless()), { stdout: 'y\ny\n', stderr: '', code: 0 })
  })

  it('has been taken before the process ends', async () => {
    const { script } = createWholeOutput('printf one; exit 3', { hasInput: false })
    const child = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore'] })
    const closed = once(child, 'close')
    await eventually(() => child.stdout.read()?.includes(markIn(script)))
    await pause(systemClock, 300)
    is(child.exitCode, null)
    child.stdin.end()
    equal(await closed, [3, null])
  })

  it('has its mark also where a program has left it so that nothing is waited for when it is full', async () => {
    const program = [
      'process.stdout._handle.setBlocking(false)',
      'process.stdout.write("x".repeat(2 ** 20))',
      'process.kill(process.pid, "SIGKILL")',
    ]
    const { script } = createWholeOutput(`${process.execPath} -e '${program.join(';')}'`, { hasInput: false })
    const child = spawn('sh', ['-c', 'sh -c "$0" | { sleep 1; cat; }', script], { stdio: ['pipe', 'pipe', 'ignore'] })
    let got = ''
    child.stdout.on('data', (bytes: Buffer) => {
      got += bytes.toString()
    })
    await eventually(() => got.endsWith(markIn(script)))
    child.stdin.end()
    await once(child, 'close')
  })

  it('ends also where the mark comes in pieces, with time between them', async () => {
    const clock = steppedClock()
    const { script, follow } = createWholeOutput('true', { hasInput: true }, clock)
    const mark = markIn(script)
    let ends = 0
    const running = {
      ...processOf([], 0, () => ends++),
      async follow(take: Take) {
        await take('stderr', Buffer.from(mark))
        for (const piece of [
          `a${mark.slice(0, 5)}`,
          mark.slice(5, 9),
          'b',
          mark.slice(0, 3),
          mark.slice(3, 10),
          `${mark.slice(10)}c`,
        ]) {
          await take('stdout', Buffer.from(piece))
          await clock.step(1000)
        }
        return 0
      },
    }
    const { got } = await gotOf(follow, running)
    is(got, `a${mark.slice(0, 9)}b${mark.slice(0, 10)}c`)
    ok(ends > 0)
  })

  it('has no mark in it, wherever the pieces of it begin', async () => {
    const { script, follow } = createWholeOutput('true', { hasInput: true })
    const mark = markIn(script)
    const text = `a${mark.slice(0, 20)}b${mark}c${mark.slice(0, 3)}`
    for (let size = 1; size <= text.length; size++) {
      let ends = 0
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size))
      const running = processOf([['stderr', mark], ...pieces.map((piece): Piece => ['stdout', piece])], 7, () => ends++)
      const { code, got } = await gotOf(follow, running)
      equal([size, got, code, ends > 0], [size, text.replace(`b${mark}`, 'b'), 7, true])
    }
  })

  it('is given as it is where the process ends without a mark, or with one of both', async () => {
    const { script, follow } = createWholeOutput('true', { hasInput: true })
    const mark = markIn(script)
    const half = mark.slice(0, 16)
    const cases: [Piece[], string][] = [
      [[['stdout', `a${half}`]], `a${half}`],
      [[['stdout', `a${mark}`]], 'a'],
      [[['stderr', `a${mark}`]], 'a'],
    ]
    for (const [pieces, expected] of cases) {
      let ends = 0
      const running = processOf(pieces, 137, () => ends++)
      equal(await gotOf(follow, running), { code: 137, got: expected })
      is(ends, 0)
    }
  })

  it('is not kept from whoever has to answer, also where it ends as a mark begins', async () => {
    const answered = Promise.withResolvers<void>()
    const input = async function* () {
      await answered.promise
      yield Buffer.from('x\n')
    }
    const got = await run('printf \'who\\037\\036\'; read -r name; echo "$name"', input(), async (bytes) => {
      if (Buffer.from(bytes).includes(0x1e)) answered.resolve()
    })
    equal(got, { stdout: 'who\x1f\x1ex\n', stderr: '', code: 0 })
  })

  it('has in it what the command finds out about its own shell', async () => {
    const { stdout, code } = await run("tr '\\0' ' ' < /proc/$PPID/cmdline; echo end", silent())
    is(code, 0)
    match(stdout, /printf '\\037\\036[0-9a-f]{32}' >&2/)
    ok(stdout.endsWith('end\n'))
  })

  it('is waited for by no shell that cannot say where it ends', async () => {
    equal(await run('exec 2>&-; echo one', silent()), { stdout: 'one\n', stderr: '', code: 0 })
    const { script } = createWholeOutput('exit 3', { hasInput: true })
    for (const closed of ['>&-', '2>&-']) {
      const child = spawn('sh', ['-c', `exec ${closed}\n${script}`], {
        stdio: ['pipe', 'ignore', 'ignore'],
      })
      equal(await once(child, 'close'), [3, null])
    }
  })
})

const markIn = (script: string): string => `\x1f\x1e${/printf '\\037\\036(\w+)'/.exec(script)?.[1]}`

async function gotOf(follow: ReturnType<typeof createWholeOutput>['follow'], running: PodProcess) {
  let got = ''
  const code = await follow(running, async (_, bytes) => {
    got += bytes.toString()
  })
  return { code, got }
}
