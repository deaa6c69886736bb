import { createHash } from 'node:crypto'
import type { TreeFile } from '../../adapters/git/index.ts'
import { defined, Failure, LRUCache } from '../../std/index.ts'
import type { Effort, FileTree } from '../projects/tree.ts'
import type { Glob } from './glob.ts'

/** Limits of one request. Each has its own error. */
export interface StreamLimits {
  /** Path patterns in a request. */
  paths: number
  /** Files under the folders of the patterns, whether they match or not. */
  files: number
  /** Bytes of one file. */
  fileBytes: number
  /** Bytes of all files together. */
  totalBytes: number
}

/** A file of a commit, before its content is known. */
export interface CandidateFile {
  readonly path: string
  readonly size: number
  /** It is a link or a submodule. */
  readonly link?: string
}

/** A request asks for patterns, and for files by name. */
export interface Selection {
  readonly globs: readonly Glob[]
  readonly files: readonly string[]
  /** Links and submodules too; else they are as if they were not there. */
  readonly links?: boolean
  /** Nothing but names: how large they are does not matter. */
  readonly names?: boolean
}

/**
 * The files to send, in the order of the patterns and, within one, of the tree. What lies in a folder whose name starts with
 * a dot is never meant; two patterns for one file are a mistake that is told instead of guessed at.
 */
export function select<T extends CandidateFile>(
  tree: FileTree<T>,
  { globs, files, links = false, names = false }: Selection,
  limits: StreamLimits,
  effort: Effort = { steps: 0 },
): T[] {
  const chosen = new Map<string, T>()
  const most = effort.steps + STEPS_OF_FILE.most * Math.max(limits.files, 10_000)
  let visited = 0
  for (const glob of globs) {
    const reached = glob.recursive ? tree.below(glob.folder) : tree.in(glob.folder, effort)
    visited += reached.length
    if (visited > limits.files) throw tooManyFiles(limits.files)
    effort.steps += STEPS_OF_FILE.least * reached.length
    const matches = glob.whole ? () => true : glob.compile(effort)
    if (effort.steps > most) throw tooCostly(glob)
    for (const file of reached) {
      if (file.link !== undefined && !links) continue
      if (effort.steps > most) throw tooCostly(glob)
      if (isHidden(file.path) || !matches(file.path, effort)) continue
      if (chosen.has(file.path)) throw visitedTwice(file.path)
      chosen.set(file.path, file)
    }
  }
  if (links) for (const { folder } of globs) addLinkAbove(chosen, tree, folder)
  addNamed(chosen, tree, files, links)
  if (!names) checkSizes(chosen.values(), limits)
  return [...chosen.values()]
}

/** The files that a request means in a commit, and a digest of them. */
export interface Choice {
  readonly files: readonly TreeFile[]
  readonly digest: string
}

/** A selection that was made before takes no effort. */
export type Choose = (tree: FileTree<TreeFile>, selection: Selection, effort?: Effort) => Choice

/** To look at one at all, and what it may take on the average of as many as there may be. */
const STEPS_OF_FILE = { least: 20, most: 400 }

/** Of one commit; the one that nobody asked for longest is chosen anew. */
const MOST_CHOICES = 100

/** Chooses each once: a stream that comes for the next commit is compared with what it had of this one. */
export function createChoose(limits: StreamLimits): Choose {
  const chosen = new WeakMap<FileTree<TreeFile>, LRUCache<string, Choice>>()
  const choose = (tree: FileTree<TreeFile>, selection: Selection, effort: Effort | undefined): Choice => {
    const files = select(tree, selection, limits, effort)
    return {
      files,
      digest: digestOf(selection.names ? files.map(({ path, link }) => ({ path, blob: '', ...defined({ link }) })) : files),
    }
  }
  return (tree, selection, effort) => {
    const { globs, files, links, names } = selection
    const key = JSON.stringify([globs.map(({ text }) => text), files, links, names])
    const known = chosen.get(tree) ?? new LRUCache<string, Choice>({ max: MOST_CHOICES })
    chosen.set(tree, known)
    const choice = known.get(key) ?? choose(tree, selection, effort)
    known.set(key, choice)
    return choice
  }
}

/** Names the files with their contents: equal for equal files, in whichever commits they are. */
export function digestOf(files: readonly { path: string; blob: string; link?: string }[]): string {
  const hash = createHash('sha256')
  for (const { path, blob, link = '' } of files) hash.update(`${path}\0${link}${blob}\0`)
  return hash.digest('base64url')
}

const isHidden = (path: string): boolean => (path.startsWith('.') ? path.includes('/') : /\/\.[^/]*\//.test(path))

function addNamed<T extends CandidateFile>(
  chosen: Map<string, T>,
  tree: FileTree<T>,
  names: readonly string[],
  links: boolean,
): void {
  for (const name of names) {
    const file = tree.file(name)
    if (!file || (file.link !== undefined && !links))
      throw mistake('FileNotFound', `there is no regular file ${name}`, 'Correct its path, or add it.')
    chosen.set(file.path, file)
  }
}

/** Nothing lies behind a link. Who asks for a folder there must not take it for empty. */
function addLinkAbove<T extends CandidateFile>(chosen: Map<string, T>, tree: FileTree<T>, folder: string): void {
  const parts = folder === '' ? [] : folder.split('/')
  for (const at of parts.keys()) {
    const file = tree.file(parts.slice(0, at + 1).join('/'))
    if (file?.link !== undefined) chosen.set(file.path, file)
  }
}

function checkSizes(files: Iterable<CandidateFile>, limits: StreamLimits): void {
  let total = 0
  for (const { path, size } of files) {
    if (size > limits.fileBytes)
      throw mistake(
        'FileTooLarge',
        `${path} is ${size} bytes; at most ${limits.fileBytes} are allowed`,
        'Make it smaller, or leave it out by the path patterns.',
      )
    total += size
    if (total > limits.totalBytes)
      throw mistake(
        'TooLarge',
        `the files are more than ${limits.totalBytes} bytes together`,
        'Choose fewer by the path patterns.',
      )
  }
}

const tooManyFiles = (limit: number) =>
  mistake(
    'TooManyFiles',
    `more than ${limit} files lie under the folders of the path patterns`,
    'Begin the patterns with the folder that is meant.',
  )

const tooCostly = ({ text }: Glob) =>
  mistake(
    'GlobTooCostly',
    `path pattern ${JSON.stringify(text)} takes too long for all files under its folder`,
    'Begin it with the folder that is meant, and write fewer stars and braces.',
  )

const visitedTwice = (path: string) =>
  mistake(
    'PathVisitedTwice',
    `${path} is chosen by more than one path pattern`,
    'Write patterns that do not overlap, or only one.',
  )

const mistake = (reason: string, message: string, remedy: string) => new Failure('invalid', message, { reason, remedy })
