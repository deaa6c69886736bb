import type { GrpcConnection, TextMetadata } from '../../adapters/grpc/index.ts'
import { ReverseTunnel } from '../../rpc/index.ts'
import { type Clock, Failure, type Log, pause, seconds, waitOf } from '../../std/index.ts'
import { answer, type TunnelHandler, type Tunnelled } from './answer.ts'
import { descriptorOf } from './descriptor.ts'
import { BRIEF, FORGIVEN, PATIENCE, POOL, type PoolSize } from './limits.ts'

export interface ServeTunnelsOptions {
  /** To kas, with the token of the agent. */
  connection: GrpcConnection
  /** Handlers by `/service/method`. */
  services: ReadonlyMap<string, TunnelHandler>
  clock: Clock
  log: Log
  /** Ends all tunnels, busy ones too. */
  signal: AbortSignal
  size?: PoolSize
  /** Goes along with each tunnel. */
  metadata?: TextMetadata
}

/** Keeps tunnels open to kas and answers the requests that come through them, until the signal aborts. Never rejects. */
export function serveTunnels(options: ServeTunnelsOptions): Promise<void> {
  return new AgentPool(options).run()
}

class AgentPool {
  readonly #options: ServeTunnelsOptions
  readonly #size: PoolSize
  readonly #slots = new Set<Promise<void>>()
  /** Tunnels that wait for a request, are being opened, or will be after a failure. */
  #idle = 0
  #open = 0
  /** When there were last too few. */
  #short: number

  constructor(options: ServeTunnelsOptions) {
    this.#options = options
    this.#size = options.size ?? POOL
    this.#short = options.clock.now()
  }

  async run(): Promise<void> {
    this.#add(this.#size.idle)
    while (this.#slots.size > 0) await Promise.all(this.#slots)
  }

  #add(count: number): void {
    for (let n = 0; n < count && this.#open < this.#size.most && !this.#options.signal.aborted; n++) {
      this.#open++
      this.#idle++
      const slot = this.#keep().finally(() => {
        this.#open--
        this.#slots.delete(slot)
      })
      this.#slots.add(slot)
    }
  }

  /** Opens a tunnel again and again, while it is needed. Counts as idle whenever it begins and ends a round. */
  async #keep(): Promise<void> {
    const { clock, log, signal } = this.#options
    let failures = 0
    let failed = clock.now()
    while (!signal.aborted) {
      const opened = clock.now()
      const { hasServed, failure } = await this.#once()
      if (signal.aborted) break
      const isHarmless = !failure || failure.code === 'cancelled' || failure.code === 'timeout'
      if (!isHarmless || (!hasServed && clock.now() - opened < BRIEF)) {
        if (clock.now() - failed > FORGIVEN) failures = 0
        failed = clock.now()
        if (failure) log.debug('A tunnel failed', { error: failure })
        await pause(clock, waitOf(PATIENCE, failures++), signal)
      }
      if (this.#isSurplus()) break
    }
    this.#idle--
  }

  /** Without it there would still have been enough for a while. Only asked between two requests, or one could get lost. */
  #isSurplus(): boolean {
    const { idle, surplus } = this.#size
    return this.#idle > idle && this.#options.clock.now() - this.#short >= surplus
  }

  /** One tunnel, from its opening to its end. */
  async #once(): Promise<{ hasServed: boolean; failure?: Failure }> {
    const { connection, services, metadata, signal } = this.#options
    let hasServed = false
    try {
      const call = await connection.duplex(ReverseTunnel.method.connect, { signal, metadata })
      void call.send(descriptorOf(services.keys()))
      const incoming = call.responses[Symbol.asyncIterator]()
      const { value, done } = await incoming.next()
      if (done) return { hasServed }
      hasServed = true
      await this.#busy({ call, incoming }, () => answer({ call, incoming }, value, services))
      return { hasServed }
    } catch (thrown) {
      return { hasServed, failure: Failure.from(thrown) }
    }
  }

  async #busy({ call, incoming }: Tunnelled, work: () => Promise<void>): Promise<void> {
    this.#idle--
    if (this.#idle < this.#size.idle) {
      this.#short = this.#options.clock.now()
      this.#add(this.#size.step)
    }
    try {
      await work()
      await this.#drained({ call, incoming })
    } finally {
      call.cancel()
      this.#idle++
    }
  }

  /** The tunnel is over when kas says so; what it still sends is of no interest. */
  async #drained({ call, incoming }: Tunnelled): Promise<void> {
    const cancel = this.#options.clock.after(seconds(10), () => call.cancel())
    try {
      for (let next = await incoming.next(); !next.done; next = await incoming.next());
    } finally {
      cancel()
    }
  }
}
