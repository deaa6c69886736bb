import {
  annotations,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type Environment,
  type EnvironmentSpec,
  Environments,
  labels,
  MANAGED_BY_BERTH,
  type Namespace,
  typeMetaOf,
} from '../../api/index.ts'

/** What each onboarded namespace gets, in the order in which versions are promoted. */
export const STAGES = [
  { name: 'development', displayName: 'Development', deploymentStrategy: 'AppStudioAutomated' },
  { name: 'staging', displayName: 'Staging', deploymentStrategy: 'Manual', parentEnvironment: 'development' },
] as const satisfies (EnvironmentSpec & { name: string })[]

type Stage = (typeof STAGES)[number]

/** The stages that were made already, whether they still exist or not. */
export const madeStages = ({ metadata }: Namespace): string[] =>
  (metadata.annotations?.[annotations.onboarded] ?? '').split(',').filter((name) => name !== '')

export const missingStages = (namespace: Namespace): Stage[] => {
  const made = madeStages(namespace)
  return STAGES.filter(({ name }) => !made.includes(name))
}

const metadataOf = (name: string, namespace: Namespace) => ({
  name,
  namespace: namespace.metadata.name,
  labels: { [labels.managedBy]: MANAGED_BY_BERTH },
})

export const claimFor = ({ name }: Stage, namespace: Namespace, className: string): DeploymentTargetClaim => ({
  ...typeMetaOf(DeploymentTargetClaims),
  metadata: metadataOf(name, namespace),
  spec: { deploymentTargetClassName: className },
})

export const environmentFor = ({ name, ...spec }: Stage, namespace: Namespace): Environment => ({
  ...typeMetaOf(Environments),
  metadata: metadataOf(name, namespace),
  spec: { ...spec, configuration: { target: { deploymentTargetClaim: { claimName: name } } } },
})
