import type { ObjectStream } from '../../adapters/grpc/index.ts'
import type { Ref } from '../../api/index.ts'
import { keyOf } from '../../api/index.ts'
import { patternsFor, type Snapshot } from '../../engines/gitops/index.ts'
import type { GitRef } from '../../rpc/index.ts'
import { type Clock, createYamlReader, type Failure, isFailure, minutes, type ReadYaml, seconds } from '../../std/index.ts'

/** Where commits come from: kas, through its object stream. */
export type Source = Pick<ObjectStream, 'follow'>

/** What one deployment wants from a repository. */
export interface Wish {
  projectId: string
  /** The very GitProject that was chosen by its URL, should another have the same path. */
  projectUid?: string | undefined
  namespace: string
  /** With whose rights it will be applied: a grant may be to that account alone. */
  serviceAccount: string
  revision: GitRef
  path: string
}

/** What is known of it by now. Both may be there: the last commit, and why none came since. */
export interface Seen {
  snapshot?: Snapshot
  failure?: Failure
}

interface Stream {
  wish: string
  seen: Seen
  /** When `seen` was told. */
  at: number
  abort: AbortController
}

/** One open stream for each deployment; a new commit or failure rings. */
export interface Following {
  of(ref: Ref, wish: Wish): Seen
  end(ref: Ref): void
  /** When a commit came last, for anybody; -Infinity before the first. */
  readonly heardAt: number
  /** From now on until the signal aborts. */
  ringing(ring: (ref: Ref) => void, signal: AbortSignal): void
}

const CROWD = 100
const LATER = seconds(1)

export interface FollowingOptions {
  source: Source
  clock: Clock
  /** Reads the kustomizations that say what else must be asked for. */
  yaml?: ReadYaml | undefined
  /** How long it took until the files of a revision were there. */
  waited?: (milliseconds: number) => void
}

export function createFollowing({
  source,
  clock,
  yaml: read = createYamlReader(),
  waited = () => undefined,
}: FollowingOptions): Following {
  const streams = new Map<string, Stream>()
  let ring: (ref: Ref) => void = () => undefined
  let heardAt = Number.NEGATIVE_INFINITY

  const open = (ref: Ref, wish: Wish): Stream => {
    const yaml: ReadYaml = (text) => read(text, wish.namespace)
    const stream: Stream = { wish: JSON.stringify(wish), seen: {}, at: clock.now(), abort: new AbortController() }
    streams.set(keyOf(ref), stream)
    const opened = clock.now()
    const tell = (seen: Seen) => {
      if (stream.abort.signal.aborted) return
      if (seen.snapshot && !stream.seen.snapshot) waited(clock.now() - opened)
      const isOnlyNewer = seen.snapshot !== undefined && seen.snapshot.files === stream.seen.snapshot?.files
      stream.seen = seen
      stream.at = clock.now()
      if (!seen.failure) heardAt = stream.at
      // A commit that means nothing to hundreds of followers must not keep the one waiting that it is for.
      if (isOnlyNewer && streams.size > CROWD) clock.after(LATER, () => ring(ref))
      else ring(ref)
    }
    void follow({ source, wish, yaml, tell, seen: () => stream.seen, signal: stream.abort.signal })
    return stream
  }
  const end = (key: string) => {
    streams.get(key)?.abort.abort()
    streams.delete(key)
  }

  return {
    of(ref, wish) {
      const key = keyOf(ref)
      const known = streams.get(key)
      if (known?.wish === JSON.stringify(wish)) return current(known, clock)
      end(key)
      return open(ref, wish).seen
    },
    end: (ref) => end(keyOf(ref)),
    get heardAt() {
      return heardAt
    },
    ringing(listener, signal) {
      ring = listener
      const endAll = () => {
        for (const key of streams.keys()) end(key)
      }
      signal.addEventListener('abort', endAll, { once: true })
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
  signal: AbortSignal
}

/**
 * Follows the revision with the patterns known so far. A commit that needs more folders (bases elsewhere) ends the round; the
 * next one asks for them as well.
 */
async function follow(pursuit: Pursuit): Promise<void> {
  let globs: string[] | undefined = await patternsFor([], pursuit.wish.path, pursuit.yaml)
  while (globs) globs = await round(pursuit, globs)
}

/** Gives the patterns to go on with, or nothing at the end of all. */
async function round({ source, wish, yaml, tell, seen, signal }: Pursuit, globs: string[]): Promise<string[] | undefined> {
  const ending = new AbortController()
  const { projectId, projectUid, namespace, serviceAccount, revision: ref, path } = wish
  let more: string[] | undefined
  await source.follow(
    { projectId, projectUid, namespace, serviceAccount, ref, globs },
    {
      signal: AbortSignal.any([signal, ending.signal]),
      async onBatch(batch) {
        const wanted = await patternsOf(batch, path, yaml)
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
  return more
}

/** A kustomization that cannot be followed is left to the rendering, which says what is wrong with it. */
async function patternsOf(batch: Snapshot, path: string, yaml: ReadYaml): Promise<string[]> {
  try {
    return await patternsFor(batch.files, path, yaml)
  } catch (thrown) {
    if (isFailure(thrown, 'invalid', 'too-large')) return []
    throw thrown
  }
}
