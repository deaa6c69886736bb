import { Environments, type KubeObject, type OwnerReference, type Ref } from '../../api/index.ts'

/** The object's controller. Its group is not looked at: what the seed's builders shipped names a wrong one. */
export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller) ??
  metadata.ownerReferences?.find(({ kind }) => kind === Environments.kind)

/** The Environments that the object says it belongs to, whether they exist or not. */
export const ownersOf = ({ metadata }: KubeObject): Ref[] =>
  (metadata.ownerReferences ?? [])
    .filter(({ kind }) => kind === Environments.kind)
    .map(({ name }) => ({ name, namespace: metadata.namespace }))

/** Made for an Environment of this name: this one, or one that had the name before. */
export const isMadeFor = (object: KubeObject, { name }: Ref): boolean => {
  const owner = controllerOf(object)
  return owner?.kind === Environments.kind && owner.name === name
}
