import type { IncomingMessage, ServerResponse } from 'node:http'
import { Failure, isFailure, type Log } from '../../std/index.ts'
import type { House, Reply } from '../ports.ts'
import { type AdmissionDesk, type Answered, answerTo, OWN, type Welcome, welcome } from './admit.ts'
import { DIALECTS, type Dialect } from './dialects.ts'
import { write } from './reply.ts'
import { beginVisit, type Said, type Visit, wantsPage } from './visit.ts'

export interface ConsultationDesk extends AdmissionDesk {
  /** Whether an ingress may ask from that address. What others say of a request is an invention. */
  isCaller(address: string): boolean
  /** What is left of a Cookie header without ours. */
  withoutOwn(header: string): string | undefined
  passAuthorization: boolean
  visitorOf(request: IncomingMessage): string
  used(house: House): void
  meters: { consulted(outcome: string, status: number, seconds: number): void }
  log: Log
}

/** Answers ingresses that ask whether a request may pass, by the same decision as for one that came here itself. */
export function createConsultation(desk: ConsultationDesk): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const [, name = ''] = /^\/([a-z]+)(?=[/?]|$)/.exec(request.url ?? '') ?? []
    const dialect = Object.hasOwn(DIALECTS, name) ? DIALECTS[name] : undefined
    const visit = begin(desk, request, dialect)
    response.once('close', () => visit.end(response.statusCode))
    void answer(desk, { request, dialect }, visit).then((reply) => write(response, reply, { method: request.method ?? 'GET' }))
  }
}

function begin(
  { clock, log, meters, visitorOf }: ConsultationDesk,
  request: IncomingMessage,
  dialect: Dialect | undefined,
): Visit {
  const { method = '', host, target } = dialect?.callOf(request) ?? {}
  const said: Said = { what: 'consultation', method, host, target, from: visitorOf(request) }
  const isPage = wantsPage({ method, headers: request.headers })
  return beginVisit({ clock, log, done: meters.consulted }, { method, wantsPage: isPage }, said)
}

const plain = (status: number, body: string, headers: Reply['headers'] = {}): Reply => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers },
  body,
})

interface Question {
  request: IncomingMessage
  dialect: Dialect | undefined
}

async function answer(desk: ConsultationDesk, { request, dialect }: Question, visit: Visit): Promise<Reply> {
  if (!desk.isCaller(request.socket.remoteAddress ?? '')) {
    visit.outcome = 'foreign-caller'
    return plain(403, 'Your address may not ask here; --authorize-callers has those that may.\n')
  }
  if (!dialect) {
    visit.outcome = 'unknown-dialect'
    return plain(404, `Ask at one of /${Object.keys(DIALECTS).join(', /')}.\n`)
  }
  const call = dialect.callOf(request)
  // The ingress shows those pages itself: a ticket that is used up in a question is of no use to anybody.
  if (call?.target.startsWith(OWN) && !dialect.passesAnswers) {
    visit.outcome = 'own'
    return plain(403, `${OWN} leads to the proxy itself, without a question.\n`)
  }
  const found = await decide(desk, call, visit)
  visit.house = found.route?.house
  visit.port = found.route?.port
  visit.session = found.session
  visit.outcome = 'reply' in found ? found.because : 'passed'
  visit.as = 'reply' in found ? undefined : found.judgement.as
  if ('reply' in found) return dialect.passesAnswers ? found.reply : inShort(found, visit)
  desk.used(found.route.house)
  return mayPass(desk, request, { dialect, visit })
}

async function decide(desk: ConsultationDesk, call: Parameters<typeof welcome>[1], visit: Visit): Promise<Welcome | Answered> {
  try {
    return await welcome(desk, call, visit.reader)
  } catch (thrown) {
    visit.failure = Failure.from(thrown)
    if (!isFailure(thrown, 'invalid'))
      desk.log.error('A question could not be decided', { request: visit.reader.requestId, error: visit.failure })
    return answerTo(thrown, desk, visit.reader)
  }
}

/** What nobody can tell just now is an error to the ingress too; all else it knows is who has to sign in. */
function inShort({ reply, because }: Answered, { reader: { requestId } }: Visit): Reply {
  const headers = { 'x-request-id': requestId }
  if (because === 'sign-in' || because === 'not-signed-in') return plain(401, 'Sign in first.\n', headers)
  if (because === 'broken' || because === 'sign-in-away') return plain(reply.status, 'It cannot be decided now.\n', headers)
  return plain(403, `It may not pass: ${because}.\n`, headers)
}

/** The ingress puts these in place of what the visitor sent: our cookies are none of the workspace's business. */
function mayPass(
  { withoutOwn, passAuthorization }: ConsultationDesk,
  { headers }: IncomingMessage,
  { dialect, visit }: { dialect: Dialect; visit: Visit },
): Reply {
  const cookie = withoutOwn(headers.cookie ?? '')
  const authorization = passAuthorization ? headers.authorization : undefined
  const gone = [...(cookie === undefined ? ['cookie'] : []), ...(authorization === undefined ? ['authorization'] : [])]
  return plain(200, '', {
    'x-request-id': visit.reader.requestId,
    ...(cookie !== undefined && { cookie }),
    ...(authorization !== undefined && { authorization }),
    ...(dialect.keepsHeaders && gone.length > 0 && { 'x-envoy-auth-headers-to-remove': gone.join(',') }),
  })
}
