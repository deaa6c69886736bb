import {
  type CoreSecret,
  dataOf,
  type Environment,
  type GitOpsDeploymentManagedEnvironment,
  GitOpsDeploymentManagedEnvironments,
  labels,
  ownedBy,
  secretTypes,
  typeMetaOf,
} from '../../api/index.ts'
import type { EnvironmentAccess } from './destination.ts'

const MANAGED_ENVIRONMENT = 'managed-environment-'
const SECRET_COPY = 'managed-environment-secret-'

export const managedEnvironmentRef = ({ metadata }: Environment) => ({
  name: MANAGED_ENVIRONMENT + metadata.name,
  namespace: metadata.namespace,
})

export const secretCopyRef = ({ metadata }: Environment) => ({
  name: SECRET_COPY + metadata.name,
  namespace: metadata.namespace,
})

/** The other way round: for which Environment would an object of this name be? */
export const environmentNameIn = {
  managedEnvironment: (name: string) => after(MANAGED_ENVIRONMENT, name),
  secretCopy: (name: string) => after(SECRET_COPY, name),
}

const after = (prefix: string, name: string): string | undefined =>
  name.startsWith(prefix) ? name.slice(prefix.length) : undefined

type Spec = GitOpsDeploymentManagedEnvironment['spec']

/** Every field is written out, so that a comparison and a patch leave nothing of an older spec behind. */
export const managedEnvironmentSpec = (access: EnvironmentAccess, secretName: string): Spec => ({
  apiURL: access.apiURL,
  credentialsSecret: secretName,
  allowInsecureSkipTLSVerify: access.allowInsecureSkipTLSVerify,
  namespaces: access.namespaces,
  clusterResources: access.clusterResources,
})

export function managedEnvironmentFor(
  environment: Environment,
  access: EnvironmentAccess,
  spec: Spec,
): GitOpsDeploymentManagedEnvironment {
  const { name, namespace } = managedEnvironmentRef(environment)
  const { claimUid } = access.through ?? {}
  return {
    ...typeMetaOf(GitOpsDeploymentManagedEnvironments),
    metadata: {
      name,
      ...(namespace && { namespace }),
      ...(claimUid && { labels: { [labels.claimUid]: claimUid } }),
      ownerReferences: [ownedBy(environment)],
    },
    spec,
  }
}

/** The copy has the type that managed environments want; users are not asked to know that type. */
export function secretCopyFor(environment: Environment, source: CoreSecret): CoreSecret {
  const { name, namespace } = secretCopyRef(environment)
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      ...(namespace && { namespace }),
      labels: { [labels.environmentSecret]: environment.metadata.name },
      ownerReferences: [ownedBy(environment)],
    },
    type: secretTypes.managedEnvironment,
    data: dataOf(source),
  }
}
