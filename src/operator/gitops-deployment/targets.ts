import { type Identity, type Kube, kubeFromSecret, type Reach } from '../../adapters/kube/index.ts'
import {
  type CoreSecret,
  type GitOpsDeployment,
  type GitOpsDeploymentManagedEnvironment,
  KUBECONFIG_KEY,
  keyOf,
  kubeconfigIn,
  nameOf,
  refOf,
  secretTypes,
  userOfAccount,
} from '../../api/index.ts'
import type { Destination } from '../../engines/gitops/index.ts'
import { type Clock, Failure, minutes, type Secret } from '../../std/index.ts'
import { type Books, BY } from './books.ts'
import { environmentNames, noEnvironment } from './environment-name.ts'

/** Clients for targets, kept while the credentials are the same. */
export interface Targets {
  of(environment: GitOpsDeploymentManagedEnvironment, secret: CoreSecret): Kube
  /** The own cluster as this tenant: the same client for all of his deployments, so that they share their watches. */
  as(kube: Kube, tenant: Identity): Kube
  close(): void
}

/** Which targets anybody still uses: the keys of environments, and the names of tenants. */
export interface InUse {
  environments: ReadonlySet<string>
  tenants: ReadonlySet<string>
}

export interface Tidiness {
  clock: Clock
  inUse: () => InUse
}

/** What nobody uses any more is closed and forgotten by then, with its credentials. */
const PAUSE = minutes(5)

/** Without `tidiness` they live until `close`. */
export function createTargets(reach: Reach | undefined, tidiness?: Tidiness): Targets {
  const open = new Map<string, { version: string; kube: Kube }>()
  const tenants = new Map<string, Kube>()
  let calm: (() => void) | undefined
  let isClosed = false
  const tidySoon = () => {
    // A reconcile that is still ending must not leave a timer behind.
    if (!tidiness || isClosed) return
    calm ??= tidiness.clock.after(PAUSE, () => {
      calm = undefined
      tidy(tidiness.inUse())
      if (open.size + tenants.size > 0) tidySoon()
    })
  }
  const tidy = (used: InUse) => {
    for (const user of tenants.keys()) if (!used.tenants.has(user)) tenants.delete(user)
    for (const [key, { kube }] of open) {
      if (used.environments.has(key)) continue
      open.delete(key)
      void kube.close()
    }
  }
  return {
    of(environment, secret) {
      tidySoon()
      const key = keyOf(refOf(environment))
      const { apiURL, allowInsecureSkipTLSVerify } = environment.spec
      const version = JSON.stringify([secret.metadata.uid, secret.metadata.resourceVersion, apiURL, allowInsecureSkipTLSVerify])
      const known = open.get(key)
      if (known?.version === version) return known.kube
      void known?.kube.close()
      const kube = kubeFromSecret(kubeconfigOf(secret), {
        server: apiURL,
        insecureSkipTLSVerify: allowInsecureSkipTLSVerify,
        reach,
        tenant: environment.metadata.namespace,
        subject: { object: nameOf(environment), field: 'spec.apiURL' },
      })
      open.set(key, { version, kube })
      return kube
    },
    as(kube, tenant) {
      tidySoon()
      const known = tenants.get(tenant.user) ?? kube.as(tenant)
      tenants.set(tenant.user, known)
      return known
    },
    close() {
      isClosed = true
      calm?.()
      tenants.clear()
      for (const { kube } of open.values()) void kube.close()
      open.clear()
    },
  }
}

export const targetsIn = ({ environments, deployments }: Books): InUse => ({
  environments: new Set(
    [...environments.all()]
      .map((environment) => keyOf(refOf(environment)))
      .filter((key) => deployments.by(BY.environment, key).length > 0),
  ),
  tenants: new Set([...deployments.all()].map((deployment) => tenantOf(deployment).user)),
})

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
  books: Books,
  { kube, targets }: { kube: Kube; targets: Targets },
): Destination {
  const { metadata, spec } = deployment
  const own = metadata.namespace ?? ''
  if (!spec.destination?.environment) {
    return { kube: targets.as(kube, tenantOf(deployment)), namespace: own }
  }
  const environment = environmentOf(deployment, books)
  const { namespaces = [], clusterResources, allowedKinds, podSecurityLabels } = environment.spec
  return {
    kube: targets.of(environment, secretOf(environment, books)),
    namespace: spec.destination.namespace || namespaces[0],
    namespaces,
    clusterResources,
    allowedKinds,
    podSecurityLabels,
  }
}

function environmentOf(deployment: GitOpsDeployment, { environments }: Books): GitOpsDeploymentManagedEnvironment {
  const { namespace } = deployment.metadata
  for (const name of environmentNames(deployment.spec)) {
    const found = environments.get({ namespace, name })
    if (found) return found
  }
  throw noEnvironment(deployment)
}

function secretOf({ metadata: { namespace, name }, spec }: GitOpsDeploymentManagedEnvironment, { secrets }: Books): CoreSecret {
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
