import { Failure } from '../../std/index.ts'

/** Keeps the beginning and the end of what comes, and counts what was between: a program may write without end, a byte at a time. */
export function createClipped(most: number) {
  const head = createWhole(Math.floor(most / 4))
  const ofTail = most - Math.floor(most / 4)
  /** The end, as a ring: the oldest byte is the next one to be written over. */
  let ring = Buffer.alloc(0)
  let at = 0
  let all = 0
  const tail = () =>
    all - head.size() > ofTail ? Buffer.concat([ring.subarray(at), ring.subarray(0, at)]) : ring.subarray(0, at)
  return {
    add(bytes: Buffer): void {
      all += bytes.length
      const first = bytes.subarray(0, Math.floor(most / 4) - head.size())
      head.add(first)
      const rest = bytes.subarray(first.length).subarray(-ofTail)
      if (rest.length === 0) return
      if (ring.length === 0) ring = Buffer.alloc(ofTail)
      const copied = rest.copy(ring, at)
      at = rest.copy(ring, 0, copied) || at + copied
    },
    /** All bytes that came. */
    size: () => all,
    isCut: () => all > most,
    text(): string {
      const [first, last] = [head.bytes(), tail()]
      if (all <= most) return Buffer.concat([first, last]).toString('utf8')
      const begun = withoutHalfEnd(first)
      const ended = withoutHalfBeginning(last)
      const left = all - begun.length - ended.length
      return `${begun.toString('utf8')}\n[... ${left} bytes are left out here ...]\n${ended.toString('utf8')}`
    },
  }
}

/** Keeps all that comes, and throws `too-large` where that is more than `most`: a file is never made of two ends. */
export function createWhole(most: number) {
  let kept = Buffer.alloc(0)
  let size = 0
  return {
    add(bytes: Buffer): void {
      const wanted = size + bytes.length
      if (wanted > most) throw new Failure('too-large', `more than ${most} bytes came.`)
      if (wanted > kept.length) {
        const larger = Buffer.alloc(Math.min(most, Math.max(2 * kept.length, wanted)))
        kept.copy(larger, 0, 0, size)
        kept = larger
      }
      bytes.copy(kept, size)
      size = wanted
    },
    size: () => size,
    bytes: () => kept.subarray(0, size),
  }
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && byte >> 6 === 0b10

/** Without the character of UTF-8 that has only begun. */
function withoutHalfEnd(bytes: Buffer): Buffer {
  let at = bytes.length - 1
  while (at > bytes.length - 4 && isContinuation(bytes[at])) at -= 1
  const byte = bytes[at] ?? 0
  const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
  return at + length > bytes.length ? bytes.subarray(0, at) : bytes
}

/** Without what is left of a character of UTF-8. */
function withoutHalfBeginning(bytes: Buffer): Buffer {
  let at = 0
  while (at < 3 && isContinuation(bytes[at])) at += 1
  return bytes.subarray(at)
}
