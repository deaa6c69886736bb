import type { Identity, Kube, Reach } from '../../../adapters/kube/index.ts'
import {
  type CoreSecret,
  Environments,
  type GitOpsDeployment,
  type GitOpsDeploymentManagedEnvironment,
  KUBECONFIG_KEY,
  keyOf,
  kubeconfigIn,
  labels,
  refOf,
  secretTypes,
  userOfAccount,
} from '../../../api/index.ts'
import type { Destination } from '../../../engines/gitops/index.ts'
import { credentialsForEnvironment, openTarget } from '../../../engines/targets/index.ts'
import { type Clock, Failure, minutes, pause, type Secret } from '../../../std/index.ts'
import { byEnvironment, environmentNames, MADE_PREFIX, type SyncCaches } from '../watch/caches.ts'

export type Targets = ReturnType<typeof createTargets>

/** Clients for targets, kept while the credentials are the same. */
export function createTargets(reach: Reach | undefined) {
  const open = new Map<string, { version: string; kube: Kube }>()
  const tenants = new Map<string, Kube>()
  const keepOnly = (used: ReadonlySet<string>) => {
    for (const user of tenants.keys()) if (!used.has(user)) tenants.delete(user)
    for (const [key, { kube }] of open) {
      if (used.has(key)) continue
      open.delete(key)
      void kube.close()
    }
  }
  return {
    of(environment: GitOpsDeploymentManagedEnvironment, secret: CoreSecret): Kube {
      const key = keyOf(refOf(environment))
      const { apiURL, allowInsecureSkipTLSVerify } = environment.spec
      const version = JSON.stringify([secret.metadata.uid, secret.metadata.resourceVersion, apiURL, allowInsecureSkipTLSVerify])
      const known = open.get(key)
      if (known?.version === version) return known.kube
      void known?.kube.close()
      const kube = openTarget(credentialsForEnvironment(environment, kubeconfigOf(secret)), { reach })
      open.set(key, { version, kube })
      return kube
    },
    /** The own cluster as this tenant: the same client for all of his deployments, so that they share their watches. */
    as(kube: Kube, tenant: Identity): Kube {
      const known = tenants.get(tenant.user) ?? kube.as(tenant)
      tenants.set(tenant.user, known)
      return known
    },
    /** Closes and forgets all others, with their credentials: `used` are keys of environments, and users. */
    keepOnly,
    close: (): void => keepOnly(new Set()),
  }
}

/** Clients that nobody uses any more are closed by then. */
const PAUSE = minutes(5)

/** Until the signal aborts, which closes all. */
export async function keepTidy(
  targets: Targets,
  { clock, used }: { clock: Clock; used: () => ReadonlySet<string> },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await pause(clock, PAUSE, signal)
    targets.keepOnly(signal.aborted ? new Set() : used())
  }
}

/** The targets in use: environments by their keys, and tenants by their users. */
export function targetsIn({ environments, deployments }: SyncCaches): ReadonlySet<string> {
  const keys = [...environments.all()].map((environment) => keyOf(refOf(environment)))
  const users = [...deployments.all()].map((deployment) => tenantOf(deployment).user)
  return new Set([...keys.filter((key) => deployments.by(byEnvironment, key).length > 0), ...users])
}

/** The service account in the namespace of a deployment that stands for its tenant. */
export const tenantOf = ({ metadata, spec }: GitOpsDeployment): Identity => ({
  user: userOfAccount({ namespace: metadata.namespace ?? '', name: spec.serviceAccountName || 'default' }),
})

/**
 * Where a deployment goes, and as whom: a managed environment with its own credentials, or the own namespace as a
 * service account of that namespace. The operator's own rights are never lent to what comes from a repository.
 */
export function destinationOf(
  deployment: GitOpsDeployment,
  caches: SyncCaches,
  { kube, targets }: { kube: Kube; targets: Targets },
): Destination {
  const { metadata, spec } = deployment
  const own = metadata.namespace ?? ''
  if (!spec.destination?.environment) {
    return { kube: targets.as(kube, tenantOf(deployment)), namespace: own }
  }
  const environment = environmentOf(deployment, caches)
  const { namespaces = [], clusterResources, allowedKinds, podSecurityLabels } = environment.spec
  return {
    kube: targets.of(environment, secretOf(environment, caches)),
    namespace: spec.destination.namespace || namespaces[0],
    namespaces,
    clusterResources,
    allowedKinds,
    podSecurityLabels,
    remedies: remediesOf(environment),
  }
}

/** What an Environment has made it writes again, so a change there does not last. */
function remediesOf({ metadata }: GitOpsDeploymentManagedEnvironment): Destination['remedies'] {
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === Environments.kind)
  if (!owner) return undefined
  const isClaimed = metadata.labels?.[labels.claimUid] !== undefined
  return {
    clusterResources: isClaimed
      ? `leave it out of this path: Environment ${owner.name} leads to one namespace`
      : `leave it out of this path, or set clusterResources in spec.unstableConfigurationFields.kubernetesCredentials of Environment ${owner.name}`,
  }
}

function environmentOf(deployment: GitOpsDeployment, { environments }: SyncCaches): GitOpsDeploymentManagedEnvironment {
  const { namespace } = deployment.metadata
  for (const name of environmentNames(deployment.spec)) {
    const found = environments.get({ namespace, name })
    if (found) return found
  }
  throw noEnvironment(deployment)
}

function secretOf(
  { metadata: { namespace, name }, spec }: GitOpsDeploymentManagedEnvironment,
  { secrets }: SyncCaches,
): CoreSecret {
  const secret = secrets.get({ namespace, name: spec.credentialsSecret })
  if (secret) return secret
  throw missing(
    `GitOpsDeploymentManagedEnvironment ${name}: there is no Secret ${spec.credentialsSecret} of type ${secretTypes.managedEnvironment} in namespace ${namespace}`,
    'Create it, with a kubeconfig in it',
  )
}

function kubeconfigOf(secret: CoreSecret): Secret<string> {
  const kubeconfig = kubeconfigIn(secret)
  if (kubeconfig) return kubeconfig
  throw missing(
    `missing ${KUBECONFIG_KEY} field in Secret ${secret.metadata.name}`,
    `Store a kubeconfig under the key ${KUBECONFIG_KEY}`,
  )
}

const missing = (message: string, remedy: string) => new Failure('invalid', message, { reason: 'EnvironmentNotReady', remedy })

/** Neither is there. People make Environments, and the rest follows; so the Environment is what the message speaks of. */
export function noEnvironment({ metadata, spec }: GitOpsDeployment): Failure {
  const written = spec.destination?.environment ?? ''
  const environment = written.startsWith(MADE_PREFIX) ? written.slice(MADE_PREFIX.length) : written
  const where = `namespace ${metadata.namespace}`
  const message = `spec.destination.environment "${written}": Environment ${environment} in ${where} does not exist or leads to no cluster yet, and there is no GitOpsDeploymentManagedEnvironment ${written}`
  const remedy = `Create Environment ${environment}, or mend what its condition Ready says (kubectl -n ${metadata.namespace} get environments.appstudio.redhat.com ${environment}); one that names neither a claim nor credentials leads nowhere else than its own namespace, which is meant when spec.destination.environment is left out`
  return new Failure('invalid', message, { reason: 'EnvironmentNotReady', remedy })
}
