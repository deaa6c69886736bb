import { create, type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf'
import { anyPack, anyUnpack } from '@bufbuild/protobuf/wkt'
import { Failure } from '../std/index.ts'
import { encode } from './encode.ts'
import { HttpRequestSchema, HttpResponseSchema } from './generated/grpctool_pb.ts'
import { HeaderExtraSchema } from './generated/kubernetes_api_pb.ts'
import {
  HttpRequestSchema as RequestSchema,
  HttpResponseSchema as ResponseSchema,
  ValuesSchema,
} from './generated/prototool_pb.ts'

/** The method that a kas asks agents by, passing on what others send: its messages are read by whoever serves it. */
export const MAKE_REQUEST = '/gitlab.agent.kubernetes_api.rpc.KubernetesApi/MakeRequest'

/** `Content-Type` for `content-type`, as Go writes names of headers: peers take keys as they are. */
export const canonicalName = (name: string): string =>
  name
    .split('-')
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1).toLowerCase())
    .join('-')

/** Headers or query parameters: each name with its values in order. */
export type Values = Readonly<Record<string, readonly string[]>>

/** The user that a request is to be made as. */
export interface Impersonation {
  readonly user: string
  readonly groups: readonly string[]
  readonly uid: string
  readonly extra: Values
}

export interface RequestHead {
  readonly method: string
  /** Decoded, and without the query. */
  readonly path: string
  readonly query: Values
  readonly headers: Values
  /** Bytes of the body; `undefined` when that is not known beforehand. */
  readonly length: number | undefined
  readonly impersonation: Impersonation | undefined
}

export interface ResponseHead {
  readonly status: number
  /** Such as `OK`. */
  readonly reason: string
  readonly headers: Values
}

/** One message of an HTTP exchange. `upgraded`: bytes after the other side agreed to speak another protocol. */
export type HttpFrame<H> =
  | { readonly kind: 'head'; readonly head: H }
  | { readonly kind: 'data' | 'upgraded'; readonly data: Uint8Array }
  | { readonly kind: 'trailer' }

/** Peers send and expect frames of 32 KiB. */
const LONGEST = 32 * 1024

/** Bytes as frames that peers take. */
export function* pieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += LONGEST) yield bytes.subarray(at, at + LONGEST)
}

export const encodeRequest = (frame: HttpFrame<RequestHead>): Uint8Array =>
  encode(HttpRequestSchema, create(HttpRequestSchema, { message: messageOf(frame, requestHeader) }))

export const encodeResponse = (frame: HttpFrame<ResponseHead>): Uint8Array =>
  encode(HttpResponseSchema, create(HttpResponseSchema, { message: messageOf(frame, responseHeader) }))

const messageOf = <H, V>(frame: HttpFrame<H>, header: (head: H) => V) => {
  if (frame.kind === 'head') return { case: 'header' as const, value: header(frame.head) }
  if (frame.kind === 'trailer') return { case: 'trailer' as const, value: {} }
  const value = { data: frame.data }
  return frame.kind === 'data' ? { case: 'data' as const, value } : { case: 'upgradeData' as const, value }
}

function requestHeader({ method, path, query, headers, length, impersonation }: RequestHead) {
  const extra = create(HeaderExtraSchema, {
    ...(impersonation && {
      impConfig: {
        username: impersonation.user,
        groups: [...impersonation.groups],
        uid: impersonation.uid,
        extra: Object.entries(impersonation.extra).map(([key, val]) => ({ key, val: [...val] })),
      },
    }),
  })
  return {
    request: create(RequestSchema, { method, urlPath: path, header: mapOf(headers), query: mapOf(query) }),
    extra: anyPack(HeaderExtraSchema, extra),
    contentLength: BigInt(length ?? -1),
  }
}

const responseHeader = ({ status, reason, headers }: ResponseHead) => ({
  response: create(ResponseSchema, { statusCode: status, status: `${status} ${reason}`.trim(), header: mapOf(headers) }),
})

const mapOf = (values: Values) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, create(ValuesSchema, { value: [...value] })]))

type Rest = { case: 'data' | 'upgradeData'; value: { data: Uint8Array } } | { case: 'trailer' }
type Message<Header> = { case: 'header'; value: Header } | Rest | { case: undefined }

/** The frames of a call, each checked against the order that peers keep: head, data, trailer, and then what was upgraded. */
export const requestFrames = (messages: AsyncIterable<Uint8Array>) =>
  framesOf(messages, (bytes) => decoded(HttpRequestSchema, bytes).message, requestHead)

/** The same for an answer. */
export const responseFrames = (messages: AsyncIterable<Uint8Array>) =>
  framesOf(messages, (bytes) => decoded(HttpResponseSchema, bytes).message, responseHead)

async function* framesOf<Header, Head>(
  messages: AsyncIterable<Uint8Array>,
  read: (bytes: Uint8Array) => Message<Header>,
  headOf: (header: Header) => Head,
): AsyncGenerator<HttpFrame<Head>> {
  const order = new Order()
  for await (const bytes of messages) {
    const message = read(bytes)
    order.take(message.case)
    if (message.case === 'header') yield { kind: 'head', head: headOf(message.value) }
    else if (message.case !== undefined) yield frameOf(message)
  }
  order.end()
}

function frameOf(message: Rest): HttpFrame<never> {
  if (message.case === 'trailer') return { kind: 'trailer' }
  return { kind: message.case === 'data' ? 'data' : 'upgraded', data: message.value.data }
}

type Case = 'header' | 'data' | 'trailer' | 'upgradeData'

/** What may follow what. */
const NEXT: Record<Case | 'start', readonly Case[]> = {
  start: ['header'],
  header: ['data', 'trailer'],
  data: ['data', 'trailer'],
  trailer: ['upgradeData'],
  upgradeData: ['upgradeData'],
}

class Order {
  #at: Case | 'start' = 'start'

  take(next: Case | undefined): void {
    if (!next || !NEXT[this.#at].includes(next)) throw disorder(`${next ?? 'an empty message'} after ${this.#at}`)
    this.#at = next
  }

  end(): void {
    if (this.#at !== 'trailer' && this.#at !== 'upgradeData') throw disorder(`the end after ${this.#at}`)
  }
}

const disorder = (what: string) =>
  new Failure('invalid', `a peer breaks the rules of HTTP over gRPC: ${what}`, { reason: 'OutOfOrder' })

function decoded<S extends DescMessage>(schema: S, bytes: Uint8Array): MessageShape<S> {
  try {
    return fromBinary(schema, bytes)
  } catch (cause) {
    throw new Failure('invalid', 'a peer sent a message that cannot be read', { reason: 'OutOfOrder', cause })
  }
}

type RequestHeader = Extract<MessageShape<typeof HttpRequestSchema>['message'], { case: 'header' }>['value']
type ImpersonationConfig = NonNullable<MessageShape<typeof HeaderExtraSchema>['impConfig']>
type ResponseHeader = Extract<MessageShape<typeof HttpResponseSchema>['message'], { case: 'header' }>['value']

function requestHead({ request, extra, contentLength }: RequestHeader): RequestHead {
  if (!request?.method || !request.urlPath) throw disorder('a request without method or path')
  if (contentLength !== undefined && contentLength < -1n) throw disorder('a negative length')
  const unpacked = extra && anyUnpack(extra, HeaderExtraSchema)
  // As whom to act would be in it: a request that we misunderstand must not be made with the agent's own rights.
  if (extra && !unpacked) throw disorder(`an extra of type ${extra.typeUrl.slice(0, 100)}`)
  return {
    method: request.method,
    path: request.urlPath,
    query: valuesOf(request.query),
    headers: valuesOf(request.header),
    length: contentLength === undefined || contentLength < 0n ? undefined : Number(contentLength),
    impersonation: unpacked?.impConfig && impersonationOf(unpacked.impConfig),
  }
}

/** A message in which nothing is set asks for none. */
function impersonationOf({ username, groups, uid, extra }: ImpersonationConfig): Impersonation | undefined {
  if (!username && groups.length === 0 && !uid && extra.length === 0) return undefined
  return { user: username, groups, uid, extra: Object.fromEntries(extra.map(({ key, val }) => [key, val])) }
}

function responseHead({ response }: ResponseHeader): ResponseHead {
  if (!response) throw disorder('an answer without status')
  const { statusCode, status, header } = response
  if (statusCode < 100 || statusCode > 599) throw disorder(`status ${statusCode}`)
  return { status: statusCode, reason: status.replace(/^\d+ ?/, ''), headers: valuesOf(header) }
}

/** Without a prototype: a name such as `__proto__` is a name like others. */
function valuesOf(map: Record<string, { value: string[] }>): Values {
  const values: Record<string, readonly string[]> = Object.create(null)
  for (const [key, { value }] of Object.entries(map)) values[key] = value
  return values
}
