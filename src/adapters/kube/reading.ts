import { Failure } from '../../std/index.ts'
import type { AnswerShare } from './answers.ts'

/** While there is no place for more of it, nothing is read: the other side waits. */
export async function textWithin(
  share: AnswerShare,
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

/** The rest is not waited for: leaving the loop destroys the body. */
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

/** The memory that holds a part of a line. */
interface LineBounds {
  share: AnswerShare
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
      const characters = length + chunk.length
      const began = performance.now()
      try {
        for (const piece of pieces) {
          const line = begun.join('') + piece
          if (length > 0) clear()
          bounds?.share.judge(line)
          yield line
        }
      } finally {
        bounds?.share.spend(timeOf({ lines: pieces.length, characters, passed: performance.now() - began }))
      }
      await bounds?.share.ready(bounds.signal)
      if (rest === '') continue
      begun.push(rest)
      length += rest.length
      if (length > LONGEST_LINE) throw new Failure('too-large', `the answer has a line of more than ${LONGEST_LINE} characters`)
      if (await bounds?.share.grow(rest.length, bounds.signal)) calm ??= bounds?.hurry()
    }
    const last = begun.join('')
    bounds?.share.judge(last)
    if (last) yield last
  } finally {
    clear()
  }
}

/** A line takes at least so many milliseconds, and a character at most so many. */
const LINE = 0.001
const CHARACTER = 0.0005

/**
 * The milliseconds to charge for lines. The caller parses each line before it asks for the next one, but it may wait for other things
 * meanwhile; and of many short lines the clock sees too little.
 */
const timeOf = ({ lines, characters, passed }: { lines: number; characters: number; passed: number }): number =>
  lines * LINE + Math.min(passed, characters * CHARACTER)
