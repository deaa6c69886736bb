import type { Upstream } from '../../adapters/http/index.ts'
import { type Judgement, judge } from '../../engines/access/index.ts'
import { type Clock, isFailure } from '../../std/index.ts'
import {
  type Call,
  type Guest,
  type Knock,
  type Notice,
  type Reader,
  type Reply,
  type Rights,
  ROLE_COUNTS,
  type Route,
  type Routes,
  type Say,
  type Session,
  type Sessions,
} from '../ports.ts'
import { isOwnOrigin } from './origin.ts'

/** What other rooms of the proxy answer themselves. */
export interface OwnDoors {
  /** The host for signing in. */
  signInHost: string
  signIn(call: Call, url: URL, reader: Reader): Promise<Reply>
  /** Sends somebody away to sign in, and back to that target. */
  depart(call: Call, route: Route, target: string): Reply
  /** By their name below /.berth/. */
  doors: Readonly<Record<string, (knock: Knock) => Reply | Promise<Reply>>>
}

export interface Notices {
  unknownHost: Notice
  badRequest: Notice
  foreignOrigin: Notice
  signInFirst: Notice
  signInAway: Notice
  broken: Notice
  refused(house: Route['house'], judgement: Extract<Judgement, { may: false }>, session: Session | undefined): Notice
  notRunning(house: Route['house'], isOwner: boolean): Notice | undefined
  noAnswer(house: Route['house'], port: number, failure: Error | undefined): Notice
}

export interface AdmissionDesk {
  routes: Pick<Routes, 'at'>
  sessions: Pick<Sessions, 'of'>
  /** What the roles of the cluster say, where they count. */
  rights: Rights | undefined
  linksOf(call: Call): readonly string[]
  own: OwnDoors
  notices: Notices
  say: Say
  clock: Clock
}

/** May go on, until then. */
export interface Welcome extends Guest {
  readonly route: Route
  readonly judgement: Extract<Judgement, { may: true }>
  readonly until: number
}

/** And it is known where to. */
export interface Passage extends Welcome {
  readonly to: Upstream
}

/** Why a request was answered here: a word for the log. */
export interface Answered {
  readonly reply: Reply
  readonly because: string
  readonly route?: Route | undefined
  readonly session?: Session | undefined
}

/** The path that is ours on every host. */
export const OWN = '/.berth/'

/** The way of a request to its workspace. */
export async function admit(desk: AdmissionDesk, call: Call | undefined, reader: Reader): Promise<Passage | Answered> {
  const found = await welcome(desk, call, reader)
  if ('reply' in found) return found
  const { house, port } = found.route
  const to = house.upstreams.get(port)
  if (to) return { ...found, to }
  return { ...found, reply: desk.say(desk.notices.noAnswer(house, port, undefined), reader), because: 'no-upstream' }
}

/** The one way in. What is not let in is answered, and never reaches the workspace. `call` is missing where none can be made out. */
export async function welcome(desk: AdmissionDesk, call: Call | undefined, reader: Reader): Promise<Welcome | Answered> {
  const { routes, own, notices, say } = desk
  if (!call) return { reply: say(notices.badRequest, reader), because: 'bad-request' }
  if (call.host === own.signInHost && !call.isUpgrade)
    return { reply: await own.signIn(call, urlOf(call.host, call), reader), because: 'sign-in' }
  const route = routes.at(call.host)
  if (!route) return { reply: say(notices.unknownHost, reader), because: 'unknown-host' }
  if (!call.target.startsWith(OWN) || call.isUpgrade) return decide(desk, { call, route, reader })
  return { reply: await ownPath(desk, { call, route, reader }), because: 'own', route }
}

/** Put together, not resolved: a target that begins with `//` would name another host. */
const urlOf = (host: string, { target }: Pick<Call, 'target'>): URL => new URL(`https://${host}${target}`)

/** Who asks, may they, and is anybody at home. */
async function decide(desk: AdmissionDesk, { call, route, reader }: Omit<Knock, 'url'>): Promise<Welcome | Answered> {
  const { sessions, linksOf, own, notices, say } = desk
  const session = await sessions.of(call, route.host)
  const links = linksOf(call)
  const { house } = route
  const judgement = await judgeGuest(desk, route, { session, links })
  const answered = (notice: Notice, because: string): Answered => ({ reply: say(notice, reader), because, route, session })
  if (!judgement.may && judgement.why === 'SignInNeeded')
    return reader.wantsPage
      ? { reply: own.depart(call, route, call.target), because: 'sign-in', route }
      : answered(notices.signInFirst, 'not-signed-in')
  if (!judgement.may) return answered(notices.refused(house, judgement, session), judgement.why)
  // Whatever is public has nobody in whose name it could be used.
  if (judgement.as !== 'public' && !isOwnOrigin(call, house)) return answered(notices.foreignOrigin, 'foreign-origin')
  const asleep = notices.notRunning(house, judgement.as === 'owner')
  if (asleep) return answered(asleep, 'not-running')
  return { route, session, links, judgement, until: Math.min(judgement.until, session?.until ?? Number.POSITIVE_INFINITY) }
}

/** The one function; roles are asked about only if nothing else lets somebody in. */
async function judgeGuest(
  { rights, clock }: AdmissionDesk,
  { house, port }: Route,
  { session, links }: Guest,
): Promise<Judgement> {
  const now = clock.now()
  const known = { premises: house.premises, port, person: session?.person, links, now }
  const judgement = judge(known)
  if (judgement.may || !session || !rights || (judgement.why !== 'NotShared' && judgement.why !== 'ShareExpired'))
    return judgement
  if (!(await rights.mayOpen(session.person, house))) return judgement
  const byRole = judge({ ...known, hasRole: true })
  return byRole.may ? { ...byRole, until: Math.min(byRole.until, now + ROLE_COUNTS) } : byRole
}

async function ownPath(desk: AdmissionDesk, { call, route, reader }: Omit<Knock, 'url'>): Promise<Reply> {
  const { own, notices, say } = desk
  const url = urlOf(route.host, call)
  const name = url.pathname.slice(OWN.length)
  if (name === 'why') return why(desk, { call, route, reader })
  const door = Object.hasOwn(own.doors, name) ? own.doors[name] : undefined
  return door ? door({ call, route, url, reader }) : say(notices.unknownHost, reader)
}

/** What somebody would be told at the first page; an ingress that can say no but not why leads here. */
async function why(desk: AdmissionDesk, { call, route, reader }: Omit<Knock, 'url'>): Promise<Reply> {
  const found = await decide(desk, { call: { ...call, target: '/' }, route, reader })
  return 'reply' in found ? found.reply : { status: 303, headers: { location: '/', 'cache-control': 'no-store' }, body: '' }
}

/** Whatever goes wrong while it is decided lets nobody in. */
export function answerTo(thrown: unknown, { notices, say }: AdmissionDesk, reader: Reader): Answered {
  if (isFailure(thrown, 'invalid')) return { reply: say(notices.badRequest, reader), because: 'bad-request' }
  if (isFailure(thrown, 'unavailable', 'timeout')) return { reply: say(notices.signInAway, reader), because: 'sign-in-away' }
  return { reply: say(notices.broken, reader), because: 'broken' }
}
