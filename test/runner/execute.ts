import { spawn } from 'node:child_process'
import { minutes, seconds, systemClock } from '../../src/std/index.ts'

/** A program with its parameters; it passes when it ends with 0. */
export interface Command {
  title: string
  program: string
  parameters: string[]
  env?: Record<string, string | undefined>
  /** Whether a part of its output says that it has got on: then its time begins anew. */
  isProgress?(part: string): boolean
  /** It says on SIGUSR2 what it waits for: asked for a moment before it is ended. */
  hasLastWords?: boolean
}

export interface Execution {
  output: string
  code: number | undefined
  /** Why it has no code: it took too long, or the run was called off. */
  cut?: string
  ms: number
  /** Of the process and of the children that it saw end; only what says so itself has it. */
  cpuMs?: number
}

const LIMIT = minutes(10)
const FOR_LAST_WORDS = seconds(1)

/** In a process group of its own, which is ended whole: a test that forgets a child leaves nothing on the machine. */
export function execute(
  { program, parameters, env, isProgress = () => false, hasLastWords = false }: Command,
  signal: AbortSignal,
  limit = LIMIT,
): Promise<Execution> {
  const begin = systemClock.now()
  return new Promise((resolve) => {
    const child = spawn(program, parameters, {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env, NO_COLOR: '1', FORCE_COLOR: undefined },
    })
    let output = ''
    let cut: string | undefined
    const end = (why: string) => {
      if (cut !== undefined) return
      cut = why
      cancel()
      if (!hasLastWords) return endGroup(child.pid)
      child.kill('SIGUSR2')
      cancel = systemClock.after(FOR_LAST_WORDS, () => endGroup(child.pid))
    }
    const stop = () => end('called off')
    const giveTime = () => systemClock.after(limit, () => end(`not done after ${limit / 60_000} minutes`))
    let cancel = giveTime()
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (!isProgress(text) || cut !== undefined) return
        cancel()
        cancel = giveTime()
      })
    }
    child.on('error', (thrown) => {
      output += thrown.message
    })
    // What a test left behind may hold the pipes open: end it when the test itself has ended, then read to the end.
    child.on('exit', () => endGroup(child.pid))
    child.on('close', (code) => {
      cancel()
      signal.removeEventListener('abort', stop)
      resolve({ output, code: code ?? undefined, ms: systemClock.now() - begin, ...(cut === undefined ? {} : { cut }) })
    })
  })
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // Nobody is left in it.
  }
}
