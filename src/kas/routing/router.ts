import type { CallOptions, Duplex, GrpcConnection } from '../../adapters/grpc/index.ts'
import { forwardable, request, type Tunnels } from '../../engines/tunnel/index.ts'
import { type Backoff, type Clock, Failure, hours, type Log, pause, seconds, waitOf } from '../../std/index.ts'
import type { Router } from '../ports/ports.ts'
import { createPeerFailures, MEND, type PeerFailures } from './peer-failures.ts'
import type { PeerRegistry } from './peers.ts'
import { type Asked, askThrough, ROUTING_KEY } from './routed.ts'

export interface RouterOptions {
  tunnels: Tunnels
  peers: Pick<PeerRegistry, 'kasToAsk' | 'isKnown' | 'follow'>
  /** A connection to the private endpoint of another kas, with what proves who we are. */
  dial: (url: string) => GrpcConnection
  /** So long a request waits for its agent. Milliseconds. */
  patience: number
  onRouted: (way: RequestRoute) => void
  /** Another kas did not answer, by the code of its failure. */
  onPeerFailed: (code: string) => void
  clock: Clock
  log: Log
}

/** After so long without a word from one kas the next one is asked. Milliseconds. */
const SILENCE = 10
const AGAIN: Backoff = { base: 100, max: seconds(1) }

/** Without a reason Node would make an error, with a stack trace, for each request. */
const OVER = 'over'
/** A connection that nobody has used for so long is closed when another one is opened: its kas may be gone for good. Milliseconds. */
const UNUSED = hours(1)

type Call = Duplex<Uint8Array, Uint8Array>

/** A request gets to its agent through a tunnel of this kas, or of another one, or not at all. */
export type RequestRoute = 'own' | 'peer' | 'none'

/** Calls to agents wherever they are connected: own tunnels first, then those of the other kas. */
export function createRouter(options: RouterOptions): Router & { stop(): void } {
  const { tunnels, onRouted, onPeerFailed, log } = options
  const links = createLinks(options)
  const peerFailures = createPeerFailures({ onFailed: onPeerFailed, log })
  return {
    async open(agentId, path, call) {
      // What cannot travel is refused before it costs a tunnel.
      const wanted = { agentId, path, call: { ...call, metadata: forwardable(call.metadata ?? {}) } }
      const own = tunnels.take(agentId, path)
      const routed = own
        ? { way: 'own' as const, call: request(own, path, wanted.call) }
        : await new Search(options, { connect: links.to, peerFailures }, wanted).run().catch((thrown: unknown) => {
            onRouted('none')
            throw thrown
          })
      onRouted(routed.way)
      return routed.call
    },
    stop: () => links.close(),
  }
}

/** The connections to other kas. What runs on one goes on when it is closed. */
function createLinks({ dial, clock }: Pick<RouterOptions, 'dial' | 'clock'>) {
  const links = new Map<string, { connection: GrpcConnection; used: number }>()
  const open = (url: string) => {
    for (const [other, { connection, used }] of links) {
      if (clock.now() - used < UNUSED) continue
      connection.close()
      links.delete(other)
    }
    const link = { connection: dial(url), used: 0 }
    links.set(url, link)
    return link
  }
  return {
    to(url: string): GrpcConnection {
      const link = links.get(url) ?? open(url)
      link.used = clock.now()
      return link.connection
    },
    close() {
      for (const { connection } of links.values()) connection.close()
    },
  }
}

interface Wanted {
  agentId: bigint
  path: string
  call: CallOptions
}

interface Found {
  way: RequestRoute
  call: Call
}

/** One kas that is asked. */
interface Question {
  /** Set while the call has not gone to the caller yet. */
  asked: Asked | undefined
  /** It has appeared again: it is asked at once, whatever was wrong before. */
  again: AbortController
}

/** All requests share what is known of the other kas. */
interface Others {
  connect: (url: string) => GrpcConnection
  peerFailures: PeerFailures
}

/** Asks everybody who may have the agent; the first tunnel that is ready gets the request. */
class Search {
  readonly #options: RouterOptions
  readonly #others: Others
  readonly #wanted: Wanted
  readonly #over = new AbortController()
  readonly #found = Promise.withResolvers<() => Found>()
  readonly #questions = new Map<string, Question>()

  constructor(options: RouterOptions, others: Others, wanted: Wanted) {
    this.#options = options
    this.#others = others
    this.#wanted = wanted
  }

  async run(): Promise<Found> {
    const { peers, clock, patience } = this.#options
    const { agentId, call } = this.#wanted
    const giveUp = () => this.#found.reject(new Failure('cancelled', 'the request was cancelled'))
    if (call.signal?.aborted) giveUp()
    else call.signal?.addEventListener('abort', giveUp, { once: true })
    const stopWaiting = clock.after(patience, () => this.#found.reject(this.#notConnected()))
    // Followed before they are listed: of a kas that appears between the two nobody would ever hear.
    const unfollow = peers.follow(agentId, (url) => this.#arrived(url))
    void this.#waitHere()
    void this.#askAll()
    try {
      const begin = await this.#found.promise
      return begin()
    } finally {
      stopWaiting()
      unfollow()
      call.signal?.removeEventListener('abort', giveUp)
      this.#over.abort(OVER)
      for (const { asked } of this.#questions.values()) asked?.cancel()
    }
  }

  /** Tells whether it is the first. */
  #win(begin: () => Found): boolean {
    if (this.#over.signal.aborted) return false
    this.#over.abort(OVER)
    this.#found.resolve(begin)
    return true
  }

  async #waitHere(): Promise<void> {
    const { tunnels } = this.#options
    const { agentId, path, call } = this.#wanted
    const tunnel = await tunnels.wait(agentId, path, this.#over.signal).catch(() => undefined)
    if (tunnel && !this.#win(() => ({ way: 'own', call: request(tunnel, path, call) }))) tunnels.putBack(tunnel)
  }

  async #askAll(): Promise<void> {
    const { peers, clock } = this.#options
    for (const url of await peers.kasToAsk(this.#wanted.agentId)) {
      if (this.#over.signal.aborted) return
      const isQuiet = new AbortController()
      void this.#ask(url, () => isQuiet.abort(OVER))
      await pause(clock, SILENCE, isQuiet.signal)
    }
  }

  #arrived(url: string): void {
    const question = this.#questions.get(url)
    if (question) question.again.abort()
    else void this.#ask(url)
  }

  /** Asks one kas, again after failures, for as long as it is known. */
  async #ask(url: string, onWord: () => void = () => undefined): Promise<void> {
    const { peers, clock } = this.#options
    if (this.#questions.has(url)) return
    const question: Question = { asked: undefined, again: new AbortController() }
    this.#questions.set(url, question)
    for (let failures = 0; !this.#over.signal.aborted; failures++) {
      question.again = new AbortController()
      const { signal: again } = question.again
      try {
        return await this.#askOnce(url, question, onWord)
      } catch (thrown) {
        onWord()
        if (this.#over.signal.aborted) return
        this.#others.peerFailures.failed(url, thrown)
        await pause(clock, waitOf(AGAIN, failures), AbortSignal.any([this.#over.signal, again]))
        const isKnown = again.aborted || (await peers.isKnown(url))
        // The list may be older than what was told meanwhile.
        if (!isKnown && !again.aborted) break
      }
    }
    this.#questions.delete(url)
  }

  async #askOnce(url: string, question: Question, onWord: () => void): Promise<void> {
    const { agentId, path, call } = this.#wanted
    const metadata = { ...call.metadata, [ROUTING_KEY]: [String(agentId)] }
    const asked = askThrough(await this.#others.connect(url).duplexRaw(path, { metadata }))
    if (this.#over.signal.aborted) return asked.cancel()
    question.asked = asked
    const heard = () => {
      this.#others.peerFailures.answered(url)
      onWord()
    }
    await asked.ready(heard)
    heard()
    // From here on it belongs to the caller.
    question.asked = undefined
    if (!this.#win(() => ({ way: 'peer', call: asked.start(call.signal) }))) asked.cancel()
  }

  #notConnected(): Failure {
    const isDoubted = [...this.#questions.keys()].some((url) => this.#others.peerFailures.has(url))
    const but = isDoubted ? ', and another kas that may have it does not believe this one' : ''
    return new Failure('timeout', `no suitable agent has connected within ${this.#options.patience / 1000} s${but}`, {
      reason: 'AgentNotConnected',
      remedy: isDoubted ? MEND : 'Check that the agent runs, reaches kas, and is recent enough to answer this.',
    })
  }
}
