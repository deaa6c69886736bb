import type { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from './kinds.ts'
import { isDeleting, type KubeObject } from './kube-object.ts'
import { annotations, SANDBOX_TIER, SPACE_PROVISIONERS, YES } from './labels.ts'

/** The claim that a target names, whichever way it is written; a blank name is none. */
export function claimRefOf(target: DeploymentTarget): { name: string; uid?: string } | undefined {
  const { claimRef } = target.spec
  const written = typeof claimRef === 'string' ? { name: claimRef } : claimRef
  return written?.name ? written : undefined
}

/** The SpaceTier of the spaces that a class makes, which its parameters may name, or anything else. */
export function tierNameOf({ spec: { parameters = {} } }: DeploymentTargetClass): unknown {
  const { tierName = SANDBOX_TIER } = parameters
  return tierName
}

/** The provisioner that made the target; `undefined` for a target that a user made. */
export const provisionedByOf = ({ metadata }: DeploymentTarget): string | undefined =>
  metadata.annotations?.[annotations.provisionedBy] ?? metadata.annotations?.[annotations.provisionedByMisspelt]

/** Whoever deleted it has said that what is in its namespace may go, too, although a claim has it. */
export const isDeletionConfirmed = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.[annotations.confirmDeletion] === YES

/** It is being deleted, and nobody may build on it any more. */
export const isLeaving = (target: DeploymentTarget): boolean => isDeleting(target) && !isKept(target)

/**
 * Deleted while a claim has it, and kept until the claim is gone, as a PersistentVolume is: with it would go the namespace that Berth made,
 * and all that is in it. Its phase says when it is no longer kept.
 */
export const isKept = (target: DeploymentTarget): boolean =>
  isDeleting(target) &&
  target.status?.phase === 'Bound' &&
  SPACE_PROVISIONERS.includes(provisionedByOf(target) ?? '') &&
  !isDeletionConfirmed(target)

/** When a target, or the request that it was made of, goes that is kept for a claim; `kind` as kubectl takes it. */
export const sayKept = (kind: string, { metadata }: KubeObject, claim: string): string =>
  `is deleted, with its namespace and all that is in it, when DeploymentTargetClaim ${claim} is gone; to delete it now: kubectl annotate ${kind} ${metadata.name} -n ${metadata.namespace} ${annotations.confirmDeletion}=${YES}`

export type ReclaimPolicy = NonNullable<NonNullable<DeploymentTarget['status']>['reclaimPolicy']>

/**
 * Decides about a target, and the space behind it, when its claim goes: as it was noted when the target was bound, else
 * when it was made (on the target, or on what it was made from), else as its class says now. In doubt nothing is destroyed.
 */
export function reclaimPolicyOf(
  target: DeploymentTarget,
  { ofClass, madeFrom = [] }: { ofClass: DeploymentTargetClass | undefined; madeFrom?: KubeObject[] },
): ReclaimPolicy {
  const notes = [target, ...madeFrom].map(({ metadata }) => metadata.annotations?.[annotations.reclaimPolicy])
  const noted = notes.find((note) => note === 'Delete' || note === 'Retain')
  return target.status?.reclaimPolicy ?? noted ?? ofClass?.spec.reclaimPolicy ?? 'Retain'
}

/** Reserved for, or had by, exactly this claim: by UID when the reference has one, by name when it has none. */
export function claims(target: DeploymentTarget, claim: DeploymentTargetClaim): boolean {
  const ref = claimRefOf(target)
  return ref?.uid === undefined ? ref?.name === claim.metadata.name : ref.uid === claim.metadata.uid
}

/** The provisioner that is asked to make a target, under either spelling of the key. */
export const askedProvisionerOf = ({ metadata }: DeploymentTargetClaim): string | undefined =>
  metadata.annotations?.[annotations.provisioner] ?? metadata.annotations?.[annotations.provisionerMisspelt]

/** The binding was completed once; whether the target is still there is another question. */
export const isBindComplete = ({ metadata }: DeploymentTargetClaim): boolean =>
  metadata.annotations?.[annotations.bindComplete] !== undefined

/** The target that a claim has, or wants. `""` is how a Go client writes "not set". */
export const targetNameOf = ({ spec, status }: DeploymentTargetClaim): string | undefined =>
  (status?.target?.name ?? spec.targetName) || undefined
