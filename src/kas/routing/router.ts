import type { CallOptions, Connection, Duplex } from '../../adapters/grpc/index.ts'
import { forwardable, request, type Tunnels } from '../../engines/tunnel/index.ts'
import { type Backoff, type Clock, Failure, type Log, pause, seconds, waitOf } from '../../std/index.ts'
import type { Router } from '../ports.ts'
import { ROUTING_KEY } from './order.ts'
import type { Registry } from './registry.ts'
import { type Asked, askThrough } from './routed.ts'

export interface RouterOptions {
  tunnels: Tunnels
  registry: Registry
  /** A connection to the private endpoint of another kas, with what proves who we are. */
  dial: (url: string) => Connection
  /** So long a request waits for its agent. Milliseconds. */
  patience: number
  clock: Clock
  log: Log
}

/** After so long without a word from one kas the next one is asked. Milliseconds. */
const SILENCE = 10
const AGAIN: Backoff = { base: 100, max: seconds(1) }

/** Without a reason Node would make an error, with a stack trace, for each request. */
const OVER = 'over'

type Call = Duplex<Uint8Array, Uint8Array>

/** Calls to agents wherever they are connected: own tunnels first, then those of the other kas that have the agent. */
export function createRouter(options: RouterOptions): Router & { stop(): void } {
  const connections = new Map<string, Connection>()
  const connect = (url: string): Connection => {
    const connection = connections.get(url) ?? options.dial(url)
    connections.set(url, connection)
    return connection
  }
  return {
    async open(agentId, path, call) {
      const own = options.tunnels.take(agentId, path)
      return own ? request(own, path, call) : new Search(options, connect, { agentId, path, call }).run()
    },
    stop() {
      for (const connection of connections.values()) connection.close()
    },
  }
}

interface Wanted {
  agentId: bigint
  path: string
  call: CallOptions
}

/** Asks everybody who may have the agent; the first tunnel that is ready gets the request. */
class Search {
  readonly #options: RouterOptions
  readonly #connect: (url: string) => Connection
  readonly #wanted: Wanted
  readonly #over = new AbortController()
  readonly #found = Promise.withResolvers<() => Call>()
  readonly #asked = new Map<string, Asked | undefined>()

  constructor(options: RouterOptions, connect: (url: string) => Connection, wanted: Wanted) {
    this.#options = options
    this.#connect = connect
    this.#wanted = wanted
  }

  async run(): Promise<Call> {
    const { registry, clock, patience } = this.#options
    const { agentId, call } = this.#wanted
    const giveUp = () => this.#found.reject(new Failure('cancelled', 'the request was cancelled'))
    if (call.signal?.aborted) giveUp()
    else call.signal?.addEventListener('abort', giveUp, { once: true })
    const stopWaiting = clock.after(patience, () => this.#found.reject(notConnected(patience)))
    const stopListening = registry.onArrival(agentId, (url) => void this.#ask(url))
    void this.#waitHere()
    void this.#askAll()
    try {
      const begin = await this.#found.promise
      return begin()
    } finally {
      stopWaiting()
      stopListening()
      call.signal?.removeEventListener('abort', giveUp)
      this.#over.abort(OVER)
      for (const asked of this.#asked.values()) asked?.cancel()
    }
  }

  /** Tells whether it is the first. */
  #win(begin: () => Call): boolean {
    if (this.#over.signal.aborted) return false
    this.#over.abort(OVER)
    this.#found.resolve(begin)
    return true
  }

  async #waitHere(): Promise<void> {
    const { tunnels } = this.#options
    const { agentId, path, call } = this.#wanted
    const tunnel = await tunnels.wait(agentId, path, this.#over.signal).catch(() => undefined)
    if (tunnel && !this.#win(() => request(tunnel, path, call))) tunnels.putBack(tunnel)
  }

  async #askAll(): Promise<void> {
    const { registry, clock, log } = this.#options
    try {
      for (const url of await registry.kasOf(this.#wanted.agentId)) {
        if (this.#over.signal.aborted) return
        const isQuiet = new AbortController()
        void this.#ask(url, () => isQuiet.abort(OVER))
        await pause(clock, SILENCE, isQuiet.signal)
      }
    } catch (thrown) {
      log.warn('The registry of agents cannot be read', { error: Failure.from(thrown) })
    }
  }

  /** Asks one kas, again after failures, for as long as the agent is said to be there. */
  async #ask(url: string, onWord: () => void = () => undefined): Promise<void> {
    const { registry, clock, log } = this.#options
    if (this.#asked.has(url)) return
    this.#asked.set(url, undefined)
    for (let failures = 0; !this.#over.signal.aborted; failures++) {
      try {
        return await this.#askOnce(url, onWord)
      } catch (thrown) {
        onWord()
        if (this.#over.signal.aborted) return
        log.debug('Another kas did not answer', { kas: url, error: Failure.from(thrown) })
        await pause(clock, waitOf(AGAIN, failures), this.#over.signal)
        const known = await registry.kasOf(this.#wanted.agentId).catch(() => [url])
        if (!known.includes(url)) break
      }
    }
    this.#asked.delete(url)
  }

  async #askOnce(url: string, onWord: () => void): Promise<void> {
    const { agentId, path, call } = this.#wanted
    const metadata = { ...forwardable(call.metadata ?? {}), [ROUTING_KEY]: [String(agentId)] }
    const asked = askThrough(await this.#connect(url).duplexRaw(path, { metadata }))
    if (this.#over.signal.aborted) return asked.cancel()
    this.#asked.set(url, asked)
    await asked.ready(onWord)
    onWord()
    // From here on it belongs to the caller.
    this.#asked.set(url, undefined)
    if (!this.#win(() => asked.start(call.signal))) asked.cancel()
  }
}

const notConnected = (patience: number) =>
  new Failure('timeout', `no suitable agent has connected within ${patience / 1000} s`, {
    reason: 'AgentNotConnected',
    remedy: 'Check that the agent runs, reaches kas, and is recent enough to answer this.',
  })
