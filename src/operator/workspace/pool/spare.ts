import {
  ANYBODY,
  annotations,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  type DeploymentTargetClass,
  indexBy,
  isDeleting,
  isPrivate,
  labels,
  MANAGED_BY_BERTH,
  typeMetaOf,
  type WorkspaceClass,
  type WorkspaceClassSpec,
} from '../../../api/index.ts'
import { digest } from '../desired/names.ts'
import { makesPrivate } from '../place/claim.ts'

/** A claim that waits for a workspace belongs to the pool of its class; one that has a workspace does not. */
export const sparesBy = ({ metadata }: DeploymentTargetClaim): string[] => {
  const uid = metadata.labels?.[labels.warmPool]
  return uid === undefined ? [] : [uid]
}

const READY = 'ready'
const RETIRED = 'retired'

const stateOf = ({ metadata }: DeploymentTargetClaim): string => metadata.annotations?.[annotations.warmState] ?? ''

export const isReady = (spare: DeploymentTargetClaim): boolean =>
  stateOf(spare) === READY && spare.status?.phase === 'Bound' && !isDeleting(spare)

/** Since when it is to go, as the status of a clock; nothing for one that is not. */
export function retiredSince(spare: DeploymentTargetClaim): number | undefined {
  const [word, time = ''] = stateOf(spare).split(' ')
  return word === RETIRED ? Date.parse(time) : undefined
}

export const READY_STATE = { [annotations.warmState]: READY }
export const retiredState = (time: string) => ({ [annotations.warmState]: `${RETIRED} ${time}` })

/** Names the settings that a spare is made from: one that was made from others fits nobody. */
const recipeOf = ({ deploymentTargetClassName, sharedNamespace, storage }: WorkspaceClassSpec): string =>
  digest(
    JSON.stringify([
      deploymentTargetClassName ?? '',
      sharedNamespace ?? '',
      String(storage?.size ?? ''),
      storage?.storageClassName ?? '',
    ]),
  ).slice(0, 16)

export const fits = (
  spare: DeploymentTargetClaim,
  settings: WorkspaceClassSpec,
  targetClass: DeploymentTargetClass | undefined,
): boolean =>
  spare.metadata.annotations?.[annotations.warmRecipe] === recipeOf(settings) && (isPrivate(spare) || !makesPrivate(targetClass))

/** Where its volume is, as the class said when it was made; empty for the namespace of its target. */
export const sharedNamespaceOf = ({ metadata }: DeploymentTargetClaim): string =>
  metadata.annotations?.[annotations.warmNamespace] ?? ''

/** The name of the class in whose pool it is. Only whose UID is that on the label is that class. */
export const classOf = ({ metadata }: DeploymentTargetClaim): string => metadata.annotations?.[annotations.warmClass] ?? ''

/** The n-th of a class in a namespace. The same call gives the same name, so that nobody who is killed makes two of one. */
export const nameOfSpare = ({ metadata }: WorkspaceClass, n: number): string =>
  `warm-${digest(metadata.uid ?? '').slice(0, 8)}-${n}`

export const spareOf = (
  owner: WorkspaceClass,
  ref: { name: string; namespace: string },
  targetClass: DeploymentTargetClass | undefined,
): DeploymentTargetClaim => ({
  ...typeMetaOf(DeploymentTargetClaims),
  metadata: {
    ...ref,
    labels: { [labels.managedBy]: MANAGED_BY_BERTH, [labels.warmPool]: owner.metadata.uid ?? '' },
    annotations: {
      [annotations.warmClass]: owner.metadata.name,
      [annotations.warmRecipe]: recipeOf(owner.spec),
      [annotations.warmNamespace]: owner.spec.sharedNamespace ?? '',
      // Credentials that are not private are for all who work in the namespace: they all must have leave to use the tier.
      ...(makesPrivate(targetClass) ? { [annotations.privateTo]: '' } : { [annotations.requester]: ANYBODY }),
    },
  },
  spec: { deploymentTargetClassName: owner.spec.deploymentTargetClassName ?? '' },
})

/** Of the volume in its target: a UID is nobody else's. */
export const volumeNameOf = ({ metadata }: DeploymentTargetClaim): string => `warm-${metadata.uid ?? ''}`

const isSpare = (claim: DeploymentTargetClaim): boolean => sparesBy(claim).length > 0

/** Spares by the class in whose pool they are, by the name of it, and by their namespace. */
export const byPool = indexBy(sparesBy)
export const byClassName = indexBy((claim: DeploymentTargetClaim) => (isSpare(claim) ? [classOf(claim)] : []))
export const byNamespace = indexBy((claim: DeploymentTargetClaim) => (isSpare(claim) ? [claim.metadata.namespace ?? ''] : []))
