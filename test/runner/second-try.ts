import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Attempt } from './attempt.ts'
import type { Execution } from './execute.ts'
import { verdictOfTests } from './verdict.ts'

/** More unstable files than this fail the run: then it is the suite that guesses, not a file. */
const MOST_UNSTABLE = 5

export interface SecondTry {
  /** The last attempt of each file: what counts. */
  attempts: Attempt[]
  /** Files that failed and then passed. */
  unstable: string[]
}

/**
 * Runs files that failed once more, one after the other, with nothing beside them: one test that guesses costs a line, not the run.
 * What `run` gives nothing for was called off, and stays as it was.
 * More than MOST_UNSTABLE are not run again, because the run has failed whatever they do.
 */
export async function tryAgain(failures: Attempt[], run: (file: string) => Promise<Execution | undefined>): Promise<SecondTry> {
  if (failures.length > MOST_UNSTABLE) return { attempts: failures, unstable: [] }
  const attempts: Attempt[] = []
  for (const { file, execution: first } of failures) attempts.push({ file, execution: (await run(file)) ?? first })
  const unstable = attempts.filter(({ execution }) => verdictOfTests(execution).failed === 0).map(({ file }) => file)
  return { attempts, unstable }
}

/** Keeps what a failed attempt printed as `<dir>/<file>.log`, slashes written as dots, and gives the path. */
export async function keepOutput(dir: string, { file, execution }: Attempt): Promise<string> {
  await mkdir(dir, { recursive: true })
  const path = join(dir, `${file.replaceAll('/', '.')}.log`)
  await writeFile(path, execution.output)
  return path
}
