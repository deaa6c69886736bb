import {
  type Answers,
  type Cache,
  connectTo,
  createCaches,
  type Kube,
  type Memory,
  requestToken,
} from '../../adapters/kube/index.ts'
import {
  ClusterRoles,
  type KubeObject,
  Namespaces,
  nameOfSpaceAccount,
  ownedBy,
  type Ref,
  ServiceAccounts,
  type SpaceRequest,
  typeMetaOf,
} from '../../api/index.ts'
import { createOnce } from '../../engines/apply/index.ts'
import type { ControllerContext } from '../../engines/controller/index.ts'
import { isFailure, minutes, remembered, type Secret, withoutEnd } from '../../std/index.ts'
import { ownLabels, SPACE_ROLE_PREFIX, type Space } from './desired.ts'
import { unableToProvision } from './failures.ts'
import { uidOf } from './namespace.ts'
import { createPieces, MANAGER, OF_SPACES, PIECE_WATCHES } from './pieces.ts'
import type { Site } from './site.ts'
import { secondsOf } from './token.ts'

/** The way to the clusters of agents: kas' door to their Kubernetes APIs. */
export interface AgentAccess {
  /** URL of that door, such as `https://kas.example.com:8154`. */
  url: string
  /** PEM of the authorities of kas. */
  ca?: Uint8Array | undefined
  /** Shows kas that it is the operator who asks. */
  token: () => Promise<Secret<string>>
  /** For what those clusters answer. */
  answers?: Answers | undefined
  /** For what is kept of those clusters. */
  memory?: Memory | undefined
  /** For whom the tokens of members must be issued, so that kas takes them. */
  audience: string
}

/** A site that is watched while it is in use. */
export interface OpenSite extends Site {
  /** Says why it cannot be worked with yet. */
  waitingFor(): string | undefined
  close(): void
}

/**
 * The cluster of an agent. Members show kas a token of a service account beside the request, and kas lets them in as the
 * service account of their space: so no credential of the agent's cluster ever leaves it (docs/decisions/0165-spaces-in-the-clusters-of-agents.md).
 */
export function agentSite(
  agent: Ref,
  { context, access, accounts }: { context: ControllerContext; access: AgentAccess; accounts: Cache<KubeObject> },
  bell: { ready: () => void; changed: (namespace: KubeObject | undefined) => void },
): OpenSite {
  const { clock, log } = context
  const server = `${withoutEnd(access.url, '/')}/k8s/namespaces/${agent.namespace}/agents/${agent.name}`
  const { ca, token, answers, memory } = access
  const tenant = agent.namespace ?? ''
  const openShare = answers && (() => answers.open(tenant))
  const kube = connectTo({ server, ca, token, clock, openShare })
  const caches = createCaches({ kube, clock, log: log.with({ agent: `${tenant}/${agent.name}` }), memory, tenant })
  const namespaces = caches.of(Namespaces, { ...OF_SPACES, metadataOnly: true })
  const far = caches.of(ServiceAccounts, { ...OF_SPACES, metadataOnly: true })
  namespaces.onChange((now, before) => bell.changed(now ?? before))
  for (const { kind, ...options } of PIECE_WATCHES)
    caches
      .of<KubeObject>(kind, options)
      .onChange((now, before) => bell.changed(namespaces.get({ name: (now ?? before)?.metadata.namespace ?? '' })))
  const hasBerth = remembered(hasSpaceRoles, () => '', clock, { fresh: minutes(1), most: 1 })
  const stopping = new AbortController()
  caches.ready(stopping.signal).then(bell.ready, () => undefined) // Closed before it was ready.
  return {
    agent,
    kube: caches.kube,
    namespaces,
    pieces: createPieces(context, caches.kube, caches, { hasBerth: () => hasBerth(caches.kube) }),
    endpoint: () => ({
      server,
      certificateAuthority: Buffer.from(ca ?? '').toString('base64'),
      insecureSkipTLSVerify: false,
    }),
    issue: (space) => issue(context.kube, space, access.audience),
    accountUid: ({ request }) => accounts.get(accountOf(request))?.metadata.uid,
    accountIn: (namespace) => far.in(namespace)[0],
    waitingFor: () => caches.waitingFor()[0]?.why,
    close() {
      stopping.abort()
      void caches.stop().then(() => kube.close())
    },
  }
}

/** Where Berth is installed, too, `admin` gives its kinds. An agent that may not read roles lets nobody see that. */
async function hasSpaceRoles(kube: Kube): Promise<boolean> {
  try {
    return (await kube.get(ClusterRoles, { name: `${SPACE_ROLE_PREFIX}admin` })) !== undefined
  } catch (thrown) {
    if (isFailure(thrown, 'forbidden')) return false
    throw thrown
  }
}

const accountOf = ({ metadata }: SpaceRequest): Ref => ({
  name: nameOfSpaceAccount(metadata.uid ?? ''),
  namespace: metadata.namespace,
})

/** A token of the service account beside the request, which is made for it and goes with it. */
async function issue(kube: Kube, { request, tier }: Space, audience: string): Promise<Secret<string>> {
  const { name, namespace = '' } = accountOf(request)
  const account = {
    ...typeMetaOf(ServiceAccounts),
    metadata: { name, namespace, labels: ownLabels(request), ownerReferences: [ownedBy(request)] },
    automountServiceAccountToken: false,
  }
  const { made, there = made } = await createOnce(kube, ServiceAccounts, account, MANAGER)
  if (!there?.metadata.ownerReferences?.some(({ uid }) => uid === uidOf(request)))
    throw unableToProvision(
      `ServiceAccount ${namespace}/${name} is there already and is not of this request`,
      'Delete that ServiceAccount',
    )
  return requestToken(kube, { namespace, name }, { audiences: [audience], seconds: secondsOf(tier.tokenLifetime) })
}
