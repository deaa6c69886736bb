import { isUtf8 } from 'node:buffer'
import { Failure } from '../../std/index.ts'

export interface SourceFile {
  /** From the root of the repository, with `/` between its parts. */
  readonly source: string
  readonly data: Uint8Array
  /** `symbolic link` or `submodule`, where it is no file. The sync is refused where one lies below its path. */
  readonly link?: string
}

/** The files of one commit, or those of them that were asked for. */
export interface Snapshot {
  readonly commitId: string
  readonly files: readonly SourceFile[]
  /** Who wrote it, and the first line of its message, where that is known. Words of strangers. */
  readonly author?: string
  readonly subject?: string
}

/** The text of a file; or on which line it is none, and why. Read all the same, it would be another text than what was committed. */
export function textIn({
  data,
}: SourceFile): { text: string; fault?: undefined } | { fault: { line: number; what: string }; text?: undefined } {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  if (isUtf8(bytes)) return { text: bytes.toString('utf8') }
  const isUtf16 = UTF_16.some((mark) => bytes.subarray(0, 2).equals(mark))
  if (isUtf16) return { fault: { line: 1, what: 'is UTF-16, and must be UTF-8' } }
  let line = 1
  for (let begin = 0; ; line++) {
    const end = bytes.indexOf('\n', begin)
    // No character has a line break among its bytes.
    if (end < 0 || !isUtf8(bytes.subarray(begin, end))) break
    begin = end + 1
  }
  return { fault: { line, what: 'is not UTF-8' } }
}

/** With these bytes a text begins that was written so. */
const UTF_16 = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])]

/** One rule for all: what a link leads to is not part of the commit, so nothing is applied or deleted on the strength of it. */
export const isLink = ({ source, link }: SourceFile): Failure =>
  refused(
    `${source}: is a ${link}; below the path of a sync, and in what it refers to, there may be regular files only`,
    'Commit the files themselves, or move it elsewhere.',
  )

/** Limits of what one sync may be made of; each has its own message. */
export const LIMITS = {
  fileBytes: 4 * 2 ** 20,
  kustomizationBytes: 2 ** 18,
  references: 10_000,
  objects: 100_000,
  depth: 20,
} as const

/** A path made of plain parts: no `..`, nothing absolute, no `.git` in any spelling that a file system takes for it. */
export function checkPath(path: string): string {
  if (PLAIN.test(path)) return path
  const parts = path.split('/')
  const bad = parts.find((part) => part === '' || part === '.' || part === '..' || isGitFolder(part))
  if (bad !== undefined || path.includes('\0') || path.includes('\\'))
    throw refused(`${JSON.stringify(path)} is not a path inside the repository`)
  return path
}

/** Nothing in it could be meant in another way: almost every path is such a one. */
const PLAIN = /^\w[\w.@+-]*(?:\/\w[\w.@+-]*)*$/

const isGitFolder = (part: string): boolean => /^\.git[ .]*$|^git~\d+$/i.test(part.replaceAll(/[\u200c-\u206f\ufeff]/g, ''))

/** `reference` as written in a file of `folder` (`''` is the root); refused when it leaves the repository. */
export function resolvePath(folder: string, reference: string, from: string): string {
  if (reference.startsWith('/') || reference.includes('\\') || reference.includes('\0'))
    throw refused(`${from}: ${JSON.stringify(reference)} is not a relative path`)
  const parts = folder === '' ? [] : folder.split('/')
  for (const part of reference.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) throw refused(`${from}: ${JSON.stringify(reference)} leads out of the repository`)
  }
  return parts.join('/')
}

/** `.`, `./a/`, `a//b` as the other functions write folders: without ends and dots. */
export const folderOf = (path: string): string => resolvePath('', path, 'path')

/** How a path begins of what is below it; its own, written as here, does so too. */
const beginningBelow = (folder: string): string => (folder === '' ? '' : `${folder}/`)

/** Of these paths those that are below no other, in order: a folder's are right behind it then. */
export function rootsOf(paths: Iterable<string>): string[] {
  const roots: string[] = []
  for (const beginning of [...new Set(paths)].map(beginningBelow).sort())
    if (!beginning.startsWith(roots.at(-1) ?? '\0')) roots.push(beginning)
  return roots.map((beginning) => beginning.slice(0, -1))
}

/** Whether a path is one of these or below one: found by halves, for both may be tens of thousands. */
export function withinAny(paths: Iterable<string>): (path: string) => boolean {
  const beginnings = rootsOf(paths).map(beginningBelow)
  return (path) => {
    const beginning = beginningBelow(path)
    return beginning.startsWith(beginnings[firstAfter(beginnings, beginning) - 1] ?? '\0')
  }
}

/** Whether one of these paths is the folder or below it. */
export function holdsAny(paths: Iterable<string>): (folder: string) => boolean {
  const beginnings = [...paths].map(beginningBelow).sort()
  return (folder) => {
    const beginning = beginningBelow(folder)
    const at = firstAfter(beginnings, beginning)
    return beginnings[at - 1] === beginning || beginnings[at]?.startsWith(beginning) === true
  }
}

/** The place of the first that is greater, in what is sorted. */
function firstAfter(sorted: readonly string[], text: string): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? '') <= text) low = middle + 1
    else high = middle
  }
  return low
}

export const refused = (message: string, remedy?: string): Failure =>
  new Failure('invalid', message, { reason: 'SourceRefused', ...(remedy !== undefined && { remedy }) })
