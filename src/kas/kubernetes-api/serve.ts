import { type HttpServer, type Metrics, serveVisits } from '../../adapters/http/index.ts'
import type { Cache, Kube } from '../../adapters/kube/index.ts'
import type { Agent } from '../../api/index.ts'
import type { Clock, ListenerKeys, Log } from '../../std/index.ts'
import type { AgentConfigurations, Router } from '../ports.ts'
import type { Projects } from '../project.ts'
import { createDevelops } from './develop.ts'
import { createPace } from './pace.ts'
import { createIdentify } from './people.ts'
import type { Spaces } from './spaces.ts'
import { createVisitMeters, receiveVisits } from './visit.ts'

export interface KubernetesApiServer {
  /** `host:port`; port 0 lets the kernel choose. */
  address: string
  tls: ListenerKeys | undefined
  /** How long sessions may go on when the server stops, milliseconds. */
  grace: number
  /** For which tokens may have been issued, beside the API server's own. */
  audience: string
  /** Requests of one person in a second. */
  perSecond: number
  kube: Kube
  agents: Cache<Agent>
  projects: Projects
  configurations: AgentConfigurations
  spaces: Spaces
  router: Router
  metrics: Metrics
  clock: Clock
  log: Log
}

/** Listens for people and jobs on their way to agents' clusters. Stop it before what carries the calls to agents. */
export function serveKubernetesApi(given: KubernetesApiServer): Promise<HttpServer> {
  const {
    address,
    tls,
    grace,
    audience,
    perSecond,
    kube,
    agents,
    projects,
    configurations,
    spaces,
    router,
    metrics,
    clock,
    log,
  } = given
  const identify = createIdentify(kube, audience, clock)
  const doors = { agents, projects, configurations, spaces, identify, develops: createDevelops(kube, clock), clock }
  const meters = createVisitMeters(metrics)
  const pace = createPace({ identify, perSecond, operator: spaces.operator, slowed: meters.slowed, clock })
  const visit = receiveVisits({ doors, pace, router, meters, clock, log })
  return serveVisits({ address, tls, visit, grace, turnedAway: meters.turnedAway, clock, log })
}
