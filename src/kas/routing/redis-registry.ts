import type { Redis } from '../../adapters/redis/index.ts'
import { type Clock, Failure, type Log, seconds } from '../../std/index.ts'
import { createAgentEntries, entryKey, isValid, readAnnouncement } from './agent-entries.ts'
import type { PeerRegistry } from './peers.ts'

/** What a connection to Redis tells. */
export interface ConnectionNews {
  onMessage: (text: string) => void
  onUp: () => void
  onDown: (failure: Failure) => void
}

export interface RedisRegistryOptions {
  /** Opens the connection that this is about. */
  connect: (told: ConnectionNews) => Redis
  /** All kas that there are: what Redis says is believed of these only. */
  names: PeerRegistry
  /** Of keys. */
  prefix: string
  onFailed: (reason: string) => void
  clock: Clock
  log: Log
}

/** A registry to which this kas tells whose tunnels it has. */
export interface TellingRegistry extends Omit<PeerRegistry, 'stop'> {
  /** The first tunnel of an agent is there, or the last one has gone. */
  tell(agentId: bigint, isHere: boolean): void
  readonly isUp: boolean
  stop(): Promise<void>
}

/** A request does not wait longer for what Redis says: then it asks everybody. Milliseconds. */
const LOOKUP = 250
/** An agent that was not found for so long is looked for at every kas. Milliseconds. */
const WIDE = seconds(1)

/**
 * Kas tell Redis which agents they have, and ask those first that it names. It only makes that quicker: an entry leads nowhere but to a kas
 * that the settings name, and that has its own tunnels alone to give. What Redis has lost, or was never told, is made up for by asking
 * everybody, at once where it does not answer, and otherwise a little later.
 */
export function createRedisRegistry(options: RedisRegistryOptions): TellingRegistry {
  const { names, prefix, clock } = options
  const followers = createFollowers(names, clock)
  const report = createReport(options)
  const redis = options.connect({
    onMessage(text) {
      const { url, agents } = readAnnouncement(text)
      if (names.peerOf(url) !== undefined) for (const agentId of agents) followers.tell(agentId, url)
    },
    onUp() {
      report.up()
      entries.tellAll()
    },
    onDown: report.failed,
  })
  const entries = createAgentEntries({ redis, prefix, own: names.own, onWritten: report.well, onFailed: report.failed, clock })
  const lookUp = createLookup(redis, options, report.failed)
  // Known before the first request: otherwise all of them would be news to it, and asked.
  void names.own()

  return {
    async kasToAsk(agentId) {
      const [known, said] = await Promise.all([names.kasToAsk(agentId), lookUp(agentId)])
      return said === undefined ? known : known.filter((url) => said.has(url))
    },
    follow: followers.follow,
    tell: entries.tell,
    isKnown: names.isKnown,
    own: names.own,
    peerOf: names.peerOf,
    everybody: names.everybody,
    get size() {
      return names.size
    },
    get isUp() {
      return redis.isUp
    },
    async stop() {
      await entries.stop()
      await redis.stop()
      names.stop()
    },
  }
}

/** Tells who has an agent, as Redis says, and nothing where it does not answer. Who asks for the same meanwhile gets the same answer. */
function createLookup(
  redis: Redis,
  { prefix, clock }: Pick<RedisRegistryOptions, 'prefix' | 'clock'>,
  onFailed: (failure: Failure) => void,
) {
  const underWay = new Map<bigint, Promise<Set<string> | undefined>>()
  async function read(agentId: bigint): Promise<Set<string> | undefined> {
    try {
      const fields = await redis.fields(entryKey(prefix, agentId), LOOKUP)
      return new Set([...fields].filter(([, until]) => isValid(until, clock.now())).map(([url]) => url))
    } catch (thrown) {
      // That there is no connection has been told.
      if (redis.isUp) onFailed(Failure.from(thrown))
      return undefined
    } finally {
      underWay.delete(agentId)
    }
  }
  return async (agentId: bigint): Promise<Set<string> | undefined> => {
    if (!redis.isUp) return undefined
    const answer = underWay.get(agentId) ?? read(agentId)
    underWay.set(agentId, answer)
    return answer
  }
}

/** Those who wait for agents. */
function createFollowers(names: PeerRegistry, clock: Clock) {
  const all = new Map<bigint, Set<(url: string) => void>>()
  return {
    tell(agentId: bigint, url: string) {
      for (const tell of all.get(agentId) ?? []) tell(url)
    },
    follow(agentId: bigint, listener: (url: string) => void): () => void {
      const own = all.get(agentId) ?? new Set()
      const tell = (url: string) => listener(url)
      all.set(agentId, own.add(tell))
      const unfollow = names.follow(agentId, tell)
      const widen = async () => {
        for (const url of await names.kasToAsk(agentId)) if (own.has(tell)) tell(url)
      }
      const cancel = clock.after(WIDE, () => void widen())
      return () => {
        cancel()
        unfollow()
        own.delete(tell)
        if (own.size === 0) all.delete(agentId)
      }
    },
  }
}

/** Says each trouble once, until Redis is well again or something else is wrong. */
function createReport({ onFailed, log }: Pick<RedisRegistryOptions, 'onFailed' | 'log'>) {
  let told: string | undefined
  return {
    failed(failure: Failure) {
      const reason = failure.reason ?? failure.code
      onFailed(reason)
      const how = told === reason ? 'debug' : 'warn'
      told = reason
      log[how]('Redis is of no use now, agents are looked for at every kas', { error: failure, remedy: failure.remedy })
    },
    up: () => log.info('Redis is there'),
    well() {
      if (told !== undefined) log.info('Redis is of use again', { after: told })
      told = undefined
    },
  }
}
