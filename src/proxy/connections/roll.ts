import { randomBytes } from 'node:crypto'
import type { Cache, Kube } from '../../adapters/kube/index.ts'
import type { ConfigMap } from '../../api/index.ts'
import { type Clock, Failure, type Log, minutes, seconds, timestamp } from '../../std/index.ts'
import { writeInto } from '../config-map.ts'
import type { Routes, Session } from '../ports.ts'

export const CONNECTIONS = 'berth-proxy-connections'

export interface RollDesk {
  kube: Kube
  cache: Cache<ConfigMap>
  namespace: string
  /** What is under way. */
  streams: { all(): Iterable<{ uid: string; port: number; session: Session | undefined }> }
  routes: Pick<Routes, 'house'>
  clock: Clock
  log: Log
}

/** What lasts shorter than this is mostly not seen: it is who is connected, and no list of requests. */
const ROUND = seconds(5)
/** That a proxy lives is seen by how old its key is. */
const RENEWED = minutes(1)
const FORGOTTEN = minutes(5)
/** A ConfigMap has room for a megabyte, and there may be several proxies. */
const MOST = 1000

/** A line of JSON for each person, workspace and port, below a line with the time. */
export function keepRoll({ kube, cache, namespace, streams, routes, clock, log }: RollDesk): { stop(): Promise<void> } {
  const me = `proxy-${randomBytes(4).toString('hex')}`
  const ref = { name: CONNECTIONS, namespace }
  /** Since when, by the rest of the line. */
  const known = new Map<string, string>()
  const told = { lines: '', at: 0 }

  const look = (): string => {
    const now = timestamp(clock.now())
    const seen = new Set<string>()
    for (const { uid, port, session } of streams.all()) {
      const place = routes.house(uid)?.workspace
      if (!place) continue
      const entry = { user: session?.person.user ?? '', workspace: `${place.namespace}/${place.name}`, port }
      seen.add(JSON.stringify(entry))
      if (seen.size >= MOST) break
    }
    for (const entry of known.keys()) if (!seen.has(entry)) known.delete(entry)
    for (const entry of seen) if (!known.has(entry)) known.set(entry, now)
    return [...known].map(([entry, since]) => `${entry.slice(0, -1)},"since":"${since}"}\n`).join('')
  }
  const tell = async (lines: string) => {
    const now = clock.now()
    const isOld = now - told.at >= RENEWED
    if (lines === told.lines && !(isOld && lines !== '')) return
    const old = Object.entries(cache.get(ref)?.data ?? {}).filter(([, text]) => now - timeOf(text) > FORGOTTEN)
    try {
      const own = { [me]: lines === '' ? null : `# ${timestamp(now)}\n${lines}` }
      await writeInto(kube, ref, { ...Object.fromEntries(old.map(([key]) => [key, null])), ...own })
      Object.assign(told, { lines, at: now })
    } catch (thrown) {
      log.warn('Who is connected could not be told', { error: Failure.from(thrown) })
    }
  }
  const round: { done: Promise<void>; stop: () => void } = { done: Promise.resolve(), stop: () => undefined }
  const again = () => {
    round.stop = clock.after(ROUND, () => {
      round.done = tell(look()).finally(again)
    })
  }
  again()
  return {
    async stop() {
      await round.done
      round.stop()
      await tell('')
    },
  }
}

const timeOf = (text: string): number => Date.parse(/^# (\S+)/.exec(text)?.[1] ?? '') || 0
