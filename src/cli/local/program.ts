import { execFile } from 'node:child_process'
import { Failure } from '../../std/index.ts'

export interface ProgramRun {
  cwd?: string
  env: Readonly<Record<string, string | undefined>>
  input?: string
  signal?: AbortSignal
}

/** Runs a program to its end and answers what it printed. What it complained of becomes the message of the failure. */
export function runProgram(
  program: string,
  parameters: readonly string[],
  { cwd, env, input, signal }: ProgramRun,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      [...parameters],
      { cwd, env: { ...env }, signal, maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => {
        if (!error) return resolve(stdout)
        if (error.name === 'AbortError') return reject(Failure.from(error))
        const complaint = stderr.trim() || error.message
        reject(new Failure('internal', `${program.split('/').at(-1)}: ${complaint}`, { cause: error }))
      },
    )
    // A program that ends without reading its input is not an error of ours.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input ?? '')
  })
}
