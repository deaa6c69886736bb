import {
  annotations,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type DeploymentTargetClass,
  type Environment,
  type EnvironmentSpec,
  Environments,
  labels,
  MANAGED_BY_BERTH,
  type Namespace,
  typeMetaOf,
  YES,
} from '../../api/index.ts'
import { Failure } from '../../std/index.ts'

/** Each onboarded namespace gets these, in the order in which versions are promoted. */
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

/** The class of the claims: the one that the namespace names, else the default one, else the only one. */
export function chooseClass(namespace: Namespace, classes: DeploymentTargetClass[]): string {
  const asked = namespace.metadata.annotations?.[annotations.onboardingClass]
  if (asked) return asked
  const defaults = classes.filter(({ metadata }) => metadata.annotations?.[annotations.defaultClass] === YES)
  const [only, another] = defaults.length > 0 ? defaults : classes
  if (only && !another) return only.metadata.name
  const names = (defaults.length > 0 ? defaults : classes).map(({ metadata }) => metadata.name).sort()
  const why = only ? `several DeploymentTargetClasses could be meant: ${names.join(', ')}` : 'there is no DeploymentTargetClass'
  throw new Failure('invalid', `the claims of the namespace cannot be made: ${why}`, {
    reason: 'OnboardingClassUnknown',
    object: `Namespace ${namespace.metadata.name}`,
    remedy: `Name one in the annotation ${annotations.onboardingClass} of the namespace, or annotate one class with ${annotations.defaultClass}: "${YES}"`,
  })
}
