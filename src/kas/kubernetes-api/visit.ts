import { type HttpServer, type Metrics, serveVisits, type Visit } from '../../adapters/http/index.ts'
import type { Kube } from '../../adapters/kube/index.ts'
import { MAKE_REQUEST, type RequestHead } from '../../rpc/index.ts'
import { type Clock, Failure, isFailure, type Log } from '../../std/index.ts'
import { metersOf } from '../ports/meters.ts'
import type { Router } from '../ports/ports.ts'
import { type Ask, readAsk } from './address.ts'
import { type Admissions, type ClusterAdmission, createAdmissions } from './admission.ts'
import { behind, unreached } from './behind.ts'
import { exchange } from './exchange.ts'
import { checkContentType, IMPERSONATE, queryOf, requestHeaders } from './headers.ts'
import type { AccessSources } from './judge.ts'
import { createLooks } from './looks.ts'
import { createDevelopsAtPace, createPace, type Limit, type VisitPace } from './pace.ts'
import { createIdentify } from './people.ts'
import { isSystem } from './rules.ts'
import { answerFailure, createTraceId } from './status.ts'

/** `grace`: so long sessions may go on when the server stops. */
interface KubernetesApiServer
  extends Omit<AccessSources, 'identify' | 'looks' | 'developsAtPace'>,
    Pick<Parameters<typeof serveVisits>[0], 'address' | 'tls' | 'grace' | 'clock' | 'log'> {
  /** For which tokens may have been issued, beside the API server's own. */
  audience: string
  /** Requests of one person in a second. */
  perSecond: number
  kube: Kube
  router: Router
  metrics: Metrics
}

/** Listens for people and jobs on their way to agents' clusters. Stop it before what carries the calls to agents. */
export async function serveKubernetesApi(given: KubernetesApiServer): Promise<HttpServer> {
  const { audience, perSecond, kube, spaces, router, metrics, clock, log } = given
  const identify = createIdentify(kube, audience, clock)
  const meters = createVisitMeters(metrics)
  const pacing = { operator: spaces.operator, slowed: meters.slowed, clock }
  const pace = createPace({ ...pacing, identify, perSecond })
  const developsAtPace = createDevelopsAtPace({ ...pacing, develops: given.develops })
  const admissions = createAdmissions({ ...given, identify, looks: createLooks(clock), developsAtPace })
  const visit = receiveVisits({ admissions, pace, router, meters, clock, log })
  const { address, stop } = await serveVisits({ ...given, visit, turnedAway: meters.turnedAway })
  return { address, stop: (grace) => stop(grace).finally(admissions.close) }
}

interface VisitOptions {
  admissions: Admissions
  pace: VisitPace
  router: Router
  meters: Meters
  clock: Clock
  log: Log
}

type Meters = ReturnType<typeof createVisitMeters>

const UPGRADES = /^(websocket|spdy\/3\.1)$/i

/** Lets people and jobs through to the Kubernetes API of an agent's cluster. Whatever happens, each visit is answered. */
const receiveVisits =
  ({ admissions, pace, router, meters, clock, log }: VisitOptions) =>
  async (visit: Visit): Promise<void> => {
    const traceId = createTraceId()
    const stop = stopOf(visit)
    let admission: ClusterAdmission | undefined
    let status = 0
    try {
      const ask = readAsk(visit.target, visit.headers.authorization)
      checkUpgrade(visit)
      checkContentType(visit.headers, (visit.length ?? 1) > 0)
      const person = await pace.visit(ask.token, visit.peer)
      admission = await pace.judged(person, ask.agent, () => admissions.admit(ask, person))
      const head = headOf(visit, ask, admission)
      if (stop.ended.aborted) throw kasStops()
      const over = AbortSignal.any([visit.left, admission.ended, stop.ended])
      const began = clock.now()
      const call = await router.open(admission.agentId, MAKE_REQUEST, { signal: over }).catch((thrown: unknown) => {
        if (over.aborted) meters.routed((clock.now() - began) / 1000, 'aborted')
        return unreached(thrown)
      })
      meters.routed((clock.now() - began) / 1000, 'success')
      if (!mayBeBegunAgain(visit)) stop.isFound()
      status = await exchange({ visit, head, call: behind(call), prefix: ask.prefix })
    } catch (thrown) {
      const failure = failureOf(visit, admission, thrown)
      if (isFailure(failure) && failure.reason === 'AgentNotConnected') meters.timedOut()
      if (failure.code === 'internal') log.error('A visit to a cluster failed', { traceId, error: failure })
      else log.debug('A visit to a cluster ended with an error', { traceId, error: failure })
      // Half an answer cannot be taken back.
      if (visit.hasBegun || visit.left.aborted) visit.cut()
      else status = answerFailure(visit, failure, traceId)
    } finally {
      stop.close()
      admission?.close()
      meters.answered(admission?.right, status)
    }
  }

/**
 * Ends with the server: when it begins to stop, for those who still wait for an agent (they ask another kas), and for the rest when
 * their time is over. Listens by itself: what lives as long as the server would keep each signal that was made of it.
 */
function stopOf({ stopping, overdue }: Visit): { ended: AbortSignal; isFound(): void; close(): void } {
  const end = new AbortController()
  const stop = () => end.abort()
  if (stopping.aborted) stop()
  stopping.addEventListener('abort', stop, { once: true })
  overdue.addEventListener('abort', stop, { once: true })
  const isFound = () => stopping.removeEventListener('abort', stop)
  return {
    ended: end.signal,
    isFound,
    close() {
      isFound()
      overdue.removeEventListener('abort', stop)
    },
  }
}

/** Gives the cause of the end, which may be another than what was thrown. */
function failureOf({ left, stopping }: Visit, admission: ClusterAdmission | undefined, thrown: unknown): Failure {
  if (admission?.ended.aborted) return Failure.from(admission.ended.reason)
  const failure = Failure.from(thrown)
  return stopping.aborted && !left.aborted && failure.code === 'cancelled' ? kasStops() : failure
}

const kasStops = () =>
  new Failure('unavailable', 'kas is stopping', { reason: 'KasStopping', remedy: 'Ask again: another one answers.' })

/** A watch or a log that is followed ends with the server that it goes through; its reader opens it anew. */
const mayBeBegunAgain = ({ method, target, upgrade }: Visit): boolean =>
  method === 'GET' && upgrade === undefined && /[?&](watch|follow)=(1|true)\b/i.test(target)

function checkUpgrade({ upgrade, headers }: Visit): void {
  if (upgrade === undefined) return
  if (!UPGRADES.test(upgrade)) throw new Failure('invalid', `kas does not pass on the protocol ${upgrade.slice(0, 40)}`)
  // Only pages in browsers say where they come from, and none of them is kas' own.
  if (headers.origin !== undefined) throw new Failure('invalid', 'kas takes no WebSockets of pages in browsers')
}

function headOf(visit: Visit, ask: Ask, { right }: ClusterAdmission): RequestHead {
  const isAgent = right.impersonation === undefined
  const wanted = Object.entries(visit.headers).filter(([name]) => IMPERSONATE.test(name))
  if (!isAgent && wanted.length > 0)
    throw new Failure('invalid', 'impersonation headers are for those only who act as the agent itself', {
      reason: 'NestedImpersonation',
    })
  if (wanted.some(([name, values]) => /^impersonate-(user|group)$/.test(name) && values.some(isSystem)))
    throw new Failure('invalid', 'users and groups that begin with system: are never passed on', { reason: 'SystemIdentity' })
  const headers = requestHeaders(visit.headers, { impersonation: isAgent })
  return {
    method: visit.method,
    path: ask.path,
    query: queryOf(ask.query),
    headers: visit.upgrade === undefined ? headers : { ...headers, Upgrade: [visit.upgrade], Connection: ['upgrade'] },
    length: visit.length,
    impersonation: right.impersonation,
  }
}

const FROM_1_MS_TO_16_S = Array.from({ length: 8 }, (_, at) => 0.001 * 4 ** at)

/** The names are those of GitLab's kas, so that its dashboards show ours. */
export function createVisitMeters(metrics: Metrics) {
  const { counter } = metersOf(metrics)
  const routing = metrics.histogram({
    name: 'k8s_api_proxy_routing_duration_seconds',
    help: 'How long it took to find a connection of the agent',
    labels: ['status'],
    buckets: FROM_1_MS_TO_16_S,
  })
  const timeouts = counter('k8s_api_proxy_routing_timeout_total', 'Requests for which no agent connected in time')
  const answers = counter(
    'berth_kas_kubernetes_api_requests_total',
    'Requests to clusters by the rule that let them pass and by status of the answer; 0 when there was none',
    'access',
    'status',
  )
  const slowed = counter(
    'berth_kas_kubernetes_api_limited_total',
    'Requests to clusters that were answered 429, by the limit: of a person, of the accounts of a namespace, of tokens that are not known, of refusals, or of questions about projects',
    'limit',
  )
  const turnedAway = counter(
    'berth_kas_kubernetes_api_connections_refused_total',
    'Connections of people that were not taken, because there were too many in all or from one network',
    'reason',
  )
  turnedAway.add({ reason: 'full' }, 0)
  return {
    turnedAway: (reason: 'full' | 'address-full') => turnedAway.add({ reason }),
    slowed: (limit: Limit) => slowed.add({ limit }),
    routed: (time: number, status: 'success' | 'aborted') => routing.observe(time, { status }),
    timedOut: () => timeouts.add(),
    answered: (right: { by: string } | undefined, status: number) =>
      answers.add({ access: right?.by ?? 'none', status: String(status) }),
  }
}
