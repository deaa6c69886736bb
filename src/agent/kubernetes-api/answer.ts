import { CallEnded, type RawHandler } from '../../adapters/grpc/index.ts'
import { HOP_BY_HOP } from '../../adapters/http/index.ts'
import type { Passage, PassageAnswer } from '../../adapters/kube/index.ts'
import { canonicalName, encodeResponse, type HttpFrame, pieces, type RequestHead, requestFrames } from '../../rpc/index.ts'
import { Failure, isFailure } from '../../std/index.ts'
import { hasUpgrade, passageHeaders, targetOf } from './request.ts'

type RequestHandler = (requests: AsyncIterable<Uint8Array>, call: { readonly signal: AbortSignal }) => ReturnType<RawHandler>

const STATUS = { internal: 13, unavailable: 14 }

/**
 * For `/gitlab.agent.kubernetes_api.rpc.KubernetesApi/MakeRequest`. Errors have the codes of the GitLab agent. `product` names the agent
 * in Via headers: `berth-agent/1.2.0`.
 */
export const createKubernetesApi = ({ passage, product }: { passage: Passage; product: string }): RequestHandler =>
  async function* respond(requests, call) {
    const over = new AbortController()
    const reader = new RequestReader(requests, () => over.abort())
    try {
      const head = await reader.head()
      const hasBody = await reader.hasBody()
      const answer = await passage.open({
        method: head.method,
        target: targetOf(head),
        headers: passageHeaders(head, product, hasBody),
        body: hasBody ? reader.body() : undefined,
        upgrades: hasUpgrade(head.headers),
        signal: AbortSignal.any([call.signal, over.signal]),
      })
      yield encodeResponse({ kind: 'head', head: responseHead(answer, product) })
      if (answer.status === 101) yield* upgraded(answer, reader)
      else yield* plain(answer, reader)
    } catch (thrown) {
      throw ending(reader.fault ?? thrown)
    } finally {
      over.abort()
    }
  }

async function* plain({ body }: PassageAnswer, reader: RequestReader): AsyncGenerator<Uint8Array> {
  void reader.expectEnd()
  for await (const chunk of body) for (const data of pieces(chunk)) yield encodeResponse({ kind: 'data', data })
  yield encodeResponse({ kind: 'trailer' })
}

/** Both directions until the server has ended its own, or one has failed. */
async function* upgraded({ body, send }: PassageAnswer, reader: RequestReader): AsyncGenerator<Uint8Array> {
  yield encodeResponse({ kind: 'trailer' })
  void reader.pourInto(send)
  for await (const chunk of body) for (const data of pieces(chunk)) yield encodeResponse({ kind: 'upgraded', data })
}

/** The caller's frames, taken in the order in which HTTP needs them. */
class RequestReader {
  /** The caller's mistake; the failures that follow from it say less. */
  fault: unknown
  readonly #frames: AsyncGenerator<HttpFrame<RequestHead>>
  readonly #onFault: () => void
  readonly #whole = Promise.withResolvers<void>()
  #length: number | undefined
  #next: Promise<Uint8Array | undefined> | undefined

  constructor(requests: AsyncIterable<Uint8Array>, onFault: () => void) {
    this.#frames = requestFrames(requests)
    this.#onFault = onFault
  }

  async head(): Promise<RequestHead> {
    const { value } = await this.#frames.next()
    if (value?.kind !== 'head') throw new Failure('invalid', 'the call ended before the request began', { reason: 'OutOfOrder' })
    this.#length = value.head.length
    return value.head
  }

  /** Waits for the first of the body, or for word that there is none: only then it is known how to write the header. */
  async hasBody(): Promise<boolean> {
    this.#next ??= this.#data()
    if ((await this.#next) !== undefined) return true
    if (this.#length) throw wrongLength(`no body instead of ${this.#length} bytes`)
    this.#whole.resolve()
    return false
  }

  async *body(): AsyncGenerator<Uint8Array> {
    let bytes = 0
    try {
      for (let data = await (this.#next ?? this.#data()); data !== undefined; data = await this.#data()) {
        bytes += data.length
        if (this.#length !== undefined && bytes > this.#length) throw wrongLength(`more than ${this.#length} bytes`)
        yield data
      }
      if (this.#length !== undefined && bytes < this.#length) throw wrongLength(`${bytes} instead of ${this.#length} bytes`)
      this.#whole.resolve()
    } catch (thrown) {
      this.#blame(thrown)
      throw thrown
    }
  }

  /** After a request that changes nothing of the protocol, nothing more may come. */
  async expectEnd(): Promise<void> {
    await this.#whole.promise
    try {
      for await (const { kind } of this.#frames)
        throw new Failure('invalid', `${kind} after the request`, { reason: 'OutOfOrder' })
    } catch (thrown) {
      this.#blame(thrown)
    }
  }

  /** Passes on the data after the upgrade, and that the caller has ended; its mistakes end both directions. */
  async pourInto(send: PassageAnswer['send']): Promise<void> {
    try {
      for await (const frame of this.#frames) if (frame.kind === 'upgraded') await send(frame.data)
      await send(undefined)
    } catch (thrown) {
      this.#blame(thrown)
    }
  }

  /** `undefined` at the trailer. */
  async #data(): Promise<Uint8Array | undefined> {
    const { value } = await this.#frames.next()
    if (value?.kind !== 'data') return undefined
    if (this.#length === 0) throw wrongLength('a body where none was announced')
    return value.data
  }

  #blame(thrown: unknown): void {
    this.fault = thrown
    this.#onFault()
  }
}

const wrongLength = (what: string) => new Failure('invalid', `the request has ${what}`, { reason: 'OutOfOrder' })

function responseHead({ status, reason, protocol, headers }: PassageAnswer, product: string) {
  const kept = Object.entries(headers).filter(([name]) => status === 101 || !HOP_BY_HOP.has(name))
  const via = [...(headers.via ?? []), `${protocol} ${product}`]
  return {
    status,
    reason,
    headers: { ...Object.fromEntries(kept.map(([name, values]) => [canonicalName(name), values])), Via: via },
  }
}

/** A peer that breaks rules is told so; that there is no API server to be had, too. */
function ending(thrown: unknown): unknown {
  if (isFailure(thrown) && thrown.reason === 'OutOfOrder') return new CallEnded(STATUS.internal, thrown.message)
  if (isFailure(thrown) && thrown.reason === 'NestedImpersonation') return new CallEnded(STATUS.unavailable, thrown.message)
  return thrown
}
