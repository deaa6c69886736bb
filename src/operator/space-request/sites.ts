import type { Cache } from '../../adapters/kube/index.ts'
import {
  AGENT_PROVISIONER,
  type Agent,
  Agents,
  annotations,
  byUid,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type DeploymentTargetClass,
  DeploymentTargetClasses,
  isDeleting,
  type KubeObject,
  keyOf,
  labels,
  type Ref,
  refFromKey,
  refOf,
  requesterOf,
  ServiceAccounts,
  type SpaceRequest,
  SpaceRequests,
  tierNameOf,
} from '../../api/index.ts'
import type { ControllerContext, Waker } from '../../engines/controller/index.ts'
import { type AgentAccess, agentSite, type OpenSite } from './agent-site.ts'
import { unableBecause, unableToProvision } from './failures.ts'
import { OF_SPACES } from './pieces.ts'
import type { Site } from './site.ts'

export type Sites = ReturnType<typeof createSites>

interface SiteCaches {
  agents: Cache<Agent>
  claims: Cache<DeploymentTargetClaim>
  classes: Cache<DeploymentTargetClass>
}

/** The agent, as `namespace/name`. Where there is a space already it is where it is, whatever an annotation says meanwhile. */
export function agentOf({ metadata, status }: SpaceRequest): string | undefined {
  const [space] = status?.namespaceAccess ?? []
  return space ? space.agent : metadata.annotations?.[annotations.agent]
}

/**
 * The clusters in which spaces are made: the operator's own, and those of agents while they are in use. Something that happens in the
 * cluster of an agent wakes the requests there.
 */
export function createSites(
  context: ControllerContext,
  { wake, signal }: Waker,
  { own, access }: { own: Site; access: AgentAccess | undefined },
) {
  const { caches } = context
  const read: SiteCaches = {
    agents: caches.of(Agents),
    claims: caches.of(DeploymentTargetClaims),
    classes: caches.of(DeploymentTargetClasses),
  }
  const requests = caches.of(SpaceRequests)
  const accounts = caches.of(ServiceAccounts, { ...OF_SPACES, metadataOnly: true })
  const open = new Map<string, OpenSite>()
  const bellOf = (agent: string) => ({
    ready() {
      for (const request of requests.all()) if (agentOf(request) === agent) wake(refOf(request))
    },
    changed(namespace: KubeObject | undefined) {
      const key = namespace?.metadata.annotations?.[annotations.spaceRequest]
      const request = key ? requests.get(refFromKey(key)) : undefined
      // What is written in one cluster is no news for requests whose spaces are in others.
      if (request && agentOf(request) === agent) wake(refOf(request))
    },
  })
  const siteOf = (agent: Ref, key: string, by: AgentAccess): OpenSite => {
    const site = open.get(key) ?? agentSite(agent, { context, access: by, accounts }, bellOf(keyOf(agent)))
    open.set(key, site)
    return site
  }
  /** The way to a cluster is left when its agent is, or takes no more spaces. */
  const leave = () => {
    for (const [key, site] of open) {
      const agent = site.agent && read.agents.get(site.agent)
      if (agent?.spec.spaces === true && key.endsWith(` ${agent.metadata.uid}`)) continue
      site.close()
      open.delete(key)
    }
  }
  const stop = read.agents.onChange(leave)
  const close = () => {
    stop()
    for (const site of open.values()) site.close()
    open.clear()
  }
  signal.addEventListener('abort', close, { once: true })
  return {
    /** The agent is gone for good, and nothing can be done in its cluster any more. */
    isLost(request: SpaceRequest): boolean {
      const key = agentOf(request)
      return key !== undefined && !read.agents.get(refFromKey(key))
    },
    /** The cluster of a request. `why`: it cannot be worked with yet. Throws an `invalid` Failure where there is none for it. */
    of(request: SpaceRequest): { site: Site } | { why: string } {
      const key = agentOf(request)
      if (key === undefined) return { site: own }
      if (!access)
        throw unableToProvision('the operator does not know how to reach the clusters of agents', 'Start it with --kas-api')
      const agent = agentFor(key, read)
      // What is there already is kept, also when its claim has gone and its class with it.
      if (!request.status?.namespaceAccess && !isDeleting(request)) mandate(request, key, read)
      const site = siteOf(refOf(agent), `${key} ${agent.metadata.uid}`, access)
      const why = site.waitingFor()
      if (why !== undefined) return { why: `waiting for Agent ${key}: ${why}` }
      return { site }
    },
  }
}

/** Both ends agree: the class names the agent, and the agent takes spaces. */
function agentFor(key: string, { agents }: SiteCaches): Agent {
  const agent = agents.get(refFromKey(key))
  if (!agent)
    throw unableBecause(
      'AgentNotFound',
      `there is no Agent ${key}`,
      'Register it with `berth agent create`, or make a class that names another',
    )
  if (agent.spec.spaces === true) return agent
  throw unableToProvision(`Agent ${key} takes no spaces`, 'Set spec.spaces of the Agent to true')
}

/**
 * A tenant may write any annotation; whose cluster it is, and what may be had there, the class says. Whether somebody may use the class was
 * asked of who made the claim, so a request that somebody else makes for it is none.
 */
function mandate(request: SpaceRequest, key: string, { claims, classes }: SiteCaches): void {
  const { metadata, spec } = request
  const [claim] = claims.by(byUid, metadata.labels?.[labels.claimUid] ?? 'none')
  const from = claim && classes.get({ name: claim.spec.deploymentTargetClassName })
  const isMeant =
    claim !== undefined &&
    from?.spec.provisioner === AGENT_PROVISIONER &&
    from.spec.parameters?.agent === key &&
    tierNameOf(from) === spec.tierName &&
    requesterOf(claim) === requesterOf(request)
  if (isMeant && claim.metadata.namespace === metadata.namespace) return
  throw unableToProvision(
    `no DeploymentTargetClaim of this namespace is behind it, by the same requester, whose class names Agent ${key} and this tier`,
    'Claim a target of a class with that agent instead of writing a SpaceRequest by hand',
  )
}
