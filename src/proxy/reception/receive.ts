import type { Duplex } from 'node:stream'
import { type Forwarder, passUpgrade, type WebRequest, type WebResponse, type WebUpgrade } from '../../adapters/http/index.ts'
import type { Reply } from '../../dashboard/index.ts'
import { Failure } from '../../std/index.ts'
import { renderNotice } from '../web/page.ts'
import type { Route } from '../web/ports.ts'
import type { Activity } from './activity.ts'
import { type AdmissionServices, admit, type OwnAnswer, type RequestAdmission } from './admit.ts'
import { headOf } from './head.ts'
import { headersBack, headersOnward } from './headers.ts'
import { notices } from './notices.ts'
import { beginRecord, type CountRequest, type RequestRecord, wantsPage } from './record.ts'
import { writeReply } from './reply.ts'
import type { OpenStream } from './streams.ts'

interface ReceptionServices extends AdmissionServices {
  forwarder: Forwarder
  streams: { isFull(visitor: Pick<OpenStream, 'uid' | 'session' | 'from'>): boolean; enter(stream: OpenStream): () => void }
  /** Hears that somebody uses a workspace: at requests, and by the bytes of upgraded connections. */
  activity: Pick<Activity, 'used' | 'lineOpened'>
  visitorOf(request: WebRequest): string
  passAuthorization: boolean
  /** Connections are not kept while the program stops. */
  isStopping(): boolean
  done: CountRequest
}

export function createReception(services: ReceptionServices) {
  return {
    request(request: WebRequest, response: WebResponse): void {
      const record = recordOf(services, request, wantsPage(request.method ?? 'GET', request.headers))
      response.once('close', () => record.end(response.statusCode))
      void serve(services, request, response, record)
    },
    upgrade(upgrade: WebUpgrade): void {
      const record = recordOf(services, upgrade.request, false)
      upgrade.line.once('close', () => record.end(record.status))
      void serveUpgrade(services, upgrade, record)
    },
  }
}

function recordOf(services: ReceptionServices, request: WebRequest, isPage: boolean): RequestRecord {
  const { method = 'GET', url: target, headers } = request
  const from = services.visitorOf(request)
  return beginRecord(services, { what: 'request', method, host: headers.host, target, wantsPage: isPage, from })
}

async function serve(
  services: ReceptionServices,
  request: WebRequest,
  response: WebResponse,
  record: RequestRecord,
): Promise<void> {
  const refuse = (reply: Reply) => writeReply(response, reply, record.recipient.method)
  const found = await findWay(services, request, record, false)
  if (services.isStopping()) response.shouldKeepAlive = false
  if ('reply' in found) return refuse(found.reply)
  // Nobody would hear of its end any more.
  if (response.destroyed || response.closed) return
  if (!begin(services, found, record, response)) return refuse(tooMany(record))
  try {
    await services.forwarder.pass({ ...onward(services, request, record, found), response })
  } catch (thrown) {
    const reply = noAnswer(record, found.route, thrown)
    if (response.headersSent || response.destroyed) return void response.destroy()
    refuse(reply)
  }
}

async function serveUpgrade(services: ReceptionServices, upgrade: WebUpgrade, record: RequestRecord): Promise<void> {
  const { request, line } = upgrade
  const refuse = (reply: Reply) => {
    record.status = reply.status
    writeReply(upgrade.refusal(), reply, record.recipient.method)
  }
  const found = await findWay(services, request, record, true)
  if ('reply' in found) return refuse(found.reply)
  if (line.destroyed || line.closed) return
  if (!begin(services, found, record, line)) return refuse(tooMany(record))
  try {
    const joined = await passUpgrade(
      { ...onward(services, request, record, found, request.headers.upgrade), upgrade },
      services.clock,
    )
    record.status = joined ? 101 : 502
    if (joined) services.activity.lineOpened(found.route, joined)
  } catch (thrown) {
    if (!line.destroyed) refuse(noAnswer(record, found.route, thrown))
  }
}

/** Admits the request, and finds where its port answers. */
async function findWay(services: ReceptionServices, request: WebRequest, record: RequestRecord, isUpgrade: boolean) {
  const found = await admit(services, headOf(request, isUpgrade), record)
  if ('reply' in found) return answered(record, found)
  const { workspace, port } = found.route
  const to = workspace.upstreams.get(port)
  if (to) return { ...found, to }
  record.as = undefined
  const reply = renderNotice(notices.noAnswer(workspace, port, undefined), record.recipient)
  return answered(record, { reply, because: 'no-upstream' })
}

function answered(record: RequestRecord, answer: OwnAnswer): OwnAnswer {
  record.outcome = answer.because
  return answer
}

function tooMany(record: RequestRecord): Reply {
  record.outcome = 'too-many'
  record.as = undefined
  return renderNotice(notices.tooMany, record.recipient)
}

/** From here on the request is under way: it is known, so that it can be cut, and counts as use. False where its visitor has too many. */
function begin(
  { streams, activity }: ReceptionServices,
  { route: { workspace, port }, session, links, judgement, until }: RequestAdmission,
  record: RequestRecord,
  connection: WebResponse | Duplex,
): boolean {
  const { uid } = workspace
  const { from } = record
  if (streams.isFull({ uid, session, from })) return false
  const cut = () => void connection.destroy()
  const leave = streams.enter({ uid, port, session, from, links, as: judgement.as, until, cut })
  connection.once('close', leave)
  activity.used(workspace)
  record.outcome = 'passed'
  return true
}

type Way = Exclude<Awaited<ReturnType<typeof findWay>>, OwnAnswer>

const onward = (
  services: ReceptionServices,
  request: WebRequest,
  { recipient }: RequestRecord,
  { route, to }: Way,
  upgrade?: string,
) => ({
  request,
  to,
  target: request.url ?? '/',
  headers: headersOnward(request.rawHeaders, {
    from: services.visitorOf(request),
    host: route.host,
    requestId: recipient.requestId,
    passAuthorization: services.passAuthorization,
    upgrade,
  }),
  answerHeaders: headersBack,
})

function noAnswer(record: RequestRecord, { workspace, port }: Route, thrown: unknown): Reply {
  record.failure = Failure.from(thrown)
  record.outcome = 'no-answer'
  return renderNotice(notices.noAnswer(workspace, port, record.failure), record.recipient)
}
