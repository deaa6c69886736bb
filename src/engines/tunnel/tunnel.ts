import { create, type MessageInitShape } from '@bufbuild/protobuf'
import type { Call, TextMetadata } from '../../adapters/grpc/index.ts'
import { type ConnectRequest, type ConnectResponse, ConnectResponseSchema } from '../../rpc/index.ts'
import { Failure } from '../../std/index.ts'
import { createHandOver } from './hand-over.ts'
import { metaFrom } from './metadata.ts'
import { inOrder, OF_AGENTS } from './order.ts'

/** idle: waits for a request. taken: somebody has a request for it. busy: it carries one. over: it carries no more. */
type State = 'idle' | 'taken' | 'busy' | 'over'
export type AgentMessage = ConnectRequest['msg']
type Answer = NonNullable<MessageInitShape<typeof ConnectResponseSchema>['msg']>

/** The parts that a tunnel is made of. */
export interface Ends {
  agentId: bigint
  /** `/service/method`, as the descriptor had them. */
  paths: ReadonlySet<string>
  /** The messages after the descriptor. */
  incoming: AsyncIterator<ConnectRequest>
  call: Call
  onOver: () => void
}

/** One stream that an agent has opened, as kas sees it. It carries one request in its life. */
export class Tunnel {
  readonly #ends: Ends
  readonly #outgoing = createHandOver<ConnectResponse>()
  readonly #order = inOrder(OF_AGENTS)
  /** Read ahead by one message, or a tunnel that waits would not learn that its agent is gone. */
  readonly #first: Promise<IteratorResult<ConnectRequest>>
  #state: State = 'idle'
  /** Why the request ended, when it was not the agent who said so. */
  #why: Failure | undefined

  constructor(ends: Ends) {
    this.#ends = ends
    this.#order('descriptor')
    this.#first = ends.incoming.next()
    this.#first.then(
      ({ done }) => this.#stirred(done ? undefined : early()),
      () => this.lost(),
    )
    ends.call.hungUp.addEventListener('abort', () => this.lost(), { once: true })
    ends.call.signal.addEventListener('abort', () => this.retire(), { once: true })
  }

  get agentId(): bigint {
    return this.#ends.agentId
  }

  get isIdle(): boolean {
    return this.#state === 'idle'
  }

  serves(path: string): boolean {
    return this.#ends.paths.has(path)
  }

  /** The messages to the agent, at the pace at which it reads. */
  get outgoing(): AsyncIterable<ConnectResponse> {
    return this.#outgoing
  }

  take(): this {
    this.#state = 'taken'
    return this
  }

  /** It was not needed. Tells whether it is there for the next one. */
  putBack(): boolean {
    if (this.#state !== 'taken') return false
    this.#state = 'idle'
    if (this.#ends.call.signal.aborted) this.retire()
    return this.isIdle
  }

  /** Ends it cleanly unless it has something to do: the agent opens another one at once. */
  retire(): void {
    if (this.#state === 'idle') this.#close(() => this.#outgoing.end())
  }

  /** Throws when the metadata cannot travel; then it is still taken. */
  start(path: string, metadata: TextMetadata): void {
    if (this.#state !== 'taken') return
    const meta = metaFrom(metadata)
    this.#state = 'busy'
    void this.send({ case: 'requestInfo', value: { methodName: path, meta } })
  }

  /** Resolves when the agent can take more. */
  send(msg: Answer): Promise<void> {
    return this.#outgoing.put(create(ConnectResponseSchema, { msg }))
  }

  /** The agent's answer, in the order that is agreed, until its clean end. Throws a `Failure` at any other. */
  async *said(): AsyncGenerator<AgentMessage> {
    let next = this.#first
    while (true) {
      const heard = await this.#heard(next)
      if (this.#state !== 'busy') throw this.#why ?? agentGone()
      try {
        this.#order(heard.done ? 'end' : heard.value.msg.case)
      } catch (thrown) {
        throw this.#broken(Failure.from(thrown))
      }
      if (heard.done) return
      yield heard.value.msg
      next = this.#ends.incoming.next()
    }
  }

  /** The request is done: the agent has said everything. */
  finish(): void {
    this.#close(() => this.#outgoing.end())
  }

  /** Ends the request for a reason that only its caller hears. */
  end(why: Failure): void {
    this.#close(() => {
      this.#why = why
      this.#ends.call.hangUp()
    })
  }

  /** The agent is not there any more. */
  lost(): void {
    if (this.#state !== 'over') this.end(agentGone())
  }

  /** Ends whatever is going on, and tells the agent why. */
  refuse(why: Failure): void {
    this.#close(() => {
      this.#why = why
      this.#outgoing.fail(why)
    })
  }

  /** Something came, or the end, while the tunnel had nothing to do. */
  #stirred(wrong?: Failure): void {
    if (this.#state === 'busy' || this.#state === 'over') return
    if (wrong) this.refuse(wrong)
    else this.#close(() => this.#outgoing.end())
  }

  async #heard(next: Promise<IteratorResult<ConnectRequest>>): Promise<IteratorResult<ConnectRequest>> {
    try {
      return await next
    } catch {
      throw this.#why ?? agentGone()
    }
  }

  /** The agent hears what it did wrong; the caller, that it cannot be helped. */
  #broken(wrong: Failure): Failure {
    this.refuse(wrong)
    return new Failure('unavailable', `the answer of the agent is broken: ${wrong.message}`, { reason: 'AnswerBroken' })
  }

  #close(how: () => void): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    const isHeldUp = !this.#outgoing.isWanted
    how()
    this.#outgoing.end()
    // Behind what it does not read the agent would never find the end.
    if (isHeldUp) this.#ends.call.hangUp()
    this.#ends.onOver()
  }
}

const early = () => new Failure('invalid', 'an agent may not answer before it is asked', { reason: 'InvalidRequest' })
const agentGone = () =>
  new Failure('unavailable', 'the agent went away before its answer was complete', {
    reason: 'AgentGone',
    remedy: 'Ask again.',
  })
