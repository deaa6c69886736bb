import { type AnyObject, groupOf, type Ref } from '../../api/index.ts'

/** Which object, whatever version of its API it is written in. */
export interface ObjectId {
  readonly group: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}

export function idOf({ apiVersion, kind, metadata: { namespace, name } }: AnyObject): ObjectId {
  return { group: groupOf(apiVersion), kind, ...(namespace && { namespace }), name }
}

/** One text for one object: none of the characters between the parts may be in them. */
export const keyOfId = ({ group, kind, namespace = '', name }: ObjectId): string => `${group}/${kind}/${namespace}/${name}`

/** Items by their keys. */
export function byKey<T extends { readonly key: string }>(items: readonly T[]): Map<string, T> {
  const found = new Map<string, T>()
  for (const item of items) found.set(item.key, item)
  return found
}

/** As people say it: `Deployment.apps team-a/web`. */
export const sayId = ({ group, kind, namespace, name }: ObjectId): string =>
  `${group ? `${kind}.${group}` : kind} ${namespace ? `${namespace}/` : ''}${name}`

/** As people say it, of a key. */
export function sayKey(key: string): string {
  const [group = '', kind = '', namespace = '', name = ''] = key.split('/')
  return sayId({ group, kind, namespace, name })
}

export const refOfId = ({ namespace, name }: ObjectId): Ref => ({ namespace, name })

/** `Deployment.apps shop/web, Service shop/web and 3 more`. */
export function sayIds(ids: readonly ObjectId[], most = 8): string {
  const names = ids.slice(0, most).map(sayId).join(', ')
  return ids.length > most ? `${names} and ${ids.length - most} more` : names
}
