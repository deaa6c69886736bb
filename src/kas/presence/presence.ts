import { randomBytes } from 'node:crypto'
import { type Kube, selectorFor } from '../../adapters/kube/index.ts'
import { KAS_PRESENCE, type Lease, Leases, labels } from '../../api/index.ts'
import { type Clock, Failure, isFailure, type Log, minutes, pause, seconds, withoutEnd } from '../../std/index.ts'
import type { Presence } from '../ports/ports.ts'

export interface PresenceOptions {
  kube: Pick<Kube, 'apply' | 'list' | 'delete'>
  clock: Clock
  log: Log
  namespace: string
  /** Of this build, for a label of the Lease. */
  version?: string | undefined
  /** Of the pod, where there is one. The Lease is named after it, and for every start anew. */
  identity: string | undefined
}

const BEAT = seconds(10)
/** A Lease that was not renewed for so long is that of a kas that is dead. */
const LASTS = seconds(35)
/** And then nobody comes back to it: every start has a name of its own. */
const COLLECTED = minutes(10)

/** The last look at the Lease of another kas. Times are our own: clocks are not compared. */
interface Sight {
  renewTime: string
  /** When it was seen to change. */
  at: number
}

/** Shows the others that this kas lives, and looks who else does. */
export const createPresence = (options: PresenceOptions) => new LeasePresence(options)

class LeasePresence implements Presence {
  readonly self: string
  readonly #options: PresenceOptions
  readonly #sights = new Map<string, Sight>()
  readonly #listeners: (() => void)[] = []
  readonly #ending = new AbortController()
  readonly #running: Promise<void>
  #lookedAt: number | undefined
  #isTroubled = false

  constructor(options: PresenceOptions) {
    this.self = nameFrom(options.identity)
    this.#options = options
    this.#running = this.#run()
  }

  readonly isAlive = (kas: string): boolean => {
    const sight = this.#sights.get(kas)
    // Before the first look everybody may be there.
    return kas !== this.self && (this.#lookedAt === undefined || (sight !== undefined && this.#isFresh(sight)))
  }

  get others(): number {
    return this.#living().length
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Gives the Lease up, so that the others need not wait for its end. */
  async stop(): Promise<void> {
    const { kube, namespace } = this.#options
    this.#ending.abort()
    await this.#running
    await kube.delete(Leases, { name: this.self, namespace }).catch(() => undefined)
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending
    const attempt = async (step: () => Promise<void>) => {
      try {
        await step()
      } catch (thrown) {
        if (!signal.aborted) this.#complain(thrown)
      }
    }
    while (!signal.aborted) {
      await attempt(() => this.#renew())
      await attempt(() => this.#look())
      await pause(this.#options.clock, BEAT, signal)
    }
  }

  async #renew(): Promise<void> {
    const { kube, clock, namespace, version } = this.#options
    const name = this.self
    const spec = { holderIdentity: name, leaseDurationSeconds: LASTS / 1000, renewTime: microTime(clock.now()) }
    const metadata = { name, namespace, labels: { ...KAS_PRESENCE, ...(version && { [labels.version]: version }) } }
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }
    await kube.apply(Leases, lease, { manager: 'berth-kas', force: true })
  }

  async #look(): Promise<void> {
    const leases = await this.#listed()
    const now = this.#options.clock.now()
    const before = this.#living().join()
    const names = new Set(leases.map(({ metadata }) => metadata.name))
    for (const name of this.#sights.keys()) if (!names.has(name)) this.#sights.delete(name)
    for (const { metadata, spec } of leases) {
      const [name, renewTime] = [metadata.name, spec?.renewTime ?? '']
      if (name !== this.self && this.#sights.get(name)?.renewTime !== renewTime) this.#sights.set(name, { renewTime, at: now })
    }
    const isFirst = this.#lookedAt === undefined
    this.#lookedAt = now
    for (const lease of leases) await this.#collect(lease)
    if (isFirst || this.#living().join() !== before) for (const listener of this.#listeners) listener()
  }

  /** Without the right to list Leases, or without a namespace for them, this kas takes itself for the only one. */
  async #listed(): Promise<Lease[]> {
    const { kube, namespace } = this.#options
    try {
      return await kube.list(Leases, { namespace, labels: selectorFor(KAS_PRESENCE) }, this.#ending.signal)
    } catch (thrown) {
      if (!isFailure(thrown, 'forbidden', 'not-found')) throw thrown
      this.#complain(thrown)
      return []
    }
  }

  async #collect({ metadata: { name, uid, resourceVersion } }: Lease): Promise<void> {
    const { kube, clock, namespace } = this.#options
    const sight = this.#sights.get(name)
    if (!sight || clock.now() - sight.at < COLLECTED) return
    await kube.delete(Leases, { name, namespace }, { uid, resourceVersion }).catch(() => undefined)
  }

  #complain(thrown: unknown): void {
    const { log, namespace } = this.#options
    const how = this.#isTroubled ? 'debug' : 'warn'
    log[how]('Leases of kas cannot be kept', { lease: `${namespace}/${this.self}`, error: Failure.from(thrown) })
    this.#isTroubled = true
  }

  #isFresh({ at }: Sight): boolean {
    return this.#lookedAt === undefined || this.#lookedAt - at < LASTS
  }

  #living(): string[] {
    return [...this.#sights].filter(([, sight]) => this.#isFresh(sight)).map(([name]) => name)
  }
}

/** A name of an object, at most 63 characters, that no other start has. */
function nameFrom(identity: string | undefined): string {
  const words = (identity ?? 'kas').toLowerCase().replace(/[^a-z0-9-]/g, '-')
  return `berth-${withoutEnd(words.slice(0, 48).replace(/^-+/, ''), '-') || 'kas'}-${randomBytes(3).toString('hex')}`
}

/** As metav1.MicroTime is written. */
const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z')
