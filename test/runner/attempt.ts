import { join } from 'node:path'
import { type Execution, execute } from './execute.ts'
import { endAllIn } from './left-behind.ts'
import { hasProgress, marksIn } from './marks.ts'

/** A test file and how it went. */
export interface Attempt {
  file: string
  execution: Execution
}

export interface Process {
  env: Record<string, string | undefined>
  /** Modules that are loaded before the files. */
  preload?: string[]
}

/** What goes to two pipes is read in no order. */
const ONE_PIPE = 'exec "$@" 2>&1'
const HOST = join(import.meta.dirname, 'host.ts')

/**
 * Runs test files one after the other in one process. Where a file ends that process (it crashes, hangs or leaves something
 * open), the rest goes on in another.
 */
export async function attempt(files: string[], { env, preload = [] }: Process, signal: AbortSignal): Promise<Attempt[]> {
  const attempts: Attempt[] = []
  for (let left = files; left.length > 0 && !signal.aborted; left = files.slice(attempts.length)) {
    const node = [process.execPath, ...preload.map((module) => `--import=${module}`), HOST, ...left]
    const command = {
      title: left.join(' '),
      program: 'sh',
      parameters: ['-c', ONE_PIPE, 'sh', ...node],
      env,
      isProgress: hasProgress,
      hasLastWords: true,
    }
    const execution = await execute(command, signal)
    const last = marksIn(execution.output).at(-1)?.mark
    if (last && 'folder' in last) endAllIn(last.folder)
    attempts.push(...attemptsIn(left, execution))
  }
  return attempts
}

/** How the files of a process went, as far as it came; the one during which it ended is the last. */
export function attemptsIn(files: string[], execution: Execution): Attempt[] {
  const attempts: Attempt[] = []
  let output = ''
  for (const { mark, after } of marksIn(execution.output)) {
    if ('end' in mark) {
      const { ms, cpuMs, code } = mark
      attempts.push({ file: mark.end, execution: { output, ms, cpuMs, code } })
    }
    output = 'begin' in mark ? after : ''
  }
  const next = files[attempts.length]
  return next === undefined
    ? attempts
    : [...attempts, { file: next, execution: { ...execution, output: output || execution.output } }]
}
