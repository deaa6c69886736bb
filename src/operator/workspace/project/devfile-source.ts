import type { ObjectStream } from '../../../adapters/grpc/index.ts'
import type { Workspace, WorkspaceStatus } from '../../../api/index.ts'
import {
  type Devfile,
  type DevfileFindings,
  type DevfileReference,
  type FetchedText,
  flattenDevfile,
  type ImportedText,
} from '../../../devfile/index.ts'
import { addressOf, allowedUrl, MOST_KEPT, manifestsByUri } from '../../../engines/devfiles/index.ts'
import type { GitRef } from '../../../rpc/index.ts'
import { Failure, isCommitId, isFailure, isRecord, type ReadYamlTree, seconds } from '../../../std/index.ts'
import { digest } from '../desired/names.ts'

/** Reads files of GitProjects from kas, which knows who may. */
export type DevfileSource = Pick<ObjectStream, 'fetchObjects' | 'fetchDevfile'>

/** A devfile as it was when it was first read, with its parents in it. */
export type PinnedDevfile = NonNullable<WorkspaceStatus['devfile']>

/** A revision of a project: of the one that the devfile is in, or its relative parents are. */
interface Revision {
  namespace: string
  /** `spec.path` of the GitProject. */
  project: string
  ref: GitRef
}

interface Wanted {
  /** Where it lies in the project: at the first of these that is there. */
  paths: readonly string[]
  /** The devfile itself, where it lies nowhere. */
  text: string | undefined
  /** Of the class: from these pages are read, as far as kas reads from there. */
  hosts: readonly string[] | undefined
}

/** For everything together: the devfile and all its parents. */
const PATIENCE = seconds(20)
const MOST_SOURCES = 64

/** Names what a pinned devfile was made of: another wish is another devfile. */
export const devfileKey = (spec: Workspace['spec'], text: string | undefined): string =>
  digest(JSON.stringify([spec.devfile?.path ?? '', text ?? '', spec.project ?? {}]))

/**
 * Reads the devfile and its parents, once: what is pushed later does not change a workspace. kas is asked on behalf of the
 * namespace, so that parents come from GitProjects only that it may read; nobody is asked but kas.
 */
export async function pinDevfile(
  { source, yaml }: { source: DevfileSource; yaml: ReadYamlTree },
  home: Revision,
  { paths, text, hosts }: Wanted,
  key: string,
): Promise<PinnedDevfile | (DevfileFindings & { path?: string })> {
  const signal = AbortSignal.timeout(PATIENCE)
  const first = await firstOf(paths, text !== undefined, (path) => read(source, home, path, signal))
  // Whatever is relative is of the same commit.
  const pinned = first ? { ...home, ref: { kind: 'commit', name: first.commit } as const } : home
  const { fetch, whatIsLate } = watchedFetch((reference) => fetched(source, pinned, { reference, hosts }, signal))
  const tree: ReadYamlTree = (part, options) => yaml(part, options, home.namespace)
  const flat = await flattenDevfile(first?.text ?? text ?? '', { name: first?.path ?? '', fetch, read: tree, signal })
  whatIsLate()
  if ('problems' in flat) return { ...flat, ...(first && { path: first.path }) }
  const objects = await objectsOf(flat.devfile, fetch)
  whatIsLate()
  const content = JSON.stringify(withObjects(flat.document(), objects.texts))
  if (content.length > MOST_KEPT) throw tooLong(`${content.length}`)
  return {
    key,
    content,
    ...(first && { path: first.path, commit: first.commit }),
    sources: [...flat.sources, ...objects.sources].slice(0, MOST_SOURCES).map(({ name, sha256 }) => ({ name, sha256 })),
  }
}

const refusal = (reason: string, message: string, remedy: string): Failure => new Failure('invalid', message, { reason, remedy })

const tooLong = (length: string): Failure =>
  refusal(
    'DevfileTooLarge',
    `the devfile with its parents is ${length} characters long; at most ${MOST_KEPT} are kept`,
    'Make it shorter.',
  )

interface ProjectFile {
  path: string
  text: string
  commit: string
}

/** Where none of them is there, that is said of the last, unless there is something else instead. */
async function firstOf(
  paths: readonly string[],
  isOptional: boolean,
  readAt: (path: string) => Promise<ProjectFile>,
): Promise<ProjectFile | undefined> {
  for (const [n, path] of paths.entries()) {
    try {
      return await readAt(path)
    } catch (thrown) {
      const isLast = n === paths.length - 1 && !isOptional
      if (isLast || !isFailure(thrown) || thrown.reason !== 'FileNotFound') throw thrown
    }
  }
  return undefined
}

/** A source that does not answer now is no mistake of the devfile: the whole reading fails, and is tried again. */
function watchedFetch(fetch: (reference: DevfileReference) => Promise<FetchedText>) {
  let late: Failure | undefined
  return {
    whatIsLate() {
      if (late) throw late
    },
    async fetch(reference: DevfileReference): Promise<FetchedText> {
      try {
        return await fetch(reference)
      } catch (thrown) {
        if (isFailure(thrown, 'unavailable', 'timeout')) late ??= thrown
        throw thrown
      }
    },
  }
}

/** The Kubernetes objects that the devfile names by uri, by component: they are kept with it, and stay as they are. */
async function objectsOf(devfile: Devfile, fetch: (reference: DevfileReference) => Promise<FetchedText>) {
  const texts = new Map<string, string>()
  const sources: ImportedText[] = []
  const missing: string[] = []
  let characters = 0
  for (const { name, kind, uri } of manifestsByUri(devfile)) {
    try {
      const { text, name: from } = await fetch({ by: 'uri', uri })
      texts.set(name, text)
      sources.push({ name: from, sha256: digest(text) })
      characters += text.length
      // A thousand of them may be named, and each have megabytes: no more are read than may be kept.
      if (characters > MOST_KEPT) break
    } catch (thrown) {
      const { code, message, remedy } = Failure.from(thrown)
      if (code === 'cancelled' || code === 'internal') throw thrown
      missing.push(`component "${name}" of kind ${kind}: ${uri} cannot be read: ${message}${remedy ? ` (${remedy})` : ''}`)
    }
  }
  if (characters > MOST_KEPT) throw tooLong(`${characters} and more`)
  if (missing.length === 0) return { texts, sources }
  const remedy = 'Correct each uri, or what it leads to. It is tried again.'
  throw refusal('ManifestNotFetched', missing.join('; '), remedy)
}

/** The flat document with the texts where their uri was. */
function withObjects(document: unknown, texts: ReadonlyMap<string, string>): unknown {
  if (!isRecord(document) || !Array.isArray(document.components)) return document
  const components = document.components.map((component: unknown) => {
    const text = isRecord(component) && typeof component.name === 'string' ? texts.get(component.name) : undefined
    if (!isRecord(component) || text === undefined) return component
    const kind = 'kubernetes' in component ? 'kubernetes' : 'openshift'
    const { uri: _, ...body } = isRecord(component[kind]) ? component[kind] : {}
    return { ...component, [kind]: { ...body, inlined: text } }
  })
  return { ...document, components }
}

async function read(
  source: DevfileSource,
  { namespace, project, ref }: Revision,
  path: string,
  signal: AbortSignal,
): Promise<ProjectFile> {
  const wanted = { projectId: project, ref, globs: [], files: [path.replace(/^\/+/, '')], namespace }
  const batch = await source.fetchObjects(wanted, signal)
  if (!batch)
    throw new Failure('timeout', `${path} of ${project} was not there in ${PATIENCE / 1000} s`, {
      reason: 'DevfileNotFetched',
      remedy: 'Look at the GitProject: its condition Ready says what is wrong. It is tried again.',
    })
  const [file] = batch.files
  if (!file || file.link !== undefined)
    throw refusal(
      'FileNotFound',
      `${path} of ${project} is ${file ? `a ${file.link}` : 'not there'}`,
      'Put a regular file there, or correct its path.',
    )
  return { path, text: Buffer.from(file.data).toString('utf8'), commit: batch.commitId }
}

async function fetched(
  source: DevfileSource,
  home: Revision,
  { reference, hosts }: { reference: DevfileReference } & Pick<Wanted, 'hosts'>,
  signal: AbortSignal,
): Promise<FetchedText> {
  const address = addressOf(reference, home.project !== '')
  const { uri: name } = address
  if (address.by === 'page' && hosts) allowedUrl(name, hosts, 'class')
  if (address.by === 'page') return { name, text: await source.fetchDevfile(name, signal) }
  if (address.by === 'file') return { name, text: (await read(source, home, name, signal)).text }
  const elsewhere = { namespace: home.namespace, project: address.project, ref: gitRefOf(address.ref) }
  return { name, text: (await read(source, elsewhere, address.file, signal)).text }
}

export function gitRefOf(name: string): GitRef {
  if (name === '') return { kind: 'default' }
  if (isCommitId(name)) return { kind: 'commit', name }
  return { kind: name.startsWith('refs/') ? 'full' : 'short', name }
}
