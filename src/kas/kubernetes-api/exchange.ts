import type { Duplex } from '../../adapters/grpc/index.ts'
import type { Visit } from '../../adapters/http/index.ts'
import { encodeRequest, pieces, type RequestHead, type ResponseHead, responseFrames, type Values } from '../../rpc/index.ts'
import { Failure } from '../../std/index.ts'
import { folded, responseHeaders } from './headers.ts'

export interface Exchange {
  visit: Visit
  head: RequestHead
  call: Duplex<Uint8Array, Uint8Array>
  /** Precedes the cluster's paths at kas. */
  prefix: string
}

/** Carries request and answer between a visitor and an agent, each at the pace of who reads. Gives the status of the answer. */
export async function exchange(it: Exchange): Promise<number> {
  const { visit, head, call, prefix } = it
  let fault: unknown
  const giveUp = (thrown: unknown) => {
    fault = thrown
    call.cancel()
  }
  const asking = ask(it).catch(giveUp)
  let answer: Answer | undefined
  try {
    for await (const frame of responseFrames(call.responses)) {
      if (frame.kind === 'head') {
        answer = new Answer(visit, head, frame.head)
        visit.begin(frame.head.status, textOf(frame.head), answer.headers(prefix))
        if (answer.isUpgrade) void asking.then(() => pourUpgraded(visit, call)).catch(giveUp)
      } else if (frame.kind === 'trailer') answer?.whole()
      else await answer?.take(frame.kind, frame.data)
    }
  } catch (thrown) {
    throw fault ?? thrown
  }
  visit.end()
  return answer?.status ?? 0
}

/** The whole request, and then, unless it wants to go on in another protocol, word that nothing more comes. */
async function ask({ visit, head, call }: Exchange): Promise<void> {
  await call.send(encodeRequest({ kind: 'head', head }))
  for await (const chunk of visit.body) for (const data of pieces(chunk)) await call.send(encodeRequest({ kind: 'data', data }))
  await call.send(encodeRequest({ kind: 'trailer' }))
  if (visit.upgrade === undefined) call.closeSend()
}

async function pourUpgraded({ upgraded }: Visit, call: Exchange['call']): Promise<void> {
  for await (const chunk of upgraded) for (const data of pieces(chunk)) await call.send(encodeRequest({ kind: 'upgraded', data }))
  call.closeSend()
}

/** An answer of an agent, which may be hostile: what it says of itself must be true, or the next visitor would read its rest. */
class Answer {
  readonly status: number
  readonly isUpgrade: boolean
  readonly #visit: Visit
  readonly #given: Values
  readonly #hasBody: boolean
  readonly #length: number | undefined
  #bytes = 0

  constructor(visit: Visit, asked: RequestHead, head: ResponseHead) {
    this.status = head.status
    this.isUpgrade = head.status === 101
    this.#visit = visit
    this.#given = folded(head.headers)
    this.#hasBody = asked.method !== 'HEAD' && ![101, 204, 304].includes(head.status)
    this.#length = lengthOf(this.#given)
    if (head.status < 200 && !(this.isUpgrade && agrees(visit.upgrade, this.#given.upgrade)))
      throw broken(`status ${head.status}, which was not asked for`)
  }

  headers(prefix: string) {
    const headers = responseHeaders(this.#given, { status: this.status, prefix })
    if (this.isUpgrade) return { ...headers, connection: ['Upgrade'], upgrade: [this.#visit.upgrade ?? ''] }
    // Without a length that is checked there is none: then the end of the answer is marked by kas.
    return this.#length === undefined || this.status === 204 ? headers : { ...headers, 'content-length': [String(this.#length)] }
  }

  async take(kind: 'data' | 'upgraded', data: Uint8Array): Promise<void> {
    if ((kind === 'upgraded') !== this.isUpgrade) throw broken(`${kind} in an answer ${this.status}`)
    this.#bytes += data.length
    if (kind === 'data' && !this.#hasBody) throw broken(`a body in an answer ${this.status}`)
    if (kind === 'data' && this.#length !== undefined && this.#bytes > this.#length) throw broken('more than it announced')
    await this.#visit.send(data)
  }

  whole(): void {
    if (this.#hasBody && this.#length !== undefined && this.#bytes < this.#length) throw broken('less than it announced')
  }
}

const agrees = (asked: string | undefined, got: readonly string[] | undefined): boolean =>
  got?.length === 1 && asked?.toLowerCase() === got[0]?.toLowerCase()

/** The one length that there may be. A reader that takes another sees the next answer begin elsewhere. */
function lengthOf({ 'content-length': given }: Values): number | undefined {
  if (given === undefined || given.length === 0) return undefined
  const [length, ...more] = given
  if (length === undefined || more.length > 0 || !/^\d{1,15}$/.test(length)) throw broken('no length, or more than one')
  return Number(length)
}

/** A line break in it would begin a header. */
const textOf = ({ reason }: ResponseHead): string => reason.replace(/[^ -~]/g, '').slice(0, 100)

const broken = (what: string) => new Failure('unavailable', `the agent sent ${what}`, { reason: 'OutOfOrder' })
