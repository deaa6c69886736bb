import { readFile } from 'node:fs/promises'
import { Failure, Secret } from '../../std/index.ts'

/** Reads the file that a flag names. */
export async function readNamed(file: string, flag: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (thrown) {
    throw new Failure('not-found', `cannot read ${file}`, { cause: thrown, remedy: `Name a file with ${flag}.` })
  }
}

/** The same where a program may do without the file; `undefined` for none. */
export const readOptional = async (file: string | undefined, flag: string): Promise<Buffer | undefined> =>
  file === undefined ? undefined : readNamed(file, flag)

/** Reads the token of a file for each call: a token is exchanged by writing the file anew. A newline at its end is no part of it. */
export const tokenOf =
  (file: string, flag: string): (() => Promise<Secret<string>>) =>
  async () => {
    const token = (await readNamed(file, flag)).toString('utf8').trim()
    if (/^[\x21-\x7e]+$/.test(token)) return new Secret(token)
    throw new Failure('invalid', `the file ${file} holds no token`, {
      remedy: `Write the token into it, and nothing else; ${flag} names it.`,
    })
  }
