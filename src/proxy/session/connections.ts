import { randomBytes } from 'node:crypto'
import type { Cache, Kube } from '../../adapters/kube/index.ts'
import { type ConfigMap, keyOf } from '../../api/index.ts'
import type { Way } from '../../engines/access/index.ts'
import { type Clock, every, Failure, type Log, minutes, seconds, timestamp } from '../../std/index.ts'
import type { RouteTable, Session } from '../web/ports.ts'
import { writeInto } from './config-map.ts'

export const CONNECTIONS = 'berth-proxy-connections'

interface ConnectionSources {
  cache: Cache<ConfigMap>
  namespace: string
  /** Requests and connections that are under way. */
  streams: { all(): Iterable<{ uid: string; port: Way; session: Session | undefined }> }
  routes: Pick<RouteTable, 'workspace'>
}

/** Shorter connections are mostly not seen: it is who is connected, and no list of requests. */
const ROUND = seconds(5)
/** That a proxy lives is seen by how old its key is. */
const RENEWED = minutes(1)
const FORGOTTEN = minutes(5)
/** A ConfigMap has room for a megabyte, and there may be several proxies. */
const MOST = 1000

/**
 * Tells the ConfigMap who is connected to what, for platform engineers, by kubectl and by the dashboard. Each proxy has a key: a line
 * of JSON for each person, workspace and port, below a line with the time.
 */
export function publishConnections(kube: Kube, { cache, namespace, streams, routes }: ConnectionSources, clock: Clock, log: Log) {
  const me = `proxy-${randomBytes(4).toString('hex')}`
  const map = { name: CONNECTIONS, namespace }
  /** Since when, by the rest of the line. */
  const known = new Map<string, string>()
  const told = { lines: '', at: 0 }

  const look = (): string => {
    const now = timestamp(clock.now())
    const seen = new Set<string>()
    for (const { uid, port, session } of streams.all()) {
      const ref = routes.workspace(uid)?.ref
      if (!ref) continue
      const entry = { user: session?.person.user ?? '', workspace: keyOf(ref), port }
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
    const old = Object.entries(cache.get(map)?.data ?? {}).filter(([, text]) => now - timeOf(text) > FORGOTTEN)
    try {
      const own = { [me]: lines === '' ? null : `# ${timestamp(now)}\n${lines}` }
      await writeInto(kube, map, { ...Object.fromEntries(old.map(([key]) => [key, null])), ...own })
      Object.assign(told, { lines, at: now })
    } catch (thrown) {
      log.warn('Who is connected could not be told', { error: Failure.from(thrown) })
    }
  }
  const stopTelling = every(clock, ROUND, () => tell(look()))
  return {
    async stop() {
      await stopTelling()
      await tell('')
    },
  }
}

const timeOf = (text: string): number => Date.parse(/^# (\S+)/.exec(text)?.[1] ?? '') || 0
