import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Forwarder, type Line, passUpgrade, responseOn } from '../../adapters/http/index.ts'
import { Failure, isFailure, type Log } from '../../std/index.ts'
import type { Guest, House, Reply } from '../ports.ts'
import { type AdmissionDesk, type Answered, admit, answerTo, type Passage } from './admit.ts'
import { headersBack, headersOnward } from './headers.ts'
import { write } from './reply.ts'
import { callOf } from './shape.ts'
import { beginVisit, type Said, type Visit, wantsPage } from './visit.ts'

export interface ReceptionDesk extends AdmissionDesk {
  forwarder: Forwarder
  /** What is under way is known, so that it can be ended. */
  enter(stream: Guest & { uid: string; port: number; as: string; until: number; cut(): void }): () => void
  cookies: { onward(header: string): string | undefined; back(header: string): string | undefined }
  /** Whose address it is that is connected: a load balancer's word is taken, if it is trusted. */
  visitorOf(request: IncomingMessage): string
  passAuthorization: boolean
  /** Somebody uses a workspace: told at requests, and at bytes of upgraded connections. */
  used(house: House): void
  lineOpened(house: House, line: Line): void
  meters: ReceptionMeters
  /** Whether the program stops: then connections are not kept. */
  isStopping(): boolean
  log: Log
}

export interface ReceptionMeters {
  /** A request is over. `outcome`: passed, or why not. Seconds. */
  done(outcome: string, status: number, seconds: number): void
}

export function createReception(desk: ReceptionDesk) {
  return {
    request(request: IncomingMessage, response: ServerResponse): void {
      const visit = begin(desk, request, false)
      response.once('close', () => visit.end(response.statusCode))
      void serve(desk, request, response, visit)
    },
    upgrade(request: IncomingMessage, socket: Duplex, first: Buffer): void {
      const visit = begin(desk, request, true)
      socket.once('close', () => visit.end(visit.status))
      void serveUpgrade(desk, { request, socket, first }, visit)
    },
  }
}

function begin({ clock, log, meters, visitorOf }: ReceptionDesk, request: IncomingMessage, isUpgrade: boolean): Visit {
  const { method = 'GET', url: target, headers } = request
  const said: Said = { what: 'request', method, host: headers.host, target, from: visitorOf(request) }
  return beginVisit({ clock, log, done: meters.done }, { method, wantsPage: !isUpgrade && wantsPage(request) }, said)
}

async function decide(
  desk: ReceptionDesk,
  request: IncomingMessage,
  visit: Visit,
  isUpgrade: boolean,
): Promise<Passage | Answered> {
  try {
    const found = await admit(desk, callOf(request, isUpgrade), visit.reader)
    visit.house = found.route?.house
    visit.port = found.route?.port
    visit.session = found.session
    visit.as = 'reply' in found ? undefined : found.judgement.as
    return found
  } catch (thrown) {
    visit.failure = Failure.from(thrown)
    if (!isFailure(thrown, 'invalid'))
      desk.log.error('A request could not be decided', { request: visit.reader.requestId, error: visit.failure })
    return answerTo(thrown, desk, visit.reader)
  }
}

async function serve(desk: ReceptionDesk, request: IncomingMessage, response: ServerResponse, visit: Visit): Promise<void> {
  const found = await decide(desk, request, visit, false)
  if (desk.isStopping()) response.shouldKeepAlive = false
  if ('reply' in found) {
    visit.outcome = found.because
    return write(response, found.reply, visit.reader)
  }
  // Nobody would hear of its end any more.
  if (response.destroyed || response.closed) return
  const { route, to } = found
  const leave = desk.enter(streamOf(found, () => response.destroy()))
  response.once('close', leave)
  desk.used(route.house)
  visit.outcome = 'passed'
  try {
    await desk.forwarder.pass({
      request,
      response,
      to,
      target: request.url ?? '/',
      headers: onward(desk, request, visit, found),
      answerHeaders: (raw) => headersBack(raw, desk.cookies.back),
    })
  } catch (thrown) {
    noAnswer(desk, response, visit, { route, thrown })
  }
}

async function serveUpgrade(
  desk: ReceptionDesk,
  { request, socket, first }: { request: IncomingMessage; socket: Duplex; first: Buffer },
  visit: Visit,
): Promise<void> {
  const refuse = (reply: Reply) => {
    visit.status = reply.status
    const response = responseOn(socket, request)
    response.once('finish', () => socket.end())
    write(response, reply, visit.reader)
  }
  const found = await decide(desk, request, visit, true)
  if ('reply' in found) {
    visit.outcome = found.because
    return refuse(found.reply)
  }
  if (socket.destroyed || socket.closed) return
  const { route, to } = found
  const leave = desk.enter(streamOf(found, () => socket.destroy()))
  socket.once('close', leave)
  desk.used(route.house)
  visit.outcome = 'passed'
  try {
    const line = await passUpgrade({
      request,
      socket,
      first,
      to,
      target: request.url ?? '/',
      headers: onward(desk, request, visit, found, request.headers.upgrade),
      answerHeaders: (raw) => headersBack(raw, desk.cookies.back),
      clock: desk.clock,
    })
    visit.status = line ? 101 : 502
    if (line) desk.lineOpened(route.house, line)
  } catch (thrown) {
    if (socket.destroyed) return
    visit.outcome = 'no-answer'
    visit.failure = Failure.from(thrown)
    refuse(desk.say(desk.notices.noAnswer(route.house, route.port, visit.failure), visit.reader))
  }
}

const streamOf = ({ route, session, links, judgement, until }: Passage, cut: () => void) => ({
  ...{ uid: route.house.uid, port: route.port, session, links, as: judgement.as, until, cut },
})

const onward = (
  { visitorOf, passAuthorization, cookies }: ReceptionDesk,
  request: IncomingMessage,
  { reader }: Visit,
  { route }: Passage,
  upgrade?: string,
): string[] =>
  headersOnward(request.rawHeaders, {
    from: visitorOf(request),
    host: route.host,
    requestId: reader.requestId,
    passAuthorization,
    cookies: cookies.onward,
    upgrade,
  })

function noAnswer(
  desk: ReceptionDesk,
  response: ServerResponse,
  visit: Visit,
  { route, thrown }: { route: Passage['route']; thrown: unknown },
): void {
  visit.failure = Failure.from(thrown)
  visit.outcome = 'no-answer'
  if (response.headersSent || response.destroyed) return void response.destroy()
  write(response, desk.say(desk.notices.noAnswer(route.house, route.port, visit.failure), visit.reader), visit.reader)
}
