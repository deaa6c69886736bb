import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** What whoever starts a script has to mend first: its message is all that is printed. */
export class Refusal extends Error {}

/** Empties the folder of an earlier output, which has the file `sign`; refuses one that holds something else. */
export function emptyOutput(folder: string, sign: string): void {
  mkdirSync(folder, { recursive: true })
  const names = readdirSync(folder)
  if (names.length > 0 && !existsSync(join(folder, sign))) {
    const remedy = 'name an empty folder, or one that is not there, with --output'
    throw new Refusal(`${folder} has no ${sign}, and so holds something else than an earlier output: ${remedy}`)
  }
  for (const name of names) rmSync(join(folder, name), { recursive: true })
}

/** Runs a script. */
export async function runScript(name: string, main: () => unknown): Promise<void> {
  try {
    await main()
  } catch (failure) {
    if (!(failure instanceof Refusal || isOfCommandLine(failure))) throw failure
    console.error(`${name}: ${failure.message}`)
    process.exitCode = 1
  }
}

/** parseArgs of Node says well what is wrong with an option. */
const isOfCommandLine = (failure: unknown): failure is Error =>
  failure instanceof Error && 'code' in failure && String(failure.code).startsWith('ERR_PARSE_ARGS')
