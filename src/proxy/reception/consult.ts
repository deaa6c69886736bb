import type { WebRequest, WebResponse } from '../../adapters/http/index.ts'
import type { Reply } from '../../dashboard/index.ts'
import { withoutOwn } from '../web/cookies.ts'
import type { BrowserRequestHead } from '../web/ports.ts'
import type { Activity } from './activity.ts'
import { type AdmissionServices, admit, OWN, type OwnAnswer } from './admit.ts'
import { DIALECTS, type Dialect } from './dialects.ts'
import { beginRecord, type CountRequest, type RequestRecord, wantsPage } from './record.ts'
import { writeReply } from './reply.ts'

interface ConsultationServices extends AdmissionServices {
  /** Ingresses ask from these addresses; others could invent a request. */
  isCaller(address: string): boolean
  passAuthorization: boolean
  visitorOf(request: WebRequest): string
  activity: Pick<Activity, 'used'>
  done: CountRequest
}

/** Answers ingresses that ask whether a request may pass, by the same decision as for one that came here itself. */
export function createConsultation(services: ConsultationServices): (request: WebRequest, response: WebResponse) => void {
  return (request, response) => {
    const [, name = ''] = /^\/([a-z]+)(?=[/?]|$)/.exec(request.url ?? '') ?? []
    const dialect = Object.hasOwn(DIALECTS, name) ? DIALECTS[name] : undefined
    const head = dialect?.headOf(request)
    const { method = '', host, target } = head ?? {}
    const record = beginRecord(services, {
      ...{ what: 'consultation', method, host, target },
      wantsPage: wantsPage(method, request.headers),
      from: services.visitorOf(request),
    })
    response.once('close', () => record.end(response.statusCode))
    void answer(services, { request, dialect, head }, record).then((reply) =>
      writeReply(response, reply, request.method ?? 'GET'),
    )
  }
}

const plain = (status: number, body: string, headers: Reply['headers'] = {}): Reply => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers },
  body,
})

interface Question {
  request: WebRequest
  dialect: Dialect | undefined
  /** The request that it is about. */
  head: BrowserRequestHead | undefined
}

async function answer(
  services: ConsultationServices,
  { request, dialect, head }: Question,
  record: RequestRecord,
): Promise<Reply> {
  if (!services.isCaller(request.socket.remoteAddress ?? '')) {
    record.outcome = 'foreign-caller'
    return plain(403, 'Your address may not ask here; --authorize-callers has those that may.\n')
  }
  if (!dialect) {
    record.outcome = 'unknown-dialect'
    return plain(404, `Ask at one of /${Object.keys(DIALECTS).join(', /')}.\n`)
  }
  // The ingress shows those pages itself: a ticket that is used up in a question is of no use to anybody.
  if (head?.target.startsWith(OWN) && !dialect.passesAnswers) {
    record.outcome = 'own'
    return plain(403, `${OWN} leads to the proxy itself, without a question.\n`)
  }
  const found = await admit(services, head, record)
  record.outcome = 'reply' in found ? found.because : 'passed'
  if ('reply' in found) return dialect.passesAnswers ? found.reply : inShort(found, record)
  services.activity.used(found.route.workspace)
  const { headers } = request
  const authorization = services.passAuthorization ? headers.authorization : undefined
  return mayPass({ cookie: withoutOwn(headers.cookie ?? ''), authorization }, dialect, record)
}

/** An ingress tells two refusals apart: somebody has to sign in, or it is an error, for nobody can tell just now. */
function inShort({ reply, because }: OwnAnswer, { recipient: { requestId } }: RequestRecord): Reply {
  const headers = { 'x-request-id': requestId }
  if (because === 'sign-in' || because === 'not-signed-in') return plain(401, 'Sign in first.\n', headers)
  if (because === 'broken' || because === 'undecided' || because === 'sign-in-away')
    return plain(reply.status, 'It cannot be decided now.\n', headers)
  return plain(403, `It may not pass: ${because}.\n`, headers)
}

/** The ingress puts these in place of what the visitor sent: our cookies are none of the workspace's business. */
function mayPass(
  kept: Record<'cookie' | 'authorization', string | undefined>,
  { keepsHeaders }: Dialect,
  { recipient: { requestId } }: RequestRecord,
): Reply {
  const headers: Record<string, string> = { 'x-request-id': requestId }
  const gone: string[] = []
  for (const [name, value] of Object.entries(kept)) {
    if (value === undefined) gone.push(name)
    else headers[name] = value
  }
  if (keepsHeaders && gone.length > 0) headers['x-envoy-auth-headers-to-remove'] = gone.join(',')
  return plain(200, '', headers)
}
