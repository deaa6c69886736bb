import { type DescMessage, type DescMethod, fromBinary, type MessageShape } from '@bufbuild/protobuf'
import type { MethodDefinition } from '@grpc/grpc-js'
import { encode } from '../../rpc/index.ts'

/**
 * So much the other side may send ahead, on a connection and in each of its calls. With the 64 KiB of HTTP/2 it would have to wait
 * after every second piece of a body. What a reader does not take is kept, so this is also what one that has paused costs. Bytes.
 */
export const WINDOW = 256 * 2 ** 10

/** A method as grpc-js wants it: path, direction, and how messages become bytes. */
export const definitionOf = <I extends DescMessage, O extends DescMessage>(
  method: DescMethod & { input: I; output: O },
): MethodDefinition<MessageShape<I>, MessageShape<O>> => ({
  path: `/${method.parent.typeName}/${method.name}`,
  requestStream: method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
  responseStream: method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
  requestSerialize: (message) => bufferOf(encode(method.input, message)),
  requestDeserialize: (bytes) => fromBinary(method.input, bytes),
  responseSerialize: (message) => bufferOf(encode(method.output, message)),
  responseDeserialize: (bytes) => fromBinary(method.output, bytes),
})

/** A method whose messages are none of our business: bytes in, bytes out. */
export const rawDefinition = (path: string): MethodDefinition<Uint8Array, Uint8Array> => ({
  path,
  requestStream: true,
  responseStream: true,
  requestSerialize: bufferOf,
  requestDeserialize: (bytes) => bytes,
  responseSerialize: bufferOf,
  responseDeserialize: (bytes) => bytes,
})

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
