import { randomUUID } from 'node:crypto'
import { lstat, mkdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure, isRecord } from '../../std/index.ts'
import type { Shell } from '../shell.ts'

/** The files of OpenSSH that are the person's, and those of them that are ours. */
export interface SshFiles {
  folder: string
  /** The person's own. */
  config: string
  ourFolder: string
  ourConfig: string
  knownHosts: string
  /** The key that is certified where the person names none. */
  identity: string
  /** The line of the person's own that includes ours. */
  include: string
}

const PRIVATE_FOLDER = 0o700
const PRIVATE_FILE = 0o600
const BY_HAND = 'Print the configuration with `berth ssh-config`, and put it where you keep yours.'

export function sshFilesOf({ env }: Shell): SshFiles {
  const home = env.HOME ?? ''
  if (home === '') throw new Failure('invalid', 'HOME is not set, so that nobody knows where .ssh is.', { remedy: 'Set HOME.' })
  const folder = join(home, '.ssh')
  const ourFolder = join(folder, 'berth')
  const ourConfig = join(ourFolder, 'config')
  const include = `Include ${wordFor(ourConfig, 'HOME')}`
  const [knownHosts, identity] = [join(ourFolder, 'known_hosts'), join(ourFolder, 'id_ed25519')]
  return { folder, config: join(folder, 'config'), ourFolder, ourConfig, knownHosts, identity, include }
}

const PLAIN = /^[\w./@+,=:-]+$/
/** Ends of lines, quotes, and what OpenSSH would put other words in the place of: patterns, tokens and variables. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const READ_OTHERWISE = /[\u0000-\u001F"\\*?[\]%$#]/

/** A path as a word of the configuration; `flag` says where it comes from. */
export function wordFor(path: string, flag: string): string {
  if (PLAIN.test(path)) return path
  if (!READ_OTHERWISE.test(path)) return `"${path}"`
  throw new Failure('invalid', `${flag}: OpenSSH would read the path ${JSON.stringify(path)} otherwise`, {
    remedy: 'Have it in a path without quotes, backslashes, and any of * ? [ ] % $ #.',
  })
}

/** The text of a file, empty where there is none. Throws for a link, anything else that is no plain file, and what could not be written back. */
export async function readPlain(file: string): Promise<string> {
  if ((await kindOf(file)) === undefined) return ''
  const bytes = await readFile(file)
  const text = bytes.toString('utf8')
  if (Buffer.from(text, 'utf8').equals(bytes)) return text
  throw new Failure('conflict', `${file} is not written in UTF-8, and left alone.`, { remedy: BY_HAND })
}

/** Of the file, where it is there. */
async function kindOf(file: string): Promise<{ mode: number } | undefined> {
  const found = await statOf(file)
  if (!found || found.isFile()) return found
  throw new Failure(
    'conflict',
    `${file} is ${found.isSymbolicLink() ? 'a symbolic link' : 'no plain file'}, which is left alone.`,
    {
      remedy: BY_HAND,
    },
  )
}

async function statOf(path: string) {
  try {
    return await lstat(path)
  } catch (thrown) {
    if (isRecord(thrown) && thrown.code === 'ENOENT') return
    throw new Failure('unavailable', `${path} cannot be looked at.`, { cause: thrown, remedy: 'Look at who owns it.' })
  }
}

export const isThere = async (file: string): Promise<boolean> => (await statOf(file)) !== undefined

export async function makeFolder(folder: string): Promise<void> {
  const found = await statOf(folder)
  if (!found) await mkdir(folder, { mode: PRIVATE_FOLDER })
  else if (!found.isDirectory())
    throw new Failure(
      'conflict',
      `${folder} is ${found.isSymbolicLink() ? 'a symbolic link' : 'no folder'}, which is left alone.`,
      {
        remedy: BY_HAND,
      },
    )
}

/** Writes the file whole or not at all, where it says something else; one that is there keeps its rights unless it is ours. */
export async function writeWhole(file: string, text: string, before: string, isOurs: boolean): Promise<void> {
  const there = await kindOf(file)
  if (there && text === before) return
  const beside = `${file}.${randomUUID()}`
  try {
    await writeFile(beside, text, { flag: 'wx', mode: there && !isOurs ? there.mode & 0o777 : PRIVATE_FILE })
    await rename(beside, file)
  } catch (cause) {
    await rm(beside, { force: true })
    throw new Failure('unavailable', `${file} cannot be written.`, { cause, remedy: 'Look at who owns its folder.' })
  }
}

/** Takes our files away, and our folder where nothing else is in it. */
export async function removeOurs({ ourFolder, ourConfig, knownHosts }: SshFiles): Promise<void> {
  const found = await statOf(ourFolder)
  if (!found?.isDirectory()) return
  for (const file of [ourConfig, knownHosts]) if (await kindOf(file)) await rm(file)
  try {
    await rmdir(ourFolder)
  } catch {
    // There is something else in it, which is not ours.
  }
}
