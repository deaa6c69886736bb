import { type Clock, minutes } from '../../std/index.ts'

/** Which kas have which agents, as one of them sees it. Redis would hold it for several; see docs/decisions/0156. */
export interface Registry {
  /** An agent has a tunnel here. Who waits for it anywhere is told at once. */
  register(agentId: bigint): void
  unregister(agentId: bigint): void
  /** Where else it is connected: addresses of private endpoints. */
  kasOf(agentId: bigint): Promise<string[]>
  /** The listener is told when the agent comes to another kas. */
  follow(agentId: bigint, listener: (url: string) => void): Following
  /** Takes out what this kas has put in. */
  stop(): void
}

export interface Following {
  /** From here on every arrival is told: what was there before is in `kasOf`, if that is asked later. */
  readonly begun: Promise<void>
  stop(): void
}

/** What all of them share. */
export interface RegistryHub {
  /** `url`: where the others reach the private endpoint of this one. */
  join(url: string): Registry
}

/** An entry that nobody refreshes is gone after this: its kas was killed. Milliseconds. */
const TTL = minutes(5)
const REFRESH = minutes(4)

/** For one kas, or for several in one process. It holds what the hash in Redis would: agent → URL → until when. */
export function createRegistryHub(clock: Clock): RegistryHub {
  const entries = new Map<bigint, Map<string, number>>()
  const listeners = new Map<bigint, Set<(url: string) => void>>()

  function put(agentId: bigint, url: string): void {
    const urls = entries.get(agentId) ?? new Map<string, number>()
    entries.set(agentId, urls.set(url, clock.now() + TTL))
  }
  function remove(agentId: bigint, url: string): void {
    const urls = entries.get(agentId)
    urls?.delete(url)
    if (urls?.size === 0) entries.delete(agentId)
  }
  /** Readers take out what has expired, as they would in Redis. */
  function read(agentId: bigint): string[] {
    const urls = [...(entries.get(agentId) ?? [])]
    for (const [url, until] of urls) if (until <= clock.now()) remove(agentId, url)
    return urls.flatMap(([url, until]) => (until > clock.now() ? [url] : []))
  }

  return {
    join(url) {
      const own = new Set<bigint>()
      let stopRefresh: () => void = () => undefined
      const refresh = () => {
        for (const agentId of own) put(agentId, url)
        stopRefresh = clock.after(REFRESH, refresh)
      }
      refresh()
      return {
        register(agentId) {
          own.add(agentId)
          put(agentId, url)
          for (const tell of listeners.get(agentId) ?? []) tell(url)
        },
        unregister(agentId) {
          own.delete(agentId)
          remove(agentId, url)
        },
        kasOf: async (agentId) => read(agentId).filter((one) => one !== url),
        follow(agentId, listener) {
          const tell = (from: string) => {
            if (from !== url) listener(from)
          }
          const all = listeners.get(agentId) ?? new Set()
          listeners.set(agentId, all.add(tell))
          const stop = () => {
            all.delete(tell)
            if (all.size === 0 && listeners.get(agentId) === all) listeners.delete(agentId)
          }
          return { begun: Promise.resolve(), stop }
        },
        stop() {
          stopRefresh()
          for (const agentId of own) remove(agentId, url)
          own.clear()
        },
      }
    },
  }
}
