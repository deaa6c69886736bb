import { Failure } from '../../std/index.ts'
import { uint32, uint64 } from './wire.ts'

/** The packets of SFTP, version 3: draft-ietf-secsh-filexfer-02. */
export const PACKET = {
  init: 1,
  version: 2,
  open: 3,
  close: 4,
  read: 5,
  write: 6,
  lstat: 7,
  fstat: 8,
  setstat: 9,
  fsetstat: 10,
  opendir: 11,
  readdir: 12,
  remove: 13,
  mkdir: 14,
  rmdir: 15,
  realpath: 16,
  stat: 17,
  rename: 18,
  readlink: 19,
  symlink: 20,
  status: 101,
  handle: 102,
  data: 103,
  name: 104,
  attrs: 105,
  extended: 200,
  extendedReply: 201,
} as const

/** Beyond it a client keeps to no rule. */
const LONGEST = 256 * 1024
/** Of a piece of a file: with its head a packet is no longer than that. */
export const MOST_BYTES = LONGEST - 1024

/** Of a file, as far as somebody says. Times are seconds. */
export interface FileAttributes {
  size?: number
  owner?: { uid: number; gid: number }
  /** With the kind of file in it, where it comes from a file. */
  mode?: number
  times?: { accessed: number; modified: number }
}

const HAS = { size: 1, owner: 2, mode: 4, times: 8, more: 0x80_00_00_00 } as const

export type PacketReader = ReturnType<typeof readerOf>

/** Takes a packet apart. Throws `invalid` where it ends too early. */
export function readerOf(bytes: Buffer) {
  let at = 0
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Failure('invalid', 'a packet of SFTP is too short')
    at += length
    return bytes.subarray(at - length, at)
  }
  const number = () => take(4).readUInt32BE()
  const long = () => {
    const value = take(8).readBigUInt64BE()
    if (value > Number.MAX_SAFE_INTEGER) throw new Failure('invalid', 'a place in a file is too large')
    return Number(value)
  }
  const blob = () => take(number())
  return {
    byte: () => take(1).readUInt8(),
    number,
    long,
    blob,
    text: () => blob().toString('utf8'),
    attributes(): FileAttributes {
      const flags = number()
      const has = (flag: number) => (flags & flag) !== 0
      return {
        ...(has(HAS.size) && { size: long() }),
        ...(has(HAS.owner) && { owner: { uid: number(), gid: number() } }),
        ...(has(HAS.mode) && { mode: number() }),
        ...(has(HAS.times) && { times: { accessed: number(), modified: number() } }),
      }
    },
  }
}

export function packet(type: number, ...parts: readonly Buffer[]): Buffer {
  return Buffer.concat([headOf(type, lengthOf(parts)), ...parts])
}

/** One that ends with these bytes, counted: they are large, and not copied. */
export function packetWith(pieces: readonly Buffer[], type: number, ...parts: readonly Buffer[]): Buffer[] {
  const count = uint32(lengthOf(pieces))
  return [Buffer.concat([headOf(type, lengthOf([...parts, count, ...pieces])), ...parts, count]), ...pieces]
}

const lengthOf = (parts: readonly Buffer[]): number => parts.reduce((sum, { length }) => sum + length, 0)

function headOf(type: number, length: number): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(length + 1)
  head.writeUInt8(type, 4)
  return head
}

export function attributesIn({ size, owner, mode, times }: FileAttributes): Buffer {
  const flags =
    (size === undefined ? 0 : HAS.size) | (owner ? HAS.owner : 0) | (mode === undefined ? 0 : HAS.mode) | (times ? HAS.times : 0)
  return Buffer.concat([
    uint32(flags),
    ...(size === undefined ? [] : [uint64(BigInt(size))]),
    ...(owner ? [uint32(owner.uid), uint32(owner.gid)] : []),
    ...(mode === undefined ? [] : [uint32(mode)]),
    ...(times ? [uint32(times.accessed), uint32(times.modified)] : []),
  ])
}

/** Puts bytes together to whole packets, without their length. Throws `invalid` for one that is too long. */
export async function* packetsOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0)
  const kept: Buffer[] = []
  let size = 0
  for await (const bytes of input) {
    kept.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    size += bytes.byteLength
    const wanted = rest.length >= 4 ? rest.readUInt32BE() + 4 : 4
    if (rest.length + size < wanted) continue
    rest = Buffer.concat([rest, ...kept.splice(0)])
    size = 0
    let at = 0
    while (rest.length - at >= 4) {
      const length = rest.readUInt32BE(at)
      if (length === 0 || length > LONGEST) throw new Failure('invalid', 'a packet of SFTP is too long')
      if (rest.length - at - 4 < length) break
      yield rest.subarray(at + 4, at + 4 + length)
      at += 4 + length
    }
    rest = rest.subarray(at)
  }
}
