import { Failure } from '../../std/index.ts'

/** Reads what RFC 4251 calls strings and numbers, one behind the other. Each throws `invalid` where there is less than it says. */
export interface WireReader {
  text(): string
  bytes(): Buffer
  uint32(): number
  uint64(): bigint
  /** Where the next value begins. */
  readonly at: number
  readonly isAtEnd: boolean
}

export function wireReader(from: Buffer): WireReader {
  let at = 0
  const take = (length: number): Buffer => {
    if (length > from.length - at) throw new Failure('invalid', 'it ends too early')
    at += length
    return from.subarray(at - length, at)
  }
  const bytes = () => take(take(4).readUInt32BE())
  return {
    bytes,
    text() {
      const taken = bytes()
      const text = taken.toString('utf8')
      if (!Buffer.from(text, 'utf8').equals(taken)) throw new Failure('invalid', 'a text in it is no UTF-8')
      return text
    },
    uint32: () => take(4).readUInt32BE(),
    uint64: () => take(8).readBigUInt64BE(),
    get at() {
      return at
    },
    get isAtEnd() {
      return at === from.length
    },
  }
}

/** Each as a string of RFC 4251. */
export const strings = (...values: readonly (string | Uint8Array)[]): Buffer =>
  Buffer.concat(
    values.flatMap((value) => {
      const bytes = Buffer.from(value)
      return [uint32(bytes.length), bytes]
    }),
  )

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(value)
  return bytes
}
