import { type Cache, isNamespaceTerminating } from '../../adapters/kube/index.ts'
import {
  Agents,
  annotations,
  ConfigMaps,
  DeploymentTargets,
  indexBy,
  isDeleting,
  type KubeObject,
  keyOf,
  labels,
  type Namespace,
  Namespaces,
  type Ref,
  refFromKey,
  refOf,
  Secrets,
  type SpaceRequest,
  SpaceRequests,
  SpaceTiers,
} from '../../api/index.ts'
import { type Controller, type ControllerContext, createWakeups, settled, type Watch } from '../../engines/controller/index.ts'
import { createAllowance } from './allowance.ts'
import { ownSite, ROOT_CA_WATCH, type SpaceSettings } from './own-site.ts'
import { MANAGER, OF_SPACES, PIECE_WATCHES } from './pieces.ts'
import { reconcileRequest, type SpaceServices } from './reconcile.ts'
import { agentOf, createSites } from './sites.ts'
import { afterFailure } from './status.ts'

const byTier = indexBy(({ spec }: SpaceRequest) => [spec.tierName])

/** Makes namespaces for SpaceRequests, on this cluster and on those of agents. */
export function spaceRequests(context: ControllerContext, settings: SpaceSettings = {}): Controller<SpaceRequest> {
  const { caches } = context
  const requests = caches.of(SpaceRequests)
  const allowance = createAllowance(caches)
  const site = ownSite(context, settings)
  const wakeups = createWakeups()
  const services: SpaceServices = {
    context,
    sites: createSites(context, wakeups, { own: site, access: settings.agents }),
    tiers: caches.of(SpaceTiers),
    targets: caches.of(DeploymentTargets),
    allowance,
    secrets: caches.of(Secrets, OF_SPACES),
  }
  return {
    name: MANAGER,
    kind: SpaceRequests,
    watches: [
      ...watchesOf(requests, site.namespaces),
      { kind: SpaceRequests, wakes: (request: SpaceRequest) => allowance.wokenBy(request) },
    ],
    wakeups,
    async reconcile(request) {
      try {
        return await reconcileRequest(request, services)
      } catch (failure) {
        // The namespace of the request, or the one made for it, is being deleted: an event follows when it is done.
        if (isNamespaceTerminating(failure)) return settled()
        throw failure
      }
    },
    failed: afterFailure,
  }
}

function watchesOf(requests: Cache<SpaceRequest>, namespaces: Cache<Namespace>): Watch[] {
  const namedBy = (object: KubeObject | undefined): Ref[] => {
    const key = object?.metadata.annotations?.[annotations.spaceRequest]
    return key ? [refFromKey(key)] : []
  }
  const isDeleted = (request: SpaceRequest | undefined) => request !== undefined && isDeleting(request)
  const ofPiece = ({ metadata }: KubeObject) => namedBy(namespaces.get({ name: metadata.namespace ?? '' }))
  const ofCredentials = ({ metadata }: KubeObject) =>
    namedBy(namespaces.get({ name: metadata.labels?.[labels.provisionedNamespace] ?? '' }))
  return [
    {
      kind: Agents,
      wakes: (agent) => [...requests.all()].filter((request) => agentOf(request) === keyOf(refOf(agent))).map(refOf),
    },
    // A request that is kept for a claim waits for its target; no other asks for it.
    { kind: DeploymentTargets, wakes: (target) => namedBy(target).filter((ref) => isDeleted(requests.get(ref))) },
    { kind: SpaceTiers, wakes: ({ metadata }) => requests.by(byTier, metadata.name).map(refOf) },
    { kind: Namespaces, ...OF_SPACES, metadataOnly: true, wakes: namedBy },
    { kind: Secrets, ...OF_SPACES, wakes: (secret) => [...ownerOf(secret), ...ofCredentials(secret)] },
    // New certificates of the API server go into every kubeconfig.
    { kind: ConfigMaps, ...ROOT_CA_WATCH, wakes: () => [...requests.all()].map(refOf) },
    ...PIECE_WATCHES.map((watch) => ({ ...watch, wakes: ofPiece })),
  ]
}

const ownerOf = ({ metadata }: KubeObject): Ref[] =>
  (metadata.ownerReferences ?? [])
    .filter(({ kind }) => kind === SpaceRequests.kind)
    .map(({ name }) => ({ name, namespace: metadata.namespace }))
