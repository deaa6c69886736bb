import { createHash } from 'node:crypto'
import { createReadStream, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { type Dispatcher, EnvHttpProxyAgent, fetch, type Response } from 'undici'
import { type Clock, Failure, isFailure, pause, seconds } from '../../../std/index.ts'
import { addressIn, withoutSecrets } from './address.ts'

/** A host that accepts no connection within this time is given up, because the programs may be had in another way. */
const CONNECT_LIMIT = seconds(5)
/** A request is ended when fewer bytes come in one window. The first window begins before the connection, so proxies count. */
const WINDOW = seconds(10)
const LEAST_IN_WINDOW = 100_000
/** A file is given up after this many attempts in a row after which no more than PROGRESS bytes more of it were there. */
const ATTEMPTS = 3
const PROGRESS = 1_000_000
const LONGEST_TEXT = 4_000_000

/** The means by which sites are asked. */
export interface Fetching {
  dispatcher: Dispatcher
  /** For whoever keeps copies, where it wants a password. */
  authorization?: string | undefined
  clock: Clock
  signal: AbortSignal
}

/** Asks through the proxies that the environment names, if it does. */
export function dispatcherFor(env: Record<string, string | undefined>): Dispatcher {
  const proxies = { httpProxy: proxyIn('http_proxy', env), httpsProxy: proxyIn('https_proxy', env) }
  // Over HTTP/2 half a megabyte is on its way at most, which is a fraction of what a long line carries over HTTP/1.1.
  const limits = { connect: { timeout: CONNECT_LIMIT }, connectTimeout: CONNECT_LIMIT, allowH2: false }
  return new EnvHttpProxyAgent({ ...limits, ...proxies, noProxy: env.no_proxy ?? env.NO_PROXY ?? '' })
}

/** Without a scheme it is an HTTP proxy, as curl takes it. */
function proxyIn(variable: string, env: Record<string, string | undefined>): string {
  const name = env[variable] === undefined ? variable.toUpperCase() : variable
  const given = env[name]
  if (!given) return ''
  const url = addressIn(given.includes('://') ? given : `http://${given}`, /^(https?|socks5?):$/)
  if (url) return url.href
  // The message says all of it: whoever asked goes another way, and tells only the message.
  throw new Failure(
    'invalid',
    `${name} is "${withoutSecrets(given)}"; an address like http://proxy.example:3128 is wanted, with %25 for a % in its password`,
  )
}

/** A short text. A site that is out of order for a moment is asked again; one that cannot be reached is not. */
export const fetchText = (url: string, fetching: Fetching): Promise<string> =>
  retry(fetching, { isWorthIt: ({ reason }) => reason === OUT_OF_ORDER }, () =>
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

interface WantedFile {
  url: string
  file: string
  /** The digest that the file must have. */
  sha256: string
  /** Is told how many bytes of the file are there, and how many it will have as far as that is known. */
  onProgress: (done: number, total: number) => void
}

/** Brings the file, from where an earlier attempt or an earlier run was cut off. What is not what it must be is removed. */
export async function fetchFile(wanted: WantedFile, fetching: Fetching): Promise<void> {
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
async function fetchRest(wanted: WantedFile, fetching: Fetching): Promise<boolean> {
  let isPieced = false
  const brought = () => sizeOf(wanted.file)
  await retry(fetching, { isWorthIt: (failure) => isFailure(failure, 'unavailable', 'timeout'), brought }, async () => {
    isPieced ||= sizeOf(wanted.file) > 0
    await attempt(wanted, fetching)
  })
  return isPieced
}

async function attempt({ url, file, onProgress }: WantedFile, fetching: Fetching): Promise<void> {
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

/**
 * An attempt was not in vain where more is there than ever: a site that begins anew each time could be asked for ever. `brought`: how
 * many bytes are there.
 */
async function retry<T>(
  { clock, signal }: Fetching,
  { isWorthIt, brought = () => 0 }: { isWorthIt: (failure: Failure) => boolean; brought?: () => number },
  work: () => Promise<T>,
): Promise<T> {
  let most = brought()
  for (let attemptsInVain = 0; ; ) {
    try {
      return await work()
    } catch (thrown) {
      attemptsInVain = brought() - most > PROGRESS ? 0 : attemptsInVain + 1
      if (!(thrown instanceof Failure) || !isWorthIt(thrown) || attemptsInVain === ATTEMPTS) throw thrown
      most = Math.max(most, brought())
    }
    await pause(clock, seconds(1), signal)
  }
}

const PARTIAL = 206
const NO_SUCH_RANGE = 416
const OUT_OF_ORDER = 'OutOfOrder'

interface Answer {
  status: number
  headers: Response['headers']
  body: AsyncIterable<Uint8Array>
}

/** Asks, and lets `read` have the answer while it comes. Nothing of it stays open. */
async function answerOf<T>(
  { url, range }: { url: string; range?: string | undefined },
  fetching: Fetching,
  read: (answer: Answer) => Promise<T>,
): Promise<T> {
  const { dispatcher, authorization, clock, signal } = fetching
  const stop = new AbortController()
  let bytesInWindow = 0
  let cancel = clock.after(WINDOW, checkSpeed)
  function checkSpeed() {
    if (bytesInWindow < LEAST_IN_WINDOW)
      return stop.abort(new DOMException(`only ${bytesInWindow} bytes in ${WINDOW / 1000} s`, 'TimeoutError'))
    bytesInWindow = 0
    cancel = clock.after(WINDOW, checkSpeed)
  }
  async function* counted(body: AsyncIterable<Uint8Array> | Uint8Array[]) {
    for await (const part of body) {
      bytesInWindow += part.length
      yield part
    }
  }
  // A file that is packed for the way would have other bytes, and another length.
  const headers = { 'accept-encoding': 'identity', ...(range && { range }), ...(authorization && { authorization }) }
  try {
    const response = await fetch(url, { dispatcher, signal: AbortSignal.any([signal, stop.signal]), headers })
    const { ok, status, body } = response
    if (!ok && !(status === NO_SUCH_RANGE && range)) {
      throw status >= 500 || status === 429 || status === 408
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
  if (why instanceof Error && 'code' in why && why.code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return new Failure('unavailable', `${url}: ${new URL(url).host}, or an https:// proxy on the way to it, speaks no TLS`, {
      cause: thrown,
    })
  return new Failure('unavailable', `${url}: ${why instanceof Error ? why.message : why}`, { cause: thrown })
}

async function sumOf(file: string, { signal }: Fetching): Promise<string> {
  const hash = createHash('sha256')
  await onDisk(file, pipeline(createReadStream(file), hash, { signal }))
  return hash.digest('hex')
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
