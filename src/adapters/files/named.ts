import { readFile } from 'node:fs/promises'
import { Failure } from '../../std/index.ts'

/** What is in the file that a flag names. */
export async function readNamed(file: string, flag: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (thrown) {
    throw new Failure('not-found', `cannot read ${file}`, { cause: thrown, remedy: `Name a file with ${flag}.` })
  }
}
