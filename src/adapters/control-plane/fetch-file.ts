import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, rmSync, statSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Dispatcher, EnvHttpProxyAgent, fetch, type Response } from 'undici'
import { type Clock, Failure, isFailure, pause, seconds } from '../../std/index.ts'

/** A network that does not answer by then counts as none: the next way is waiting. */
const PATIENCE = seconds(5)
/** A line on which nothing comes for so long is cut. */
const SILENCE = seconds(15)
/** One that was cut is taken up again, as long as each attempt brings something, and so many times where it does not. */
const ATTEMPTS = 3
const LONGEST_TEXT = 4_000_000

/** How files are fetched: through the proxy that the environment names, if it does. */
export const openLine = (): Dispatcher =>
  new EnvHttpProxyAgent({ connect: { timeout: PATIENCE }, headersTimeout: PATIENCE, bodyTimeout: SILENCE })

export interface Fetching {
  line: Dispatcher
  clock: Clock
  signal: AbortSignal
}

export async function fetchText(url: string, fetching: Fetching): Promise<string> {
  const { body } = await ask(url, {}, fetching)
  let text = ''
  try {
    for await (const part of Readable.fromWeb(body).setEncoding('utf8')) {
      text += part
      if (text.length > LONGEST_TEXT) throw new Failure('too-large', `${url} answers more than ${LONGEST_TEXT} characters`)
    }
    return text
  } catch (thrown) {
    throw lost(thrown, url, fetching)
  }
}

export interface Wanted {
  url: string
  file: string
  /** What the file must be. */
  sha256: string
  /** How many bytes of the file are there, and how many it will have as far as that is known. */
  told: (done: number, total: number) => void
}

/** Brings the file, from where an earlier attempt or an earlier run was cut off. What is not what it must be is removed. */
export async function fetchFile(wanted: Wanted, fetching: Fetching): Promise<void> {
  const { url, file, sha256 } = wanted
  const had = sizeOf(file)
  await fetchRest(wanted, fetching)
  let sum = await sumOf(file, fetching)
  if (sum !== sha256 && had > 0) {
    // What was there may not have been a part of it: once more, from the beginning.
    rmSync(file)
    await fetchRest(wanted, fetching)
    sum = await sumOf(file, fetching)
  }
  if (sum === sha256) return
  rmSync(file)
  throw new Failure('invalid', `${url} has the SHA-256 ${sum}, and ${sha256} was announced: not used`)
}

async function fetchRest(wanted: Wanted, fetching: Fetching): Promise<void> {
  const { clock, signal } = fetching
  for (let vain = 0; ; ) {
    const before = sizeOf(wanted.file)
    try {
      return await attempt(wanted, before, fetching)
    } catch (thrown) {
      vain = sizeOf(wanted.file) > before ? 0 : vain + 1
      if (!isFailure(thrown, 'unavailable', 'timeout') || vain === ATTEMPTS) throw thrown
    }
    await pause(clock, seconds(1), signal)
  }
}

async function attempt({ url, file, told }: Wanted, have: number, fetching: Fetching): Promise<void> {
  const { status, body, length } = await ask(url, have > 0 ? { range: `bytes=${have}-` } : {}, fetching)
  // There is no rest: a run was ended before it could look at what it had.
  if (status === NO_SUCH_RANGE) return body.cancel()
  const isRest = status === 206
  let done = isRest ? have : 0
  const total = done + length
  const counted = async function* (parts: AsyncIterable<Uint8Array>) {
    for await (const part of parts) {
      done += part.length
      told(done, Math.max(total, done))
      yield part
    }
  }
  told(done, total)
  try {
    await pipeline(Readable.fromWeb(body), counted, createWriteStream(file, { flags: isRest ? 'a' : 'w' }))
  } catch (thrown) {
    throw lost(thrown, url, fetching)
  }
}

const NO_SUCH_RANGE = 416

interface Answered {
  status: number
  body: NonNullable<Response['body']>
  length: number
}

async function ask(url: string, headers: Record<string, string>, fetching: Fetching): Promise<Answered> {
  const { line: dispatcher, signal } = fetching
  // A file that is packed for the way would have other bytes, and another length.
  const asked = { dispatcher, signal, headers: { ...headers, 'accept-encoding': 'identity' } }
  const response = await fetch(url, asked).catch((thrown: unknown) => {
    throw lost(thrown, url, fetching)
  })
  const { ok, status, body } = response
  if (body && (ok || (status === NO_SUCH_RANGE && headers.range))) {
    return { status, body, length: Number(response.headers.get('content-length') ?? 0) }
  }
  await body?.cancel()
  throw new Failure(status >= 500 || status === 429 ? 'unavailable' : 'not-found', `${url} answers ${status}`)
}

/** Whatever breaks on the way may hold the next time; what it was is at the end of a chain of causes. */
function lost(thrown: unknown, url: string, { signal }: Fetching): Failure {
  if (thrown instanceof Failure) return thrown
  if (signal.aborted) return new Failure('cancelled', `${url}: stopped`, { cause: thrown })
  let why = thrown
  while (why instanceof Error && why.cause instanceof Error) why = why.cause
  return new Failure('unavailable', `${url}: ${why instanceof Error ? why.message : why}`, { cause: thrown })
}

async function sumOf(file: string, { signal }: Fetching): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash, { signal })
  return hash.digest('hex')
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
