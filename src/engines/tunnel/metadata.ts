import { create } from '@bufbuild/protobuf'
import { type CallEnd, endFrom, type TextMetadata } from '../../adapters/grpc/index.ts'
import { type MetaValues, MetaValuesSchema } from '../../rpc/index.ts'
import { Failure } from '../../std/index.ts'

type Meta = Record<string, MetaValues>

/** Characters of all keys and values, as HTTP/2 peers commonly allow for headers. */
const MOST = 8192
/** gRPC's libraries take these keys as headers. */
const KEY = /^[a-z0-9._-]+$/
const VALUE = /^[ -~]*$/
/** Each hop has its own; who may talk to kas is nobody's business behind it; and for what reason kas fails, no agent says. */
const OF_THE_HOP =
  /^(grpc-.*|kas-hop-.*|berth-.*|.*-bin|authorization|proxy-authorization|cookie|content-type|content-length|user-agent|te|host|connection|accept-encoding)$/

/** Keeps the metadata that may go on to the next hop: text, and nothing that belongs to the hop itself. Throws when it is too much. */
export function forwardable(text: TextMetadata): TextMetadata {
  const kept: [string, readonly string[]][] = []
  let size = 0
  for (const [key, values] of Object.entries(text)) {
    if (!KEY.test(key) || OF_THE_HOP.test(key)) continue
    const printable = values.filter((value) => VALUE.test(value))
    if (printable.length === 0) continue
    size += printable.reduce((sum, value) => sum + key.length + value.length, 0)
    if (size > MOST) throw tooMuch()
    kept.push([key, printable])
  }
  return Object.fromEntries(kept)
}

const tooMuch = () =>
  new Failure('invalid', `the metadata is larger than ${MOST} characters`, {
    reason: 'InvalidRequest',
    remedy: 'Send less of it; what is large belongs into messages.',
  })

export const metaFrom = (text: TextMetadata): Meta =>
  Object.fromEntries(
    Object.entries(forwardable(text)).map(([key, value]) => [key, create(MetaValuesSchema, { value: [...value] })]),
  )

/** The metadata of an answer: when it is too much, it is not who asked that has to send less. */
export function answerMetaFrom(text: TextMetadata): Meta {
  try {
    return metaFrom(text)
  } catch (cause) {
    const message = `the metadata of the answer is larger than ${MOST} characters`
    throw new Failure('too-large', message, { reason: 'MetadataTooLarge', cause })
  }
}

/** How an answer ends. A trailer that cannot travel makes it fail, and nothing else: the stream that carries it goes on to its end. */
export function endingOf(
  trailer: TextMetadata,
  failure: { thrown: unknown } | undefined,
): { meta: Meta; end: CallEnd | undefined } {
  const end = failure && endFrom(failure.thrown)
  try {
    return { meta: answerMetaFrom({ ...trailer, ...end?.trailer }), end }
  } catch (thrown) {
    const instead = end ?? endFrom(thrown)
    return { meta: metaFrom(instead.trailer), end: instead }
  }
}

export const textFrom = (meta: Meta): TextMetadata =>
  forwardable(Object.fromEntries(Object.entries(meta).map(([key, { value }]) => [key, value])))
