import { type Clock, Failure, type Log, seconds } from '../../std/index.ts'

export interface PeersOptions {
  /** As the settings name them. A name may stand for several kas, as that of a headless Service does. */
  peers: readonly string[]
  /** The addresses behind one of them. */
  resolve: (peer: string) => Promise<string[]>
  /** An address that leads back here. */
  isSelf: (url: string) => boolean
  clock: Clock
  log: Log
}

/** The other kas, by the addresses of their private endpoints. */
export interface PeerRegistry {
  /** Those that may have the agent. */
  kasToAsk(agentId: bigint): Promise<string[]>
  /** Whether the name of a kas still stands for this address. */
  isKnown(url: string): Promise<boolean>
  /** The listener is told of each kas that may have the agent as well, until the answer is called. */
  follow(agentId: bigint, listener: (url: string) => void): () => void
  /** Of whose name an address is: the certificate that is shown there is made out to it. */
  peerOf(url: string): string | undefined
  /** Of this kas, as the others know it; `undefined` where none of the names leads back here. */
  own(): Promise<string | undefined>
  /** All others that are known now, and names that nothing is known of. */
  everybody(): Promise<{ urls: string[]; unknown: string[] }>
  /** Other kas that are known now. */
  readonly size: number
  stop(): void
}

/** So long names are believed. Milliseconds. */
const FRESH = seconds(2)

/**
 * Every kas knows all others from its settings and asks each of them; who has no tunnel lets the request wait there. Names are
 * looked up again and again: kas come and go. A name that cannot be looked up stands for what it stood for last.
 */
export function createPeerRegistry(options: PeersOptions): PeerRegistry {
  const { peers, clock } = options
  const found = createFindings(options)
  const listeners = new Set<(url: string) => void>()
  let lookedAt = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | undefined
  let cancelTimer: () => void = () => undefined
  let isOver = false

  async function lookAll(): Promise<void> {
    const before = new Set(found.known())
    await Promise.all(peers.map(found.look))
    lookedAt = clock.now()
    looking = undefined
    for (const url of found.known()) if (!before.has(url)) for (const tell of listeners) tell(url)
    watch()
  }
  const refresh = (): Promise<void> => {
    looking ??= lookAll()
    return looking
  }
  const isStale = () => clock.now() - lookedAt >= FRESH
  /** While requests wait for their agent, kas that appear are asked as well. */
  function watch(): void {
    cancelTimer()
    cancelTimer =
      isOver || listeners.size === 0 || peers.length === 0 ? () => undefined : clock.after(FRESH, () => void refresh())
  }
  async function kasToAsk(): Promise<string[]> {
    if (peers.length === 0) return []
    if (isStale()) {
      const fresh = refresh()
      // What is known is good enough for now: what is new is told to who follows.
      if (found.isEmpty()) await fresh
    }
    return found.known()
  }

  return {
    kasToAsk,
    isKnown: async (url) => (await kasToAsk()).includes(url),
    async everybody() {
      if (isStale()) await refresh()
      return { urls: found.known(), unknown: found.unknown() }
    },
    async own() {
      if (found.own() === undefined && isStale()) await refresh()
      return found.own()
    },
    follow(_, listener) {
      const tell = (url: string) => listener(url)
      listeners.add(tell)
      if (listeners.size === 1) watch()
      return () => {
        listeners.delete(tell)
        if (listeners.size === 0) watch()
      }
    },
    peerOf: found.peerOf,
    get size() {
      return found.known().length
    },
    stop() {
      isOver = true
      watch()
    },
  }
}

/** What each name stood for when it was looked up last. */
function createFindings({ peers, resolve, isSelf, log }: Omit<PeersOptions, 'clock'>) {
  const behind = new Map<string, string[]>()
  let own: string | undefined
  return {
    async look(peer: string): Promise<void> {
      try {
        const urls = await resolve(peer)
        own = urls.find(isSelf) ?? own
        behind.set(
          peer,
          urls.filter((url) => !isSelf(url)),
        )
      } catch (thrown) {
        log.debug('A peer cannot be looked up', { peer, error: Failure.from(thrown) })
      }
    },
    known: (): string[] => [...new Set([...behind.values()].flat())],
    unknown: (): string[] => peers.filter((peer) => !behind.has(peer)),
    isEmpty: () => behind.size === 0,
    own: () => own,
    peerOf: (url: string): string | undefined => [...behind].find(([, urls]) => urls.includes(url))?.[0],
  }
}
