import { type HttpServer, type Metrics, type ServeVisitsOptions, serveVisits } from '../../adapters/http/index.ts'
import type { Kube } from '../../adapters/kube/index.ts'
import type { Router } from '../ports.ts'
import type { Doors } from './judge.ts'
import { createPace } from './pace.ts'
import { createIdentify } from './people.ts'
import { createVisitMeters, receiveVisits } from './visit.ts'

/** `grace`: so long sessions may go on when the server stops. */
interface KubernetesApiServer
  extends Omit<Doors, 'identify'>,
    Pick<ServeVisitsOptions, 'address' | 'tls' | 'grace' | 'clock' | 'log'> {
  /** For which tokens may have been issued, beside the API server's own. */
  audience: string
  /** Requests of one person in a second. */
  perSecond: number
  kube: Kube
  router: Router
  metrics: Metrics
}

/** Listens for people and jobs on their way to agents' clusters. Stop it before what carries the calls to agents. */
export function serveKubernetesApi(given: KubernetesApiServer): Promise<HttpServer> {
  const { audience, perSecond, kube, spaces, router, metrics, clock, log } = given
  const identify = createIdentify(kube, audience, clock)
  const meters = createVisitMeters(metrics)
  const pace = createPace({ identify, perSecond, operator: spaces.operator, slowed: meters.slowed, clock })
  const visit = receiveVisits({ doors: { ...given, identify }, pace, router, meters, clock, log })
  return serveVisits({ ...given, visit, turnedAway: meters.turnedAway })
}
