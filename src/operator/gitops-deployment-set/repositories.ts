import type { ObjectStream, WantedFiles } from '../../adapters/grpc/index.ts'
import { keyOf, type Ref } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'

/** Where names of refs and files come from: kas, through its object stream. */
export type NameSource = Pick<ObjectStream, 'follow'>

/** What a generator asks of a repository. */
export type NamesWish = Pick<WantedFiles, 'projectId' | 'projectUid' | 'namespace' | 'serviceAccount' | 'ref' | 'globs'>

/** Both may be there: the last names, and why there are none newer. */
export interface SeenNames {
  names?: readonly string[]
  failure?: Failure
}

interface NamesStream {
  sets: Map<string, Ref>
  seen: SeenNames
  ending: AbortController
}

export type Repositories = ReturnType<typeof createRepositories>

/** One open stream for each wish, however many sets have it; other names wake them. */
export function createRepositories(source: NameSource, wake: (set: Ref) => void) {
  const streams = new Map<string, NamesStream>()
  const open = (wish: NamesWish): NamesStream => {
    const stream: NamesStream = { sets: new Map(), seen: {}, ending: new AbortController() }
    const { signal } = stream.ending
    const tell = (seen: SeenNames) => {
      if (signal.aborted) return
      const isNews = !isSame(seen.names, stream.seen.names) || seen.failure?.message !== stream.seen.failure?.message
      stream.seen = seen
      if (isNews) for (const set of stream.sets.values()) wake(set)
    }
    const options = {
      onBatch: ({ files }: { files: readonly { source: string }[] }) => tell({ names: files.map((file) => file.source) }),
      onInView: () => tell({ ...(stream.seen.names && { names: stream.seen.names }) }),
      onFailure: (failure: Failure) => tell({ ...stream.seen, failure }),
      signal,
    }
    source
      .follow({ ...wish, names: true }, options)
      .catch((thrown: unknown) => tell({ ...stream.seen, failure: Failure.from(thrown) }))
    return stream
  }
  const leave = (name: string, stream: NamesStream, key: string) => {
    stream.sets.delete(key)
    if (stream.sets.size > 0) return
    stream.ending.abort()
    streams.delete(name)
  }
  return {
    /** What was seen of each, in their order. What the set asked before and asks no more is ended. */
    of(set: Ref, wishes: readonly NamesWish[]): SeenNames[] {
      const key = keyOf(set)
      const names = wishes.map((wish) => JSON.stringify(wish))
      for (const [name, stream] of streams) if (stream.sets.has(key) && !names.includes(name)) leave(name, stream, key)
      return wishes.map((wish, at) => {
        const name = names[at] ?? ''
        const stream = streams.get(name) ?? open(wish)
        streams.set(name, stream)
        stream.sets.set(key, set)
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
