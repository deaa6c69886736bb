import type { ObjectStream } from '../../adapters/grpc/index.ts'
import type { Ref, Workspace, WorkspaceStatus } from '../../api/index.ts'
import { type Fetched, type Findings, flattenDevfile, type Reference } from '../../devfile/index.ts'
import type { GitRef } from '../../rpc/index.ts'
import { Failure, seconds } from '../../std/index.ts'
import { digest } from './names.ts'

/** Reads files of GitProjects from kas, which knows who may. */
export type DevfileSource = Pick<ObjectStream, 'fetchObjects'>

/** A devfile as it was when it was first read, with its parents in it. */
export type PinnedDevfile = NonNullable<WorkspaceStatus['devfile']>

/** The project that the devfile is in, or its relative parents are. */
export interface DevfileHome extends Ref {
  namespace: string
  /** `spec.path` of the GitProject. */
  project: string
  ref: string
}

interface Wanted {
  /** The devfile itself, or its path in the project. */
  text: string | undefined
  path: string | undefined
}

/** For everything together: the devfile and all its parents. */
const PATIENCE = seconds(20)
/** A status has room for it, and the status is where it stays. */
const LONGEST = 131_072
const MOST_SOURCES = 33

/** Names what a pinned devfile was made of: another wish is another devfile. */
export const devfileKey = (spec: Workspace['spec'], text: string | undefined): string =>
  digest(JSON.stringify([spec.devfile?.path ?? '', text ?? '', spec.project ?? {}]))

/**
 * Reads the devfile and its parents, once: what is pushed later does not change a workspace. kas is asked on behalf of the
 * namespace, so that parents come from GitProjects only that it may read; nobody is asked but kas.
 */
export async function pinDevfile(
  source: DevfileSource,
  home: DevfileHome,
  { text, path }: Wanted,
  key: string,
): Promise<PinnedDevfile | Findings> {
  const signal = AbortSignal.timeout(PATIENCE)
  const own = { ...home, ref: refOf(home.ref) }
  const first = path === undefined ? undefined : await read(source, own, path, signal)
  // Whatever is relative is of the same commit.
  const pinned = first ? { ...own, ref: { kind: 'commit', name: first.commit } as const } : own
  const fetch = (reference: Reference): Promise<Fetched> => fetched(source, pinned, reference, signal)
  const flat = await flattenDevfile(first?.text ?? text ?? '', { name: path ?? '', fetch, signal })
  if ('problems' in flat) return flat
  const content = JSON.stringify(flat.document())
  if (content.length > LONGEST)
    throw new Failure(
      'invalid',
      `the devfile with its parents is ${content.length} characters long; at most ${LONGEST} are kept`,
      {
        reason: 'DevfileTooLarge',
        remedy: 'Make it shorter.',
      },
    )
  return {
    key,
    content,
    ...(path !== undefined && { path }),
    ...(first && { commit: first.commit }),
    sources: flat.sources.slice(0, MOST_SOURCES).map(({ name, sha256 }) => ({ name, sha256 })),
  }
}

interface Place {
  namespace: string
  project: string
  ref: GitRef
}

async function read(
  source: DevfileSource,
  { namespace, project, ref }: Place,
  path: string,
  signal: AbortSignal,
): Promise<{ text: string; commit: string }> {
  const wanted = { projectId: project, ref, globs: [], files: [path.replace(/^\/+/, '')], namespace }
  const batch = await source.fetchObjects(wanted, signal)
  if (!batch)
    throw new Failure('timeout', `${path} of ${project} was not there in ${PATIENCE / 1000} s`, {
      reason: 'DevfileNotFetched',
      remedy: 'Look at the GitProject: its condition Ready says what is wrong. It is tried again.',
    })
  const [file] = batch.files
  if (!file || file.link !== undefined)
    throw new Failure('invalid', `${path} of ${project} is ${file ? `a ${file.link}` : 'not there'}`, {
      reason: 'FileNotFound',
      remedy: 'Put a regular file there, or correct its path.',
    })
  return { text: Buffer.from(file.data).toString('utf8'), commit: batch.commitId }
}

/** A parent in another project: `berth://git/<path of the GitProject>/-/<file>?ref=<branch, tag or commit>`. */
const ELSEWHERE = /^berth:\/\/git\/([^?#]+?)\/-\/([^?#]+)(?:\?ref=([^&#]+))?$/

async function fetched(source: DevfileSource, home: Place, reference: Reference, signal: AbortSignal): Promise<Fetched> {
  const uri = reference.by === 'uri' ? reference.uri : undefined
  const [, project, file, ref = ''] = ELSEWHERE.exec(uri ?? '') ?? []
  if (uri !== undefined && project !== undefined && file !== undefined) {
    const place = { namespace: home.namespace, project, ref: refOf(decodeURIComponent(ref)) }
    return { name: uri, text: (await read(source, place, file, signal)).text }
  }
  if (uri !== undefined && !/^[a-z][a-z0-9+.-]*:/i.test(uri) && home.project !== '')
    return { name: uri, text: (await read(source, home, uri, signal)).text }
  throw new Failure('invalid', 'parents are read from GitProjects only', {
    reason: 'ParentNotAllowed',
    remedy: 'write berth://git/<path of the GitProject>/-/<file>, or a path relative to this file',
  })
}

function refOf(name: string): GitRef {
  if (name === '') return { kind: 'default' }
  if (/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(name)) return { kind: 'commit', name }
  return { kind: name.startsWith('refs/') ? 'full' : 'short', name }
}
