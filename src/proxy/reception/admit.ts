import { PING, type Reply } from '../../dashboard/index.ts'
import type { Judgement } from '../../engines/access/index.ts'
import { type Clock, Failure, isFailure, type Log } from '../../std/index.ts'
import { judge } from '../web/judge.ts'
import { type Notice, renderNotice } from '../web/page.ts'
import type {
  BrowserRequestHead,
  MayOpen,
  OwnPathRequest,
  Recipient,
  RequestCredentials,
  Route,
  RouteTable,
  Session,
  Sessions,
} from '../web/ports.ts'
import { TO_FIRST_PAGE } from '../web/redirect.ts'
import { isOwnOrigin } from './head.ts'
import { linksOf } from './links.ts'
import { notices } from './notices.ts'
import type { RequestRecord } from './record.ts'

export interface AdmissionServices {
  routes: Pick<RouteTable, 'at'>
  sessions: Pick<Sessions, 'of'>
  /** Asks the roles of the cluster, where they count. */
  mayOpen: MayOpen | undefined
  /** The host for signing in. */
  signInHost: string
  signIn(head: BrowserRequestHead, url: URL, recipient: Recipient): Promise<Reply>
  /** Sends somebody away to sign in, and back to that target. */
  depart(head: BrowserRequestHead, route: Route, target: string): Reply
  /** Answers, by the name below /.berth/, what other parts of the proxy answer themselves. */
  ownPaths: Readonly<Record<string, (request: OwnPathRequest) => Reply | Promise<Reply>>>
  clock: Clock
  log: Log
}

/** The request may go on, until then. */
export interface RequestAdmission extends RequestCredentials {
  readonly route: Route
  readonly judgement: Extract<Judgement, { may: true }>
  readonly until: number
}

/** The request is answered here, for the reason that the log gets in a word. */
export interface OwnAnswer {
  readonly reply: Reply
  readonly because: string
  readonly route?: Route | undefined
  readonly session?: Session | undefined
}

/** The path that is ours on every host. */
export const OWN = '/.berth/'

/** Pages of the dashboard may ask it from whatever region they are of. */
const HERE: Reply = {
  status: 200,
  headers: { 'access-control-allow-origin': '*', 'cache-control': 'no-store', 'content-type': 'text/plain; charset=utf-8' },
  body: '',
}

/**
 * The one way in. What is not let in is answered, and never reaches the workspace; nor does what goes wrong while it is decided.
 * `head` is missing where none can be made out.
 */
export async function admit(
  services: AdmissionServices,
  head: BrowserRequestHead | undefined,
  record: RequestRecord,
): Promise<RequestAdmission | OwnAnswer> {
  try {
    const found = await decide(services, head, record.recipient)
    const as = 'reply' in found ? undefined : found.judgement.as
    Object.assign(record, { route: found.route, session: found.session, as })
    return found
  } catch (thrown) {
    record.failure = Failure.from(thrown)
    const { requestId } = record.recipient
    if (!isFailure(thrown, 'invalid'))
      services.log.error(`A ${record.what === 'request' ? 'request' : 'question'} could not be decided`, {
        request: requestId,
        error: record.failure,
      })
    return answerTo(thrown, record.recipient, head?.host === services.signInHost)
  }
}

async function decide(
  services: AdmissionServices,
  head: BrowserRequestHead | undefined,
  recipient: Recipient,
): Promise<RequestAdmission | OwnAnswer> {
  const { routes, signInHost, signIn } = services
  if (!head) return { reply: renderNotice(notices.badRequest, recipient), because: 'bad-request' }
  if (head.target === PING && !head.isUpgrade) return { reply: HERE, because: 'own' }
  if (head.host === signInHost && !head.isUpgrade)
    return { reply: await signIn(head, urlOf(head.host, head), recipient), because: 'sign-in' }
  const route = routes.at(head.host)
  if (!route) return { reply: renderNotice(notices.unknownHost, recipient), because: 'unknown-host' }
  if (!head.target.startsWith(OWN) || head.isUpgrade) return decideFor(services, { head, route, recipient })
  return { reply: await answerOwnPath(services, { head, route, recipient }), because: 'own', route }
}

/** Put together, not resolved: a target that begins with `//` would name another host. */
const urlOf = (host: string, { target }: Pick<BrowserRequestHead, 'target'>): URL => new URL(`https://${host}${target}`)

type RoutedRequest = Omit<OwnPathRequest, 'url'>

/** Decides who asks, whether they may, and whether the workspace runs. */
async function decideFor(
  services: AdmissionServices,
  { head, route, recipient }: RoutedRequest,
): Promise<RequestAdmission | OwnAnswer> {
  const session = await services.sessions.of(head, route.host)
  const links = linksOf(head)
  const { workspace } = route
  const judgement = await judge(services, route, { session, links })
  const answered = (notice: Notice, because: string): OwnAnswer => ({
    reply: renderNotice(notice, recipient),
    because,
    route,
    session,
  })
  if (!judgement.may && judgement.why === 'SignInNeeded')
    return recipient.wantsPage
      ? { reply: services.depart(head, route, head.target), because: 'sign-in', route }
      : answered(notices.signInFirst, 'not-signed-in')
  if (!judgement.may) return answered(notices.refused(workspace, judgement, session), judgement.why)
  // A public port has nobody in whose name it could be used.
  if (judgement.as !== 'public' && !isOwnOrigin(head, workspace)) return answered(notices.foreignOrigin, 'foreign-origin')
  const asleep = notices.notRunning(workspace, judgement.as === 'owner')
  if (asleep) return answered(asleep, 'not-running')
  return { route, session, links, judgement, until: Math.min(judgement.until, session?.until ?? Number.POSITIVE_INFINITY) }
}

async function answerOwnPath(services: AdmissionServices, { head, route, recipient }: RoutedRequest): Promise<Reply> {
  const { ownPaths } = services
  const url = urlOf(route.host, head)
  const name = url.pathname.slice(OWN.length)
  if (name === 'why') {
    // An ingress that can say no but not why leads here: somebody is told what they would be told at the first page.
    const found = await decideFor(services, { head: { ...head, target: '/' }, route, recipient })
    return 'reply' in found ? found.reply : TO_FIRST_PAGE
  }
  const answer = Object.hasOwn(ownPaths, name) ? ownPaths[name] : undefined
  return answer ? answer({ head, route, url, recipient }) : renderNotice(notices.unknownHost, recipient)
}

function answerTo(thrown: unknown, recipient: Recipient, isSignIn: boolean): OwnAnswer {
  const answered = (notice: Notice, because: string) => ({ reply: renderNotice(notice, recipient), because })
  if (isFailure(thrown, 'invalid')) return answered(notices.badRequest, 'bad-request')
  if (isFailure(thrown, 'unavailable', 'timeout'))
    return isSignIn ? answered(notices.signInAway, 'sign-in-away') : answered(notices.undecided, 'undecided')
  return answered(notices.broken, 'broken')
}
