import { createHash } from 'node:crypto'
import { createReadStream, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { type Dispatcher, EnvHttpProxyAgent, fetch, type Response } from 'undici'
import { type Clock, Failure, isFailure, pause, seconds } from '../../std/index.ts'

/** A host that does not let us in by then counts as none: the next way is waiting. */
const CONNECT_LIMIT = seconds(5)
/** An answer of which so little comes in so long is cut, the first byte and what proxies do before it included. */
const WINDOW = seconds(10)
const LEAST_IN_WINDOW = 100_000
/** What was cut is asked for again, so many times in a row as the attempts before it brought less than a megabyte. */
const ATTEMPTS = 3
const PROGRESS = 1_000_000
const LONGEST_TEXT = 4_000_000

/** How sites are asked. */
export interface Fetching {
  dispatcher: Dispatcher
  /** For whoever keeps copies, where it wants a password. */
  authorization?: string | undefined
  clock: Clock
  signal: AbortSignal
}

/** Through the proxies that the environment names, if it does. */
export function dispatcherFor(env: Record<string, string | undefined>): Dispatcher {
  const setting = (name: string) => env[name] ?? env[name.toUpperCase()] ?? ''
  const proxies = { httpProxy: setting('http_proxy'), httpsProxy: setting('https_proxy'), noProxy: setting('no_proxy') }
  try {
    // Over HTTP/2 half a megabyte is on its way at most, which is a fraction of what a long line carries over HTTP/1.1.
    const limits = { connect: { timeout: CONNECT_LIMIT }, connectTimeout: CONNECT_LIMIT, allowH2: false }
    return new EnvHttpProxyAgent({ ...limits, ...proxies })
  } catch (cause) {
    throw new Failure('invalid', 'http_proxy or https_proxy of the environment is no address', {
      remedy: 'Write it like http://proxy.example:3128.',
      cause,
    })
  }
}

/** A short text. A site that is out of order for a moment is asked again; one that cannot be reached is not. */
export const fetchText = (url: string, fetching: Fetching): Promise<string> =>
  insist(fetching, { isWorthIt: ({ reason }) => reason === OUT_OF_ORDER }, () =>
    answerOf({ url }, fetching, async ({ body }) => {
      const parts: Uint8Array[] = []
      let length = 0
      for await (const part of body) {
        parts.push(part)
        length += part.length
        if (length > LONGEST_TEXT) throw new Failure('too-large', `${url} answers more than ${LONGEST_TEXT} bytes`)
      }
      return Buffer.concat(parts).toString()
    }),
  )

export interface Wanted {
  url: string
  file: string
  /** What the file must be. */
  sha256: string
  /** How many bytes of the file are there, and how many it will have as far as that is known. */
  onProgress: (done: number, total: number) => void
}

/** Brings the file, from where an earlier attempt or an earlier run was cut off. What is not what it must be is removed. */
export async function fetchFile(wanted: Wanted, fetching: Fetching): Promise<void> {
  const { url, file, sha256, onProgress } = wanted
  const size = sizeOf(file)
  if (size > 0 && (await sumOf(file, fetching)) === sha256) return onProgress(size, size)
  const isPieced = await fetchRest(wanted, fetching)
  let sum = await sumOf(file, fetching)
  if (sum !== sha256 && isPieced) {
    // The pieces may be of different files: once more, from the beginning.
    rmSync(file)
    await fetchRest(wanted, fetching)
    sum = await sumOf(file, fetching)
  }
  if (sum === sha256) return
  rmSync(file)
  throw new Failure('invalid', `${url} has the SHA-256 ${sum}, and ${sha256} was announced: not used`)
}

/** Answers whether the file was put together from several answers. */
async function fetchRest(wanted: Wanted, fetching: Fetching): Promise<boolean> {
  let isPieced = false
  const brought = () => sizeOf(wanted.file)
  await insist(fetching, { isWorthIt: (failure) => isFailure(failure, 'unavailable', 'timeout'), brought }, async () => {
    isPieced ||= sizeOf(wanted.file) > 0
    await attempt(wanted, fetching)
  })
  return isPieced
}

async function attempt({ url, file, onProgress }: Wanted, fetching: Fetching): Promise<void> {
  const have = sizeOf(file)
  const range = have > 0 ? `bytes=${have}-` : undefined
  await answerOf({ url, range }, fetching, async ({ status, body, headers }) => {
    // There is no rest: the file is whole, or no part of this one.
    if (status === NO_SUCH_RANGE) return onProgress(have, have)
    const isRest = status === PARTIAL && headers.get('content-range')?.startsWith(`bytes ${have}-`) === true
    if (status === PARTIAL && !isRest) throw new Failure('invalid', `${url} answers another part than it was asked for`)
    let done = isRest ? have : 0
    const total = done + Number(headers.get('content-length') ?? 0)
    onProgress(done, total)
    const handle = await onDisk(file, open(file, isRest ? 'a' : 'w'))
    try {
      for await (const part of body) {
        await onDisk(file, handle.writeFile(part))
        done += part.length
        onProgress(done, Math.max(total, done))
      }
    } finally {
      await handle.close()
    }
  })
}

/** A full disk is no fault of the line, and is not tried again. */
const onDisk = <T>(file: string, work: Promise<T>): Promise<T> =>
  work.catch((thrown: unknown) => {
    throw Failure.from(thrown, file)
  })

interface Insistence {
  isWorthIt(failure: Failure): boolean
  /** How much there is already: attempts that bring much are not counted. */
  brought?: () => number
}

async function insist<T>(
  { clock, signal }: Fetching,
  { isWorthIt, brought = () => 0 }: Insistence,
  work: () => Promise<T>,
): Promise<T> {
  for (let vain = 0; ; ) {
    const before = brought()
    try {
      return await work()
    } catch (thrown) {
      vain = brought() - before > PROGRESS ? 0 : vain + 1
      if (!(thrown instanceof Failure) || !isWorthIt(thrown) || vain === ATTEMPTS) throw thrown
    }
    await pause(clock, seconds(1), signal)
  }
}

const PARTIAL = 206
const NO_SUCH_RANGE = 416
const OUT_OF_ORDER = 'OutOfOrder'

interface Asked {
  url: string
  range?: string | undefined
}

interface Answer {
  status: number
  headers: Response['headers']
  body: AsyncIterable<Uint8Array>
}

/** Asks, and lets `read` have the answer while it comes. Nothing of it stays open. */
async function answerOf<T>({ url, range }: Asked, fetching: Fetching, read: (answer: Answer) => Promise<T>): Promise<T> {
  const { dispatcher, authorization, clock, signal } = fetching
  const stop = new AbortController()
  let came = 0
  let cancel = clock.after(WINDOW, look)
  function look() {
    if (came < LEAST_IN_WINDOW) return stop.abort(new DOMException(`only ${came} bytes in ${WINDOW / 1000} s`, 'TimeoutError'))
    came = 0
    cancel = clock.after(WINDOW, look)
  }
  async function* counted(body: AsyncIterable<Uint8Array> | Uint8Array[]) {
    for await (const part of body) {
      came += part.length
      yield part
    }
  }
  // A file that is packed for the way would have other bytes, and another length.
  const headers = { 'accept-encoding': 'identity', ...(range && { range }), ...(authorization && { authorization }) }
  try {
    const response = await fetch(url, { dispatcher, signal: AbortSignal.any([signal, stop.signal]), headers })
    const { ok, status, body } = response
    if (!ok && !(status === NO_SUCH_RANGE && range)) {
      throw status >= 500 || status === 429
        ? new Failure('unavailable', `${url} answers ${status}`, { reason: OUT_OF_ORDER })
        : new Failure('not-found', `${url} answers ${status}`)
    }
    return await read({ status, headers: response.headers, body: counted(body ?? []) })
  } catch (thrown) {
    throw toFailure(thrown, url, signal)
  } finally {
    cancel()
    stop.abort()
  }
}

/** Whatever breaks on the way may hold the next time; what it was is at the end of a chain of causes. */
function toFailure(thrown: unknown, url: string, signal: AbortSignal): Failure {
  if (thrown instanceof Failure) return thrown
  if (signal.aborted) return new Failure('cancelled', `${url}: stopped`, { cause: thrown })
  let why = thrown
  while (why instanceof Error && why.cause instanceof Error) why = why.cause
  return new Failure('unavailable', `${url}: ${why instanceof Error ? why.message : why}`, { cause: thrown })
}

async function sumOf(file: string, { signal }: Fetching): Promise<string> {
  const hash = createHash('sha256')
  await onDisk(file, pipeline(createReadStream(file), hash, { signal }))
  return hash.digest('hex')
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
