import type { Redis, RedisCommand } from '../../adapters/redis/index.ts'
import { type Backoff, type Clock, every, Failure, minutes, seconds, waitOf } from '../../std/index.ts'

export interface AgentEntriesOptions {
  redis: Redis
  prefix: string
  /** The address of this kas, as the others know it. */
  own: () => Promise<string | undefined>
  onWritten: () => void
  onFailed: (failure: Failure) => void
  clock: Clock
}

/** So long an entry is believed. Milliseconds. */
const LASTS = minutes(5)
/** So often it is written again. */
const REFRESHED = minutes(4)
/** So often the entries of kas that are gone are taken out. */
const COLLECTED = minutes(10)
/** An agent whose last tunnel has gone almost always opens another one. */
const LINGERS = seconds(5)
/** Clocks of two kas may differ by so much. */
const SKEW = seconds(5)
/** Redis does nothing else while it does what stands in one transaction, so that is not much. */
const BATCH = 500
const AGAIN: Backoff = { base: seconds(1), max: seconds(30) }

/** One hash for each agent: which kas has it, and until when that is believed. */
export const entryKey = (prefix: string, agentId: bigint): string => `${prefix}:tunnels-by-agent-id:${agentId}`
/** Where it is told that an agent has come. */
export const channelOf = (prefix: string): string => `${prefix}:agent-connected`

export const isValid = (until: string, now: number): boolean => Number(until) > now - SKEW

const announcement = (url: string, agents: readonly bigint[]): string => `${url} ${agents.join(',')}`

export function readAnnouncement(text: string): { url: string; agents: bigint[] } {
  const [url = '', agents = ''] = text.split(' ')
  return { url, agents: agents.split(',').flatMap((id) => (/^\d{1,19}$/.test(id) ? [BigInt(id)] : [])) }
}

/** Keeps what stands in Redis of the agents of this kas: many with one transaction, and all again before their time is over. */
export const createAgentEntries = (options: AgentEntriesOptions) => new AgentEntries(options)

class AgentEntries {
  readonly #options: AgentEntriesOptions
  readonly #here = new Set<bigint>()
  /** Their last tunnel has just gone. */
  readonly #lingering = new Map<bigint, () => void>()
  /** What stands in Redis of them is to be written. */
  readonly #changed = new Set<bigint>()
  /** Others may wait for them. */
  readonly #arrived = new Set<bigint>()
  readonly #stopTimers: (() => Promise<void>)[]
  #cancelRetry: () => void = () => undefined
  #failures = 0
  #isWriting = false
  #isOver = false
  #writing: Promise<void> | undefined

  constructor(options: AgentEntriesOptions) {
    this.#options = options
    this.#stopTimers = [
      every(options.clock, REFRESHED, () => this.tellAll()),
      every(options.clock, COLLECTED, () => this.#collect()),
    ]
  }

  /** The first tunnel of an agent is here, or the last one has gone. */
  readonly tell = (agentId: bigint, isHere: boolean): void => {
    if (this.#isOver) return
    const stay = this.#lingering.get(agentId)
    stay?.()
    this.#lingering.delete(agentId)
    if (!isHere) {
      this.#lingering.set(
        agentId,
        this.#options.clock.after(LINGERS, () => this.#left(agentId)),
      )
      return
    }
    if (this.#here.has(agentId)) return
    this.#here.add(agentId)
    this.#arrived.add(agentId)
    this.#changed.add(agentId)
    this.#write()
  }

  /** Writes all of them: Redis may have forgotten them, or is about to. */
  tellAll(): void {
    for (const agentId of this.#here) this.#changed.add(agentId)
    this.#write()
  }

  /** Takes out what it has written, so that nobody asks here any more. */
  async stop(): Promise<void> {
    this.#isOver = true
    for (const stop of this.#stopTimers) await stop()
    for (const stay of this.#lingering.values()) stay()
    for (const agentId of this.#here) this.#changed.add(agentId)
    this.#here.clear()
    this.#write()
    await this.#writing
    this.#cancelRetry()
  }

  #left(agentId: bigint): void {
    this.#lingering.delete(agentId)
    this.#here.delete(agentId)
    this.#changed.add(agentId)
    this.#write()
  }

  #write(): void {
    this.#cancelRetry()
    if (!this.#isWriting) this.#writing = this.#writeAll()
  }

  async #writeAll(): Promise<void> {
    const { redis, onWritten, onFailed, clock } = this.#options
    this.#isWriting = true
    try {
      while (this.#changed.size > 0 && redis.isUp) await this.#writeSome()
      if (redis.isUp) onWritten()
      this.#failures = 0
    } catch (thrown) {
      onFailed(Failure.from(thrown))
      this.#cancelRetry = clock.after(waitOf(AGAIN, this.#failures++), () => this.#write())
    } finally {
      this.#isWriting = false
    }
  }

  async #writeSome(): Promise<void> {
    const { redis, prefix, clock } = this.#options
    const own = await this.#options.own()
    if (own === undefined) throw nameless()
    const some = [...this.#changed].slice(0, BATCH)
    for (const agentId of some) this.#changed.delete(agentId)
    const arrived = some.filter((agentId) => this.#arrived.delete(agentId))
    const until = String(clock.now() + LASTS)
    const commands = some.flatMap((agentId): RedisCommand[] => {
      const key = entryKey(prefix, agentId)
      if (!this.#here.has(agentId)) return [['HDEL', key, own]]
      return [
        ['HSET', key, own, until],
        ['PEXPIRE', key, String(LASTS)],
      ]
    })
    // In this order, so that whoever looks after the announcement finds the entry; who waits is told also when nothing can be written.
    const [written, told] = await Promise.allSettled([
      redis.transact(commands),
      arrived.length > 0 ? redis.publish(announcement(own, arrived)) : undefined,
    ])
    if (written.status === 'rejected') for (const agentId of some) this.#changed.add(agentId)
    for (const outcome of [written, told]) if (outcome.status === 'rejected') throw outcome.reason
  }

  /** The time of a hash is put off by every kas that has the agent: what another one has left in it would stay. */
  async #collect(): Promise<void> {
    const { redis, prefix, onFailed, clock } = this.#options
    const collect = async (agentId: bigint) => {
      const key = entryKey(prefix, agentId)
      for (const [url, until] of await redis.fields(key)) if (!isValid(until, clock.now())) await redis.dropField(key, url, until)
    }
    const all = [...this.#here]
    try {
      for (let at = 0; at < all.length && redis.isUp; at += BATCH) await Promise.all(all.slice(at, at + BATCH).map(collect))
    } catch (thrown) {
      onFailed(Failure.from(thrown))
    }
  }
}

const nameless = () =>
  new Failure('invalid', 'none of the addresses behind --peers leads back to this kas', {
    reason: 'OwnAddressUnknown',
    remedy: 'Name all kas in --peers, this one included, so that it knows by which address the others ask it.',
  })
