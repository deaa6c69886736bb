import { lookup as systemLookup } from 'node:dns'
import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { type AddressRule, Failure, guardedLookup, isRefusedHost, kindOfAddress, kindOfHost, seconds } from '../../std/index.ts'

/** A POST to somewhere that a stranger chose. */
export interface Letter {
  url: URL
  headers: Readonly<Record<string, string>>
  body: string
}

export interface Receipt {
  status: number
  /** The beginning of what was answered. */
  text: string
  /** An address of the own machines or networks answered. Its words are none of a stranger's business. */
  isOwn: boolean
}

export interface SenderOptions {
  /** It may go to addresses of the own machines and networks, and then also without encryption. To metadata it never may. */
  allowLocal: boolean
  /** For the whole exchange, milliseconds. */
  timeout?: number
  lookup?: LookupFunction
}

/**
 * Sends a letter and gives the answer, whatever it is; a redirect is an answer too and is not followed. No answer is `unavailable`
 * or `timeout`, an address that is refused `invalid`. Failures name the host and nothing else of the URL, which may hold a secret;
 * of hosts in the own networks they do not tell how they failed either, or they would be a port scanner.
 */
export type Send = (letter: Letter, signal?: AbortSignal) => Promise<Receipt>

const MOST_BYTES = 16_384

export function createSender(options: SenderOptions): Send {
  const ask = createAsk(options, MOST_BYTES)
  return async ({ url, headers, body }, signal) => {
    const { status, text, isOwn } = await ask({ url, method: 'POST', headers, body }, signal)
    return { status, text, isOwn }
  }
}

/** A page is read from somewhere that a stranger chose, under the same rules. */
export interface FetchedPage {
  status: number
  text: string
  /** The text is all that was there. */
  isWhole: boolean
  /** A redirect leads there, and is not followed. */
  location: string | undefined
}

export type ReadPage = (url: URL, signal?: AbortSignal) => Promise<FetchedPage>

interface ReaderOptions extends SenderOptions {
  /** Bytes of a page. */
  most: number
  /** PEM of the authorities by which certificates are checked, instead of the system's. */
  ca?: string | undefined
}

export function createReader({ most, ...options }: ReaderOptions): ReadPage {
  const ask = createAsk(options, most)
  return (url, signal) => ask({ url, method: 'GET', headers: {}, body: '' }, signal)
}

function createAsk(
  { allowLocal, timeout = seconds(10), lookup = systemLookup, ca }: SenderOptions & Pick<ReaderOptions, 'ca'>,
  most: number,
): (request: Letter & { method: 'GET' | 'POST' }, signal?: AbortSignal) => Promise<FetchedPage & Receipt> {
  const rule: AddressRule = allowLocal ? 'own-too' : 'public'
  return async ({ url, method, headers, body }, signal) => {
    judge(url, rule)
    const way = wayTo(url, lookup)
    const late = AbortSignal.timeout(timeout)
    const length = method === 'POST' ? { 'content-length': String(Buffer.byteLength(body)) } : {}
    const options = {
      method,
      headers: { ...headers, ...length, 'user-agent': 'berth' },
      lookup: guardedLookup(way.lookup, rule, () => refusal(url, rule)),
      // Letters are few, and to many hosts: a connection is not kept.
      agent: false as const,
      signal: AbortSignal.any(signal ? [late, signal] : [late]),
      ...(ca === undefined ? {} : { ca }),
    }
    try {
      return { ...(await exchange(url, options, { body, most })), isOwn: way.isOwn() }
    } catch (thrown) {
      if (thrown instanceof Failure) throw thrown
      throw noAnswer(url, thrown, { isLate: late.aborted, isOwn: way.isOwn(), what: method === 'GET' ? 'give it' : 'take it' })
    }
  }
}

/** Notes what a name turned out to be. */
function wayTo(url: URL, lookup: LookupFunction): { lookup: LookupFunction; isOwn: () => boolean } {
  const literal = kindOfHost(url)
  let isOwn = literal !== undefined && literal !== 'public'
  return {
    isOwn: () => isOwn,
    lookup: (hostname, options, answer) =>
      lookup(hostname, options, (error, found, family) => {
        const addresses = typeof found === 'string' ? [found] : (found ?? []).map(({ address }) => address)
        isOwn ||= !error && addresses.some((address) => kindOfAddress(address) !== 'public')
        answer(error, found, family)
      }),
  }
}

function judge(url: URL, rule: AddressRule): void {
  const isPlain = url.protocol === 'http:' && rule === 'own-too'
  if (url.protocol !== 'https:' && !isPlain)
    throw new Failure('invalid', `its URL begins with ${url.protocol}//`, { remedy: 'Use one that begins with https://' })
  if (isRefusedHost(url, rule)) throw refusal(url, rule)
}

const refusal = ({ hostname }: URL, rule: AddressRule): Failure =>
  rule === 'public'
    ? new Failure('invalid', `${hostname} leads to an address of this installation's own machines or networks`, {
        remedy: 'Use an address that the host has for others, or ask the platform engineers to allow local targets',
      })
    : new Failure('invalid', `${hostname} leads to a link-local, metadata or reserved address`, {
        remedy: 'Use an address that the host has for others',
      })

function noAnswer({ hostname }: URL, thrown: unknown, how: { isLate: boolean; isOwn: boolean; what: string }): Failure {
  const { isLate, isOwn, what } = how
  if (isOwn && (isLate || !isCallOff(thrown))) return new Failure('unavailable', `${hostname} did not ${what}`, { cause: thrown })
  if (isLate) return new Failure('timeout', `${hostname} did not answer in time`, { cause: thrown })
  if (isCallOff(thrown)) return new Failure('cancelled', 'called off', { cause: thrown })
  const why = thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? ` (${thrown.code})` : ''
  return new Failure('unavailable', `${hostname} did not answer${why}`, { cause: thrown })
}

const isCallOff = (thrown: unknown): boolean => Failure.from(thrown).code === 'cancelled'

const exchange = (
  url: URL,
  options: Parameters<typeof tlsRequest>[1],
  { body, most }: { body: string; most: number },
): Promise<FetchedPage> =>
  new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? tlsRequest : plainRequest)(url, options, (response) => {
      const { statusCode: status = 0, headers } = response
      beginningOf(response, most).then((read) => resolve({ status, location: headers.location, ...read }), reject)
    })
    request.on('error', reject)
    request.end(body)
  })

async function beginningOf(response: IncomingMessage, most: number): Promise<Pick<FetchedPage, 'text' | 'isWhole'>> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response) {
    const piece = Buffer.from(chunk)
    chunks.push(piece)
    bytes += piece.length
    if (bytes > most) break
  }
  return { text: Buffer.concat(chunks).subarray(0, most).toString('utf8'), isWhole: bytes <= most }
}
