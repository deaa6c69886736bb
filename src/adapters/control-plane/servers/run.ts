import { spawn } from 'node:child_process'
import { Failure } from '../../../std/index.ts'
import { sendSignal } from './processes.ts'

export interface RunOptions {
  cwd?: string
  /** The whole environment of the program. */
  env?: Record<string, string | undefined> | undefined
  input?: string
  /** Called with every line that the program writes to stderr. */
  onLine?: (line: string) => void
  signal?: AbortSignal | undefined
}

/**
 * Runs a program to its end and gives what it printed; the Failure carries the last lines of its complaints. When it is stopped, so
 * are the programs that it has started, and the Failure comes when it has ended: until then it may write.
 */
export function run(program: string, parameters: string[], options: RunOptions = {}): Promise<string> {
  const { cwd, env, input, onLine, signal } = options
  return new Promise((resolve, reject) => {
    // Detached, it has a process group of its own, which can be signalled as a whole.
    const child = spawn(program, parameters, { cwd, env, detached: signal !== undefined, stdio: ['pipe', 'pipe', 'pipe'] })
    const stop = () => {
      if (child.pid) sendSignal(-child.pid, 'SIGTERM')
    }
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
    let printed = ''
    let complaints = ''
    let unfinished = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaints = (complaints + text).slice(-4000)
      const lines = (unfinished + text).split('\n')
      unfinished = lines.pop() ?? ''
      for (const line of lines) onLine?.(line)
    })
    child.stdin.on('error', () => undefined) // a program that does not read its input is not a mistake
    child.stdin.end(input)
    child.on('error', (thrown) => reject(Failure.from(thrown, program)))
    child.on('close', (code) => {
      signal?.removeEventListener('abort', stop)
      if (code === 0) return resolve(printed)
      if (signal?.aborted) return reject(new Failure('cancelled', `${program}: stopped`))
      reject(new Failure('internal', `${program} ${parameters[0] ?? ''} ended with ${code}: ${complaints.trim()}`))
    })
  })
}
