import type { ObjectStream } from '../../../adapters/grpc/index.ts'
import type { Ref } from '../../../api/index.ts'
import { keyOf } from '../../../api/index.ts'
import type { Waker } from '../../../engines/controller/index.ts'
import { patternsFor, type Snapshot } from '../../../engines/render/index.ts'
import type { GitRef } from '../../../rpc/index.ts'
import { type Clock, createYamlReader, Failure, isFailure, minutes, type ReadYaml, seconds } from '../../../std/index.ts'
import { createAllotments } from './allotments.ts'

/** Where commits come from: kas, through its object stream. */
export type Source = Pick<ObjectStream, 'follow'>

/** The revision and path that one deployment follows. */
export interface Wish {
  projectId: string
  /** The very GitProject that was chosen by its URL, should another have the same path. */
  projectUid?: string | undefined
  namespace: string
  /** With whose rights it will be applied: a grant may be to that account alone. */
  serviceAccount: string
  revision: GitRef
  path: string
  /** Files elsewhere that its chart takes values from. */
  also?: readonly string[] | undefined
}

/** Both may be there: the last commit, and why none came since. */
export interface Seen {
  snapshot?: Snapshot
  failure?: Failure
}

/** Of all deployments with the same wish. */
interface Stream {
  followers: Map<string, Ref>
  seen: Seen
  /** When `seen` was told. */
  at: number
  abort: AbortController
}

/** One open stream for each wish, however many deployments have it; a new commit or failure wakes them. */
export interface Following {
  of(ref: Ref, wish: Wish): Seen
  end(ref: Ref): void
  /** When a commit came last, for anybody; -Infinity before the first. */
  readonly heardAt: number
}

/** Mebibytes of files that are kept for one namespace: as text, and again as objects; and of what is rendered of them. */
export const MOST_FILES = 64

const CROWD = 100
const LATER = seconds(1)

interface FollowingOptions {
  source: Source
  clock: Clock
  wakeups: Waker
  /** Reads the kustomizations that say what else must be asked for. */
  yaml?: ReadYaml | undefined
  /** Mebibytes of files for one namespace; MOST_FILES without it. */
  mostFiles?: number | undefined
  /** How long it took until the files of a revision were there. */
  waited?: (milliseconds: number) => void
}

export function createFollowing({
  source,
  clock,
  wakeups,
  yaml: read = createYamlReader(),
  mostFiles = MOST_FILES,
  waited = () => undefined,
}: FollowingOptions): Following {
  /** By what is wished. */
  const streams = new Map<string, Stream>()
  /** The wish of each deployment, by its key. */
  const wishes = new Map<string, string>()
  const room = createAllotments(mostFiles * 2 ** 20)
  let heardAt = Number.NEGATIVE_INFINITY

  const open = (wish: Wish, text: string): Stream => {
    const yaml: ReadYaml = (document) => read(document, wish.namespace)
    const stream: Stream = { followers: new Map(), seen: {}, at: clock.now(), abort: new AbortController() }
    streams.set(text, stream)
    const opened = clock.now()
    const tell = (seen: Seen) => {
      if (stream.abort.signal.aborted) return
      if (seen.snapshot && !stream.seen.snapshot) waited(clock.now() - opened)
      const isOnlyNewer = seen.snapshot !== undefined && seen.snapshot.files === stream.seen.snapshot?.files
      stream.seen = seen
      stream.at = clock.now()
      if (!seen.failure) heardAt = stream.at
      // A commit that means nothing to hundreds of followers must not keep the one waiting that it is for.
      const ringAll = () => {
        for (const ref of stream.followers.values()) wakeups.wake(ref)
      }
      if (isOnlyNewer && wishes.size > CROWD) clock.after(LATER, ringAll)
      else ringAll()
    }
    const { signal } = stream.abort
    const keep = (bytes: number) => signal.aborted || room.keep(text, wish.namespace, bytes)
    const keepLater = (bytes: number) => room.keepLater(text, wish.namespace, bytes, signal)
    // What one tenant writes may end his stream, and nothing else.
    const giveUp = (thrown: unknown) => tell({ ...stream.seen, failure: Failure.from(thrown) })
    follow({ source, wish, yaml, tell, seen: () => stream.seen, keep, keepLater, most: room.most, signal }).catch(giveUp)
    return stream
  }
  const end = (key: string) => {
    const wish = wishes.get(key)
    const stream = wish === undefined ? undefined : streams.get(wish)
    wishes.delete(key)
    if (wish === undefined || !stream) return
    stream.followers.delete(key)
    if (stream.followers.size > 0) return
    stream.abort.abort()
    streams.delete(wish)
    room.release(wish)
  }
  const endAll = () => {
    for (const key of wishes.keys()) end(key)
  }
  wakeups.signal.addEventListener('abort', endAll, { once: true })

  return {
    of(ref, wish) {
      const [key, text] = [keyOf(ref), JSON.stringify(wish)]
      if (wishes.get(key) !== text) end(key)
      wishes.set(key, text)
      const stream = streams.get(text) ?? open(wish, text)
      stream.followers.set(key, ref)
      return current(stream, clock)
    },
    end: (ref) => end(keyOf(ref)),
    get heardAt() {
      return heardAt
    },
  }
}

/** A failing stream says so again and again; one that has fallen silent works, and only has nothing new. */
const STALE = minutes(2)

const current = ({ seen, at }: Stream, clock: Clock): Seen =>
  seen.snapshot && clock.now() - at > STALE ? { snapshot: seen.snapshot } : seen

interface Pursuit {
  source: Source
  wish: Wish
  yaml: ReadYaml
  tell: (seen: Seen) => void
  seen: () => Seen
  /** Whether there is room for so many bytes of files, in place of those before. */
  keep: (bytes: number) => boolean
  /** Waits until there is; from then on it is taken. */
  keepLater: (bytes: number) => Promise<void>
  /** Bytes of files of one namespace. */
  most: number
  signal: AbortSignal
}

/**
 * Follows the revision with the patterns known so far. A commit that needs more folders (bases elsewhere) ends the round; the
 * next one asks for them as well.
 */
async function follow(pursuit: Pursuit): Promise<void> {
  let globs: string[] | undefined = await patternsFor([], pursuit.wish.path, pursuit.yaml, pursuit.wish.also)
  while (globs) globs = await round(pursuit, globs)
}

/** Gives the patterns to go on with, or nothing at the end of all. */
async function round(
  { source, wish, yaml, tell, seen, keep, keepLater, most, signal }: Pursuit,
  globs: string[],
): Promise<string[] | undefined> {
  const ending = new AbortController()
  const { projectId, projectUid, namespace, serviceAccount, revision: ref, path, also } = wish
  let more: string[] | undefined
  let tooMany: number | undefined
  await source.follow(
    { projectId, projectUid, namespace, serviceAccount, ref, globs, about: true },
    {
      signal: AbortSignal.any([signal, ending.signal]),
      async onBatch(batch) {
        const bytes = batch.files.reduce((sum, { data }) => sum + data.length, 0)
        if (!keep(bytes)) {
          tooMany = bytes
          tell({ ...seen(), failure: tooMuch(batch, bytes, namespace, most) })
          return ending.abort()
        }
        const wanted = await patternsOf(batch, path, yaml, also)
        if (wanted.every((glob) => globs.includes(glob))) return tell({ snapshot: batch })
        more = wanted
        ending.abort()
      },
      onInView() {
        const { snapshot, failure } = seen()
        if (snapshot && failure) tell({ snapshot })
      },
      onFailure: (failure) => tell({ ...seen(), failure }),
    },
  )
  // Only then it is asked for again: each time all of it is sent.
  if (tooMany === undefined) return more
  await keepLater(tooMany)
  return signal.aborted ? undefined : globs
}

const tooMuch = ({ commitId }: Snapshot, bytes: number, namespace: string, most: number): Failure =>
  new Failure(
    'too-large',
    `commit ${commitId.slice(0, 12)} has ${bytes} bytes in this path, and all that GitOpsDeployments of namespace ${namespace} follow may have ${most}`,
    {
      reason: 'TooManyFiles',
      remedy: 'Follow less of the repository, or from another namespace; it is fetched again when there is room.',
    },
  )

/** A kustomization that cannot be followed is left to the rendering, which says what is wrong with it. */
async function patternsOf(batch: Snapshot, path: string, yaml: ReadYaml, also?: readonly string[]): Promise<string[]> {
  try {
    return await patternsFor(batch.files, path, yaml, also)
  } catch (thrown) {
    if (isFailure(thrown, 'invalid', 'too-large')) return []
    throw thrown
  }
}
