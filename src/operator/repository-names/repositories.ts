import type { ObjectStream, WantedFiles } from '../../adapters/grpc/index.ts'
import { keyOf, type Ref } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'

/** Where names of refs and files come from: kas, through its object stream. */
export type NameSource = Pick<ObjectStream, 'follow'>

/** What is asked of a repository. */
export interface NamesWish
  extends Pick<WantedFiles, 'projectId' | 'projectUid' | 'namespace' | 'serviceAccount' | 'ref' | 'globs'> {
  /** Whether the commits of refs are wanted, too. */
  commits?: true
}

/** Both may be there: the last names, and why there are none newer. */
export interface SeenNames {
  names?: readonly string[]
  /** In the order of the names; empty where nobody asked. */
  commits?: readonly string[]
  failure?: Failure
}

interface NamesStream {
  askers: Map<string, Ref>
  seen: SeenNames
  ending: AbortController
}

export type Repositories = ReturnType<typeof createRepositories>

/** One open stream for each wish, however many have it; other names wake them. */
export function createRepositories(source: NameSource, wake: (asker: Ref) => void) {
  const streams = new Map<string, NamesStream>()
  const open = (wish: NamesWish): NamesStream => {
    const stream: NamesStream = { askers: new Map(), seen: {}, ending: new AbortController() }
    const { signal } = stream.ending
    const { commits, ...asked } = wish
    const tell = (seen: SeenNames) => {
      if (signal.aborted) return
      const isNews =
        !isSame(seen.names, stream.seen.names) ||
        !isSame(seen.commits, stream.seen.commits) ||
        seen.failure?.message !== stream.seen.failure?.message
      stream.seen = seen
      if (isNews) for (const asker of stream.askers.values()) wake(asker)
    }
    const options = {
      onBatch: ({ files }: { files: readonly { source: string; data: Uint8Array }[] }) =>
        tell({
          names: files.map((file) => file.source),
          commits: commits ? files.map(({ data }) => Buffer.from(data).toString().trim()) : [],
        }),
      onInView: () => {
        const { failure: _, ...seen } = stream.seen
        tell(seen)
      },
      onFailure: (failure: Failure) => tell({ ...stream.seen, failure }),
      signal,
    }
    source
      .follow({ ...asked, names: commits !== true }, options)
      .catch((thrown: unknown) => tell({ ...stream.seen, failure: Failure.from(thrown) }))
    return stream
  }
  const leave = (name: string, stream: NamesStream, key: string) => {
    stream.askers.delete(key)
    if (stream.askers.size > 0) return
    stream.ending.abort()
    streams.delete(name)
  }
  return {
    /** What was seen of each, in their order. What it asked before and asks no more is ended. */
    of(asker: Ref, wishes: readonly NamesWish[]): SeenNames[] {
      const key = keyOf(asker)
      const names = wishes.map((wish) => JSON.stringify(wish))
      for (const [name, stream] of streams) if (stream.askers.has(key) && !names.includes(name)) leave(name, stream, key)
      return wishes.map((wish, at) => {
        const name = names[at] ?? ''
        const stream = streams.get(name) ?? open(wish)
        streams.set(name, stream)
        stream.askers.set(key, asker)
        return stream.seen
      })
    },
    stop(): void {
      for (const { ending } of streams.values()) ending.abort()
      streams.clear()
    },
  }
}

const isSame = (one: readonly string[] | undefined, other: readonly string[] | undefined): boolean =>
  one === other || (one !== undefined && one.length === other?.length && one.every((name, at) => name === other[at]))
