import { lookup } from 'node:dns'
import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { Failure, isFailure, minutes, type Secret, seconds } from '../../std/index.ts'
import type { Approach, Pin } from '../git/index.ts'

/** Of whoever asks a server for several things. */
export interface Asking {
  visit: VisitWeb
  /** PEM of authorities that are trusted instead of the machine's. */
  authorities: string | undefined
  /** Whose credential is shown. */
  owner: string
  signal: AbortSignal
}

export interface WebAsk {
  url: URL
  method?: 'GET' | 'HEAD'
  headers?: Readonly<Record<string, string>>
  /** The header of that name. It is for the host of `url` alone: a redirect that leads to another one does not take it along. */
  authorization?: Secret<string> | undefined
  /** PEM of authorities that are trusted instead of the machine's. */
  authorities?: string | undefined
  /** For all of the answer, milliseconds; two minutes without it. */
  within?: number
  signal: AbortSignal
}

export interface WebAnswer {
  status: number
  header(name: string): string | undefined
  /** Where it was found in the end. */
  url: URL
  body: IncomingMessage
  /** It is aborted when the answer has taken too long. */
  late: AbortSignal
}

/** Asks a server of a stranger's choice, each time that it leads on to another one too. Whatever it says is an answer. */
export type VisitWeb = (ask: WebAsk) => Promise<WebAnswer>

/** A server that says nothing for so long is given up. */
const SILENCE = seconds(30)
/** And one that goes on for so long. */
const USUAL_WITHIN = minutes(2)
const MOST_REDIRECTS = 5

/** `approach` says which hosts may be asked, `environment` names the proxies. */
export function createVisit(approach: Approach, environment: Readonly<Record<string, string>>): VisitWeb {
  const kept = { keepAlive: true, timeout: SILENCE, proxyEnv: environment }
  const ways: Ways = {
    plain: new PlainAgent(kept),
    tls: new TlsAgent(kept),
    hasProxy: Object.keys(environment).some((name) => /^https?_proxy$/i.test(name)),
  }
  const visit = async (ask: WebAsk, left: number): Promise<WebAnswer> => {
    const { url, authorization } = ask
    if (!/^https?:$/.test(url.protocol)) throw astray(url)
    const credential = authorization && { password: authorization }
    const pin = await approach({ url: url.href, owner: '', credential })
    const answer = await exchange(ask, pin, ways)
    const next = answer.status >= 300 && answer.status < 400 ? answer.header('location') : undefined
    if (next === undefined || answer.status === 304) return answer
    answer.body.destroy()
    if (left === 0 || !URL.canParse(next, url.href)) throw astray(url)
    const to = new URL(next, url)
    if (to.protocol !== 'https:' && to.protocol !== url.protocol) throw astray(url)
    return visit({ ...ask, url: to, authorization: to.origin === url.origin ? authorization : undefined }, left - 1)
  }
  return (ask) => visit(ask, MOST_REDIRECTS)
}

const astray = ({ origin }: URL): Failure =>
  new Failure('invalid', `${origin} leads on without end, or to where nothing is fetched from`, {
    reason: 'RepositoryMoved',
    remedy: 'Put the address of the repository itself into spec.url.',
  })

interface Ways {
  plain: PlainAgent
  tls: TlsAgent
  hasProxy: boolean
}

function exchange(
  { url, method = 'GET', headers, authorization, authorities, within = USUAL_WITHIN, signal }: WebAsk,
  pin: Pin | undefined,
  ways: Ways,
): Promise<WebAnswer> {
  const late = AbortSignal.timeout(within)
  const isTls = url.protocol === 'https:'
  const options = {
    method,
    headers: { 'user-agent': 'berth', ...headers, ...(authorization && { authorization: authorization.reveal() }) },
    lookup: lookupOf(pin, ways),
    signal: AbortSignal.any([signal, late]),
    timeout: SILENCE,
    ...(authorities !== undefined && { ca: authorities }),
  }
  return new Promise((resolve, reject) => {
    const take = (body: IncomingMessage) => {
      const header = (name: string) => [body.headers[name]].flat()[0]
      resolve({ status: body.statusCode ?? 0, header, url, body, late })
    }
    const request = isTls
      ? tlsRequest(url, { ...options, agent: ways.tls }, take)
      : plainRequest(url, { ...options, agent: ways.plain }, take)
    request.on('timeout', () => request.destroy(silent(url)))
    request.on('error', (thrown) => reject(unreachable({ url, late }, thrown)))
    request.end()
  })
}

/** A host is where it was when it was checked. Only a proxy, which the administrator chose, is looked up. */
const lookupOf =
  (pin: Pin | undefined, { hasProxy }: Ways): LookupFunction =>
  (host, options, answer) => {
    if (hasProxy && host !== pin?.host) return lookup(host, options, answer)
    const found = host === pin?.host ? pin.addresses.map((address) => ({ address, family: isIP(address) })) : []
    const [first] = found
    if (!first) return answer(new Failure('invalid', `${host} was not looked up`), '')
    if (options.all) return answer(null, found)
    answer(null, first.address, first.family)
  }

const silent = ({ origin }: URL): Failure =>
  new Failure('timeout', `${origin} does not answer in time`, { reason: 'Unreachable', remedy: 'Check that the host answers.' })

/** Of a connection that fails, also in the midst of an answer. */
export function unreachable({ url, late }: Pick<WebAnswer, 'url' | 'late'>, thrown: unknown): Failure {
  if (isFailure(thrown)) return thrown
  if (late.aborted) return silent(url)
  const { origin } = url
  const cause = Failure.from(thrown)
  if (cause.code === 'cancelled') return cause
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code))
    return new Failure('unavailable', `${origin}: its TLS certificate is not trusted`, {
      reason: 'CertificateInvalid',
      remedy: 'Serve a certificate of a known authority, or put that of its own into the Secret as ca.crt.',
      cause,
    })
  return new Failure('unavailable', `${origin} does not answer`, {
    reason: 'Unreachable',
    remedy: 'Check spec.url, and that kas can reach the host.',
    cause,
  })
}

/** The whole of a short answer. */
export async function bodyOf(answer: WebAnswer, most: number): Promise<Buffer> {
  const { body, url } = answer
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body) {
      const piece = Buffer.from(chunk)
      bytes += piece.length
      if (bytes > most)
        throw new Failure('too-large', `${url.origin}${url.pathname} answers with more than ${most} bytes`, {
          reason: 'AnswerTooLarge',
          remedy: 'Follow a repository with less in it.',
        })
      chunks.push(piece)
    }
  } catch (thrown) {
    throw unreachable(answer, thrown)
  }
  return Buffer.concat(chunks)
}

/** An answer that holds what was asked for. `what`: its name, in words. */
export function requireFound(answer: WebAnswer, what: string): WebAnswer {
  if (answer.status === 200) return answer
  answer.body.destroy()
  throw refusalOf(answer, what)
}

/** What is wrong where the status is none of success. `what`: was asked for. */
export function refusalOf({ status, url }: WebAnswer, what: string): Failure {
  const place = `${url.origin}${url.pathname}`
  if (status === 401 || status === 403)
    return new Failure(status === 401 ? 'unauthorized' : 'forbidden', `${what}: ${url.origin} refuses it (${status})`, {
      reason: 'AuthenticationFailed',
      remedy: 'Check the Secret that spec.credentialsSecretRef names, and what it may read.',
    })
  if (status === 404)
    return new Failure('not-found', `${what}: there is nothing at ${place}, or these credentials may not see it`, {
      reason: 'RepositoryNotFound',
      remedy: 'Correct the URL, or the credentials.',
    })
  if (status === 429 || status >= 500)
    return new Failure('unavailable', `${what}: ${url.origin} answers ${status}`, {
      reason: 'Unreachable',
      remedy: 'It is tried again.',
    })
  return new Failure('invalid', `${what}: ${place} answers ${status}`, {
    reason: 'ProtocolError',
    remedy: 'Check spec.url: what is there does not speak as it should.',
  })
}
