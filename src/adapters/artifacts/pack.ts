import { createHash } from 'node:crypto'
import { access, type FileHandle, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure, isRecord, recordIn } from '../../std/index.ts'
import type { CommitLine, TreeFile } from '../git/index.ts'

/** Bytes of the files of one artifact, and how many there may be: an archive of a few kilobytes can hold terabytes. */
const MOST_BYTES = 512 * 2 ** 20
const MOST_FILES = 100_000
/** Characters of all paths: the list of files is read as a whole. */
const MOST_OF_PATHS = 16 * 2 ** 20

/** The files of one artifact on disk: all contents in one file, and beside it a list of what lies where. The list is written last. */
export interface Pack {
  add(path: string, content: AsyncIterable<Uint8Array>): Promise<void>
  /** A name that leads elsewhere. */
  link(path: string): void
}

const listOf = (folder: string, commit: string): string => join(folder, `${commit}.json`)
const contentsOf = (folder: string, commit: string): string => join(folder, `${commit}.contents`)

/** Writes the files of an artifact, all or none. What a process left that was ended is removed when kas starts again. `about`: its place, in words. */
export async function writePack(
  folder: string,
  commit: string,
  about: string,
  fill: (pack: Pack) => Promise<CommitLine>,
): Promise<void> {
  const [contents, list] = [join(folder, `.tmp-${commit}.contents`), join(folder, `.tmp-${commit}.json`)]
  const file = await open(contents, 'w', 0o600)
  const files = new Map<string, TreeFile>()
  try {
    const line = await fill(packInto(file, files, about))
    await writeFile(list, JSON.stringify({ files: [...files.values()], line }), { mode: 0o600 })
  } catch (thrown) {
    for (const half of [contents, list]) await rm(half, { force: true })
    throw thrown
  } finally {
    await file.close()
  }
  await rename(contents, contentsOf(folder, commit))
  await rename(list, listOf(folder, commit))
}

function packInto(file: FileHandle, files: Map<string, TreeFile>, about: string): Pack {
  let [end, entries, letters] = [0, 0, 0]
  const place = (placed: TreeFile) => {
    entries += 1
    letters += placed.path.length
    if (entries > MOST_FILES || letters > MOST_OF_PATHS)
      throw tooLarge(about, `more than ${MOST_FILES} files, or longer paths than are read`)
    files.set(placed.path, placed)
  }
  return {
    async add(path, content) {
      const hash = createHash('sha256')
      const at = end
      for await (const chunk of content) {
        end += chunk.length
        if (end > MOST_BYTES) throw tooLarge(about, `more than ${MOST_BYTES / 2 ** 20} MiB of files`)
        hash.update(chunk)
        await file.writeFile(chunk)
      }
      place({ path, blob: hash.digest('hex'), size: end - at, at })
    },
    link: (path) => place({ path, blob: '', size: 0, link: 'symbolic link' }),
  }
}

export const tooLarge = (about: string, what: string): Failure =>
  new Failure('invalid', `${about} has ${what}`, { reason: 'RepositoryTooLarge', remedy: 'Split it into several.' })

export interface PackFile {
  files: TreeFile[]
  line: CommitLine
}

/** Whether it was written. */
export const hasPack = (folder: string, commit: string): Promise<boolean> =>
  access(listOf(folder, commit)).then(
    () => true,
    () => false,
  )

/** What was written. */
export async function readPack(folder: string, commit: string): Promise<PackFile> {
  const text = await readFile(listOf(folder, commit), 'utf8').catch(() => '')
  const { files, line } = recordIn(text) ?? {}
  if (!Array.isArray(files) || !isRecord(line)) return throwAway(folder, commit)
  return { files, line: { author: String(line.author), subject: String(line.subject) } }
}

/** Their contents, in the same order. Half a file is refused: who acts on it would prune what merely is not there. */
export async function readContents(folder: string, commit: string, files: readonly TreeFile[]): Promise<Uint8Array[]> {
  const file = await open(contentsOf(folder, commit), 'r').catch(() => throwAway(folder, commit))
  try {
    const all: Uint8Array[] = []
    for (const { at = 0, size } of files) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, at)
      if (bytesRead !== size) return await throwAway(folder, commit)
      all.push(buffer)
    }
    return all
  } finally {
    await file.close()
  }
}

/** A disk can lose what was here: it is fetched anew. */
async function throwAway(folder: string, commit: string): Promise<never> {
  for (const path of [listOf(folder, commit), contentsOf(folder, commit)]) await rm(path, { force: true })
  throw new Failure('internal', `the copy of artifact sha256:${commit} was damaged and is thrown away`, {
    reason: 'MirrorDamaged',
    remedy: 'Nothing is to be done: the next try makes a new one.',
  })
}

/** Removes those that are not to be kept. */
export async function removeOthers(folder: string, kept: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(folder)) {
    const commit = /^([0-9a-f]{64})\.(?:json|contents)$/.exec(name)?.[1]
    if (commit !== undefined && !kept.has(commit)) await rm(join(folder, name), { force: true })
  }
}
