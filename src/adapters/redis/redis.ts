import { createClient } from '@redis/client'
import { type Backoff, type Clock, Failure, pause, type Secret, seconds, waitOf } from '../../std/index.ts'
import { redisAway, redisFailure } from './failures.ts'

export interface RedisAccess {
  /** `redis://host:port/0`, or `rediss://` for TLS, without a password. */
  url: string
  user?: string | undefined
  /** Read for each connection: a password is exchanged by writing its file anew. */
  password?: (() => Promise<Secret<string>>) | undefined
  /** Authority of its certificate, PEM. */
  ca?: Uint8Array | undefined
}

export interface RedisOptions extends RedisAccess {
  channel: string
  /** What is published on the channel. Messages that come while there is no connection are lost. */
  onMessage: (text: string) => void
  /** There is a connection. All that was kept may be gone: Redis may have begun anew. */
  onUp: () => void
  /** There is none, or none any more; called for each attempt. */
  onDown: (failure: Failure) => void
  clock: Clock
}

export type RedisCommand = readonly string[]

/** Every command fails at once, with a Failure, while there is no connection. */
export interface Redis {
  readonly isUp: boolean
  /** All of them, or none. */
  transact(commands: readonly RedisCommand[]): Promise<void>
  /** On the channel. */
  publish(text: string): Promise<void>
  /** Fields with their values; none where there is no such hash. Fails when it takes longer. Milliseconds. */
  fields(key: string, patience?: number): Promise<Map<string, string>>
  /** Takes the field out, if it still has this value. */
  dropField(key: string, field: string, value: string): Promise<void>
  stop(): Promise<void>
}

/** A Redis that has said nothing for so long is given up: it may hang, or the way to it swallow everything. Milliseconds. */
const PATIENCE = seconds(3)
/** So often it is asked whether it is there while nobody asks it for anything. */
const BEAT = seconds(5)
const AGAIN: Backoff = { base: 200, max: seconds(5) }
/** More do not wait for their answers: they fail. */
const MOST_WAITING = 20_000

const DROP = "if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then return redis.call('HDEL', KEYS[1], ARGV[1]) end return 0"

/** Connects in the background, again and again. */
export const openRedis = (options: RedisOptions): Redis => new Connection(options)

type Client = ReturnType<typeof clientOf>

class Connection implements Redis {
  readonly #options: RedisOptions
  readonly #at: string
  readonly #ending = new AbortController()
  readonly #running: Promise<void>
  #current: { client: Client; giveUp: (why: Failure) => void } | undefined

  constructor(options: RedisOptions) {
    this.#options = options
    this.#at = new URL(options.url).host
    this.#running = this.#run()
  }

  get isUp(): boolean {
    return this.#current !== undefined
  }

  async transact(commands: readonly RedisCommand[]): Promise<void> {
    await this.#ask((client) => {
      const transaction = client.multi()
      for (const command of commands) transaction.addCommand([...command])
      return transaction.exec()
    })
  }

  async publish(text: string): Promise<void> {
    await this.#ask((client) => client.publish(this.#options.channel, text))
  }

  async fields(key: string, patience = PATIENCE): Promise<Map<string, string>> {
    return new Map(Object.entries(await this.#ask((client) => client.hGetAll(key), patience)))
  }

  async dropField(key: string, field: string, value: string): Promise<void> {
    await this.#ask((client) => client.eval(DROP, { keys: [key], arguments: [field, value] }))
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    await this.#running
  }

  async #ask<T>(command: (client: Client) => Promise<T>, patience = PATIENCE): Promise<T> {
    const current = this.#current
    if (!current) throw this.#away()
    try {
      const answer = command(current.client)
      // Whoever asks may have less patience than the connection is given.
      if (patience < PATIENCE) void this.#inTime(answer, PATIENCE).catch((thrown) => this.#doubt(current, thrown))
      return await this.#inTime(answer, patience)
    } catch (thrown) {
      if (patience === PATIENCE) this.#doubt(current, thrown)
      throw redisFailure(thrown, this.#at)
    }
  }

  /** A connection on which nothing comes back is of no use, whatever waits on it. */
  #doubt({ giveUp }: { giveUp: (why: Failure) => void }, thrown: unknown): void {
    if (thrown instanceof Failure && thrown.code === 'timeout') giveUp(thrown)
  }

  async #inTime<T>(answer: Promise<T>, patience: number): Promise<T> {
    const late = Promise.withResolvers<never>()
    const message = `Redis at ${this.#at} has not answered within ${patience} ms`
    const cancel = this.#options.clock.after(patience, () => late.reject(redisAway('timeout', message)))
    try {
      return await Promise.race([answer, late.promise])
    } finally {
      cancel()
    }
  }

  #away(): Failure {
    return redisAway('unavailable', `there is no connection to Redis at ${this.#at}`)
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending
    const { clock } = this.#options
    for (let failures = 0; !signal.aborted; failures++) {
      const began = clock.now()
      try {
        await this.#connected()
      } catch (thrown) {
        if (!signal.aborted) this.#options.onDown(redisFailure(thrown, this.#at))
      }
      // Everything is written anew into each connection: one that ends at once is not to be begun again at once.
      if (clock.now() - began >= BEAT) failures = 0
      await pause(clock, waitOf(AGAIN, failures), signal)
    }
  }

  /** One connection, from its beginning until it fails, with what it throws. */
  async #connected(): Promise<void> {
    const { clock, channel, onMessage, onUp } = this.#options
    const end = Promise.withResolvers<never>()
    const client = clientOf(this.#options)
    client.on('error', end.reject)
    const stop = () => end.reject(this.#away())
    this.#ending.signal.addEventListener('abort', stop, { once: true })
    // It may fail while nobody waits for it.
    end.promise.catch(() => undefined)
    let cancelBeat: () => void = () => undefined
    try {
      const begin = client.connect().then(() => client.subscribe(channel, onMessage))
      await Promise.race([this.#inTime(begin, PATIENCE), end.promise])
      if (this.#ending.signal.aborted) return
      this.#current = { client, giveUp: end.reject }
      const beat = () => {
        const again = () => {
          if (this.#current?.client === client) cancelBeat = clock.after(BEAT, beat)
        }
        // When it is too late, that has ended the connection.
        this.#ask((one) => one.ping()).then(again, again)
      }
      cancelBeat = clock.after(BEAT, beat)
      onUp()
      await end.promise
    } finally {
      this.#current = undefined
      cancelBeat()
      this.#ending.signal.removeEventListener('abort', stop)
      client.destroy()
    }
  }
}

/** Redis has no say in where this connects to, and is told nothing of the library. */
const clientOf = ({ url, user, password, ca }: RedisAccess) => {
  const { hostname, port, pathname, protocol } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = { host, port: Number(port || '6379'), connectTimeout: PATIENCE, reconnectStrategy: false as const }
  return createClient({
    socket: protocol === 'rediss:' ? { ...socket, tls: true, ...(ca && { ca: Buffer.from(ca) }) } : socket,
    database: Number(pathname.slice(1) || '0'),
    ...(password && {
      credentialsProvider: {
        type: 'async-credentials-provider',
        credentials: async () => ({ username: user ?? 'default', password: (await password()).reveal() }),
      },
    }),
    RESP: 3,
    disableOfflineQueue: true,
    disableClientInfo: true,
    commandsQueueMaxLength: MOST_WAITING,
    maintNotifications: 'disabled',
  })
}
