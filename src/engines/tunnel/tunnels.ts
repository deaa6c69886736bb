import type { Call } from '../../adapters/grpc/index.ts'
import type { ConnectRequest, ConnectResponse } from '../../rpc/index.ts'
import { type Clock, Failure } from '../../std/index.ts'
import { firstOf, pathsIn } from './descriptor.ts'
import { MOST_OF_AN_AGENT } from './limits.ts'
import { Tunnel } from './tunnel.ts'

export interface Admitted {
  agentId: bigint
  /** Aborts, with a `Failure`, when the agent may not be here any more. */
  ended: AbortSignal
  /** So long a tunnel may wait for a request before it is closed cleanly, so that agents spread. Milliseconds. */
  age: number
  /** It may have fewer than an agent. */
  most?: number
}

export interface Tunnels {
  /** Answers `ReverseTunnel.Connect` of an agent that has been let in. */
  accept(admitted: Admitted, requests: AsyncIterable<ConnectRequest>, call: Call): AsyncIterable<ConnectResponse>
  /** A tunnel that waits and whose agent answers this path. Whoever takes one makes its request or puts it back. */
  take(agentId: bigint, path: string): Tunnel | undefined
  /** The same, as soon as there is one; throws when the signal aborts. First come, first served. */
  wait(agentId: bigint, path: string, signal: AbortSignal): Promise<Tunnel>
  putBack(tunnel: Tunnel): void
  /** Those that wait for a request, all, and the requests that wait for one. */
  readonly count: { idle: number; open: number; waiting: number }
}

export interface TunnelsOptions {
  /** Told of a tunnel that was one too many of its agent. */
  onRefused?: () => void
  /** Told when the first tunnel of an agent is there, and when the last one has gone. */
  onAgent?: (agentId: bigint, isHere: boolean) => void
  clock: Clock
}

export const createTunnels = (options: TunnelsOptions): Tunnels => new Pool(options)

interface Waiter {
  path: string
  give(tunnel: Tunnel): void
}

/** The tunnels of one agent, and the requests that wait for one. */
interface AgentTunnels {
  open: number
  /** Of those: whose methods the agent has named. */
  ready: number
  readonly idle: Set<Tunnel>
  readonly waiters: Set<Waiter>
}

class Pool implements Tunnels {
  readonly #clock: Clock
  readonly #onRefused: () => void
  readonly #onAgent: (agentId: bigint, isHere: boolean) => void
  readonly #agents = new Map<bigint, AgentTunnels>()

  constructor({ clock, onRefused = () => undefined, onAgent = () => undefined }: TunnelsOptions) {
    this.#clock = clock
    this.#onRefused = onRefused
    this.#onAgent = onAgent
  }

  async *accept(
    admitted: Admitted,
    requests: AsyncIterable<ConnectRequest>,
    call: Call,
  ): AsyncGenerator<ConnectResponse, void, undefined> {
    const incoming = requests[Symbol.asyncIterator]()
    const own = this.#tunnelsOf(admitted.agentId)
    own.open++
    try {
      const { most = MOST_OF_AN_AGENT } = admitted
      if (own.open > most) {
        this.#onRefused()
        throw tooMany(most)
      }
      const first = await firstOf(incoming, { ended: admitted.ended, signal: call.signal, clock: this.#clock })
      if (first) yield* this.#open(admitted, own, { incoming, call, paths: pathsIn(first) })
    } finally {
      own.open--
      this.#forget(admitted.agentId, own)
    }
  }

  async *#open(
    { agentId, ended, age }: Admitted,
    own: AgentTunnels,
    { incoming, call, paths }: { incoming: AsyncIterator<ConnectRequest>; call: Call; paths: ReadonlySet<string> },
  ): AsyncGenerator<ConnectResponse, void, undefined> {
    if (ended.aborted) throw Failure.from(ended.reason)
    if (call.signal.aborted) return
    const tunnel: Tunnel = new Tunnel({ agentId, paths, incoming, call, onOver: () => void own.idle.delete(tunnel) })
    const revoke = () => tunnel.refuse(Failure.from(ended.reason))
    const stay = this.#clock.after(age, () => tunnel.retire())
    ended.addEventListener('abort', revoke, { once: true })
    try {
      this.#place(tunnel, own)
      own.ready++
      if (own.ready === 1) this.#onAgent(agentId, true)
      yield* tunnel.outgoing
    } finally {
      own.ready--
      if (own.ready === 0) this.#onAgent(agentId, false)
      stay()
      ended.removeEventListener('abort', revoke)
      tunnel.lost()
    }
  }

  take(agentId: bigint, path: string): Tunnel | undefined {
    const own = this.#agents.get(agentId)
    if (!own) return undefined
    for (const tunnel of own.idle) {
      if (!tunnel.serves(path)) continue
      own.idle.delete(tunnel)
      return tunnel.take()
    }
    return undefined
  }

  wait(agentId: bigint, path: string, signal: AbortSignal): Promise<Tunnel> {
    const found = this.take(agentId, path)
    if (found) return Promise.resolve(found)
    const own = this.#tunnelsOf(agentId)
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        path,
        give(tunnel) {
          signal.removeEventListener('abort', stop)
          resolve(tunnel)
        },
      }
      const stop = () => {
        own.waiters.delete(waiter)
        this.#forget(agentId, own)
        reject(new Failure('cancelled', 'nobody waits for the agent any more'))
      }
      if (signal.aborted) return stop()
      signal.addEventListener('abort', stop, { once: true })
      own.waiters.add(waiter)
    })
  }

  putBack(tunnel: Tunnel): void {
    if (tunnel.putBack()) this.#place(tunnel, this.#tunnelsOf(tunnel.agentId))
  }

  get count() {
    const sum = (read: (own: AgentTunnels) => number) => [...this.#agents.values()].reduce((all, own) => all + read(own), 0)
    return { idle: sum(({ idle }) => idle.size), open: sum(({ open }) => open), waiting: sum(({ waiters }) => waiters.size) }
  }

  /** Requests that wait come first. */
  #place(tunnel: Tunnel, own: AgentTunnels): void {
    for (const waiter of own.waiters) {
      if (!tunnel.serves(waiter.path)) continue
      own.waiters.delete(waiter)
      waiter.give(tunnel.take())
      return
    }
    own.idle.add(tunnel)
  }

  #tunnelsOf(agentId: bigint): AgentTunnels {
    const known = this.#agents.get(agentId)
    if (known) return known
    const own: AgentTunnels = { open: 0, ready: 0, idle: new Set(), waiters: new Set() }
    this.#agents.set(agentId, own)
    return own
  }

  #forget(agentId: bigint, own: AgentTunnels): void {
    const isEmpty = own.open === 0 && own.waiters.size === 0
    if (isEmpty && this.#agents.get(agentId) === own) this.#agents.delete(agentId)
  }
}

const tooMany = (most: number) =>
  new Failure('unavailable', `the agent has ${most} tunnels open`, {
    reason: 'TooManyTunnels',
    remedy: 'Close some.',
  })
