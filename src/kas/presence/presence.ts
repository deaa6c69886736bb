import { randomBytes } from 'node:crypto'
import type { Kube } from '../../adapters/kube/index.ts'
import { type Lease, Leases } from '../../api/index.ts'
import { type Clock, Failure, isFailure, type Log, minutes, pause, seconds } from '../../std/index.ts'
import type { Presence } from '../ports.ts'

export interface PresenceOptions {
  kube: Pick<Kube, 'apply' | 'list' | 'delete'>
  clock: Clock
  log: Log
  namespace: string
  /** Of the pod, where there is one. The Lease is named after it, and for every start anew. */
  identity: string | undefined
}

export interface KasPresence extends Presence {
  /** Gives the Lease up, so that the others need not wait for its end. */
  stop(): Promise<void>
}

const BEAT = seconds(10)
/** A Lease that was not renewed for so long is that of a kas that is dead. */
const LASTS = seconds(35)
/** And then nobody comes back to it: every start has a name of its own. */
const COLLECTED = minutes(10)
const LABELS = { 'app.kubernetes.io/name': 'berth-kas', 'app.kubernetes.io/component': 'presence' }
const SELECTOR = Object.entries(LABELS)
  .map(([key, value]) => `${key}=${value}`)
  .join(',')

/** What was seen of the Lease of another kas. Times are our own: clocks are not compared. */
interface Sight {
  renewTime: string
  /** When it was seen to change. */
  at: number
}

/** Shows the others that this kas lives, and looks who else does. */
export function createPresence({ kube, clock, log, namespace, identity }: PresenceOptions): KasPresence {
  const self = nameFrom(identity)
  const sights = new Map<string, Sight>()
  const listeners: (() => void)[] = []
  const ending = new AbortController()
  let lookedAt: number | undefined
  let isTroubled = false

  const isFresh = ({ at }: Sight): boolean => lookedAt === undefined || lookedAt - at < LASTS
  const living = () => [...sights].filter(([, sight]) => isFresh(sight)).map(([name]) => name)

  async function renew(): Promise<void> {
    const spec = { holderIdentity: self, leaseDurationSeconds: LASTS / 1000, renewTime: microTime(clock.now()) }
    const metadata = { name: self, namespace, labels: LABELS }
    await kube.apply(
      Leases,
      { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec },
      { manager: self, force: true },
    )
  }
  async function look(): Promise<void> {
    const leases = await listed()
    const now = clock.now()
    const before = living().join()
    const names = new Set(leases.map(({ metadata }) => metadata.name))
    for (const name of sights.keys()) if (!names.has(name)) sights.delete(name)
    for (const lease of leases) note(lease, now)
    const isFirst = lookedAt === undefined
    lookedAt = now
    for (const lease of leases) await collect(lease)
    if (isFirst || living().join() !== before) for (const listener of listeners) listener()
  }
  /** Whoever may not look is alone. */
  async function listed(): Promise<Lease[]> {
    try {
      return await kube.list(Leases, { namespace, labels: SELECTOR }, ending.signal)
    } catch (thrown) {
      if (!isFailure(thrown, 'forbidden', 'not-found')) throw thrown
      complain(thrown)
      return []
    }
  }
  function note({ metadata: { name }, spec }: Lease, now: number): void {
    const renewTime = spec?.renewTime ?? ''
    if (name !== self && sights.get(name)?.renewTime !== renewTime) sights.set(name, { renewTime, at: now })
  }
  async function collect({ metadata: { name, uid, resourceVersion } }: Lease): Promise<void> {
    const sight = sights.get(name)
    if (!sight || clock.now() - sight.at < COLLECTED) return
    await kube.delete(Leases, { name, namespace }, { uid, resourceVersion }).catch(() => undefined)
  }
  function complain(thrown: unknown): void {
    const how = isTroubled ? 'debug' : 'warn'
    log[how]('Leases of kas cannot be kept', { lease: `${namespace}/${self}`, error: Failure.from(thrown) })
    isTroubled = true
  }
  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      for (const step of [renew, look])
        await step().catch((thrown: unknown) => {
          if (!ending.signal.aborted) complain(thrown)
        })
      await pause(clock, BEAT, ending.signal)
    }
  }
  const running = run()

  return {
    self,
    isAlive(kas) {
      const sight = sights.get(kas)
      // Before the first look everybody may be there.
      return kas !== self && (lookedAt === undefined || (sight !== undefined && isFresh(sight)))
    },
    get others() {
      return living().length
    },
    onChange: (listener) => void listeners.push(listener),
    async stop() {
      ending.abort()
      await running
      await kube.delete(Leases, { name: self, namespace }).catch(() => undefined)
    },
  }
}

/** A name of an object, at most 63 characters, that no other start has. */
function nameFrom(identity: string | undefined): string {
  const words = (identity ?? 'kas').toLowerCase().replace(/[^a-z0-9-]/g, '-')
  return `berth-${words.slice(0, 48).replace(/^-+|-+$/g, '') || 'kas'}-${randomBytes(3).toString('hex')}`
}

/** As metav1.MicroTime is written. */
const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z')
