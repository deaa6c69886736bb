import { type Clock, Failure } from '../../std/index.ts'
import type { Share } from './answers.ts'

/** While there is no place for more of it, nothing is read: the other side waits. */
export async function textWithin(
  share: Share,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) {
    chunks.push(chunk)
    await share.grow(chunk.length, signal)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  share.judge(text)
  return text
}

/** Bytes of a refusal that are read. A server that strangers run may refuse without end. */
const LONGEST_REFUSAL = 64 * 2 ** 10

/** What comes after it is not waited for: whoever leaves the loop destroys the body. */
export async function firstBytesOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= LONGEST_REFUSAL) break
    }
  } catch {
    // Half a refusal is one too: its status has come.
  }
  return Buffer.concat(chunks).subarray(0, LONGEST_REFUSAL).toString('utf8')
}

/** No object is this large. A server that strangers run may send a line without end. */
const LONGEST_LINE = 16 * 2 ** 20

/** Where a part of a line is held. */
export interface LineBounds {
  share: Share
  clock: Clock
  signal: AbortSignal | undefined
  /** It has a place, which nobody may hold for ever. The answer calls it off. */
  hurry: () => () => void
}

/** Each piece is looked at once: a line that comes in a thousand pieces must not cost a thousand times its length. */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>, bounds?: LineBounds): AsyncIterable<string> {
  const decoder = new TextDecoder()
  let begun: string[] = []
  let length = 0
  let calm: (() => void) | undefined
  const clear = () => {
    begun = []
    length = 0
    calm?.()
    calm = undefined
    bounds?.share.clear()
  }
  try {
    for await (const chunk of chunks) {
      const pieces = decoder.decode(chunk, { stream: true }).split('\n')
      const rest = pieces.pop() ?? ''
      for (const piece of pieces) {
        const line = begun.join('') + piece
        if (length > 0) clear()
        yield* handedOver(line, bounds)
      }
      await bounds?.share.ready(bounds.signal)
      if (rest === '') continue
      begun.push(rest)
      length += rest.length
      if (length > LONGEST_LINE) throw new Failure('too-large', `the answer has a line of more than ${LONGEST_LINE} characters`)
      if (await bounds?.share.grow(rest.length, bounds.signal)) calm ??= bounds?.hurry()
    }
    const last = begun.join('')
    if (last) yield* handedOver(last, bounds)
  } finally {
    clear()
  }
}

/** It takes no longer to parse a character, milliseconds. Who has a line may wait for something else, too. */
const LONGEST_OF_CHARACTER = 0.0005

/** Whoever takes the line parses it, and asks for the next when that is done. */
function* handedOver(line: string, bounds: LineBounds | undefined): Iterable<string> {
  if (!bounds) return yield line
  const { share, clock } = bounds
  share.judge(line)
  const began = clock.now()
  yield line
  share.spend(Math.min(clock.now() - began, line.length * LONGEST_OF_CHARACTER))
}
