import { annotations, type DeploymentTargetClass, type Namespace, YES } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'

/** The class of the claims: the one that the namespace names, else the default one, else the only one. */
export function chooseClass(namespace: Namespace, classes: DeploymentTargetClass[]): string {
  const asked = namespace.metadata.annotations?.[annotations.onboardingClass]
  if (asked) return asked
  const defaults = classes.filter(({ metadata }) => metadata.annotations?.[annotations.defaultClass] === YES)
  const [only, another] = defaults.length > 0 ? defaults : classes
  if (only && !another) return only.metadata.name
  throw undecided(namespace, only ? namesOf(defaults.length > 0 ? defaults : classes) : undefined)
}

const namesOf = (classes: DeploymentTargetClass[]): string =>
  classes
    .map(({ metadata }) => metadata.name)
    .sort()
    .join(', ')

function undecided({ metadata }: Namespace, candidates: string | undefined): Failure {
  const why = candidates ? `several DeploymentTargetClasses could be meant: ${candidates}` : 'there is no DeploymentTargetClass'
  return new Failure('invalid', `the claims of the namespace cannot be made: ${why}`, {
    reason: 'OnboardingClassUnknown',
    object: `Namespace ${metadata.name}`,
    remedy: `Name one in the annotation ${annotations.onboardingClass} of the namespace, or annotate one class with ${annotations.defaultClass}: "${YES}"`,
  })
}
