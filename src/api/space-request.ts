import type { SpaceRequest } from './kinds.ts'
import type { KubeObject } from './kube-object.ts'
import { annotations, labels } from './labels.ts'
import { isPrivate } from './privacy.ts'

/**
 * Was the request made for this claim, in its namespace? Its UID decides. A request without one was not made by Berth; then the name decides,
 * and the age: what is older than the claim was made for an earlier claim of the same name. That of a private claim is private, or somebody's.
 */
export function isMadeFor(request: SpaceRequest, claim: KubeObject): boolean {
  const { metadata } = request
  if (metadata.namespace !== claim.metadata.namespace || (isPrivate(claim) && !isPrivate(request))) return false
  const uid = metadata.labels?.[labels.claimUid]
  if (uid !== undefined) return uid === claim.metadata.uid
  const isYounger = (metadata.creationTimestamp ?? '') >= (claim.metadata.creationTimestamp ?? '')
  return metadata.labels?.[labels.claim] === claim.metadata.name && isYounger
}

/**
 * Names who asked for a space, or for the object that it is made for: the user's name and groups, on a line each, as admission wrote them
 * (deploy/policies/requester.yaml). Of what admission never saw: `otherwise`, or nobody in particular.
 */
export const requesterOf = ({ metadata }: KubeObject, otherwise?: string): string =>
  metadata.annotations?.[annotations.requester] || otherwise || ANYBODY

/** The user's name alone; nothing where nobody in particular asked. */
export const requesterNameOf = (object: KubeObject): string | undefined => requesterOf(object).split('\n')[0] || undefined

/** Nobody in particular: it is for whoever may log in. */
export const ANYBODY = '\nsystem:authenticated'
