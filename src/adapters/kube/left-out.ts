import { type KubeObject, keyOf, refOf } from '../../api/index.ts'

/** The objects of a store that had no room, by namespace. An older version of them may be in the store. */
export interface LeftOut {
  add(object: KubeObject, need: Need): void
  remove(object: KubeObject): void
  /** Removes all that have other keys; those of one namespace only where one is given. */
  keepOnly(keys: ReadonlySet<string>, namespace?: string): void
  hasSome(namespace: string): boolean
  /** Whether the answer is true for one of them. */
  some(is: (namespace: string, need: Need) => boolean): boolean
}

/** What it would have taken. */
export interface Need {
  bytes: number
  /** There is no older version of it. */
  isNew: boolean
}

export interface LeftOutBell {
  /** The first object of its namespace had no room: its kind, name and uid. */
  leftOut?(object: KubeObject): void
  /** There is nothing more of the namespace that has no room. */
  whole?(namespace: string): void
}

export function createLeftOut(bell: LeftOutBell): LeftOut {
  const byNamespace = new Map<string, Map<string, Need>>()
  const remove = (namespace: string, key: () => string) => {
    const keys = byNamespace.get(namespace)
    if (!keys?.delete(key()) || keys.size > 0) return
    byNamespace.delete(namespace)
    bell.whole?.(namespace)
  }
  return {
    add(object, need) {
      const { namespace = '' } = object.metadata
      const known = byNamespace.get(namespace)
      byNamespace.set(namespace, (known ?? new Map<string, Need>()).set(keyOf(refOf(object)), need))
      if (!known) bell.leftOut?.(titleOf(object))
    },
    remove: (object) => remove(object.metadata.namespace ?? '', () => keyOf(refOf(object))),
    keepOnly(keys, part) {
      for (const [namespace, out] of [...byNamespace])
        if (part === undefined || part === namespace)
          for (const key of out.keys()) if (!keys.has(key)) remove(namespace, () => key)
    },
    hasSome: (namespace) => byNamespace.has(namespace),
    some: (is) => [...byNamespace].some(([namespace, needs]) => [...needs.values()].some((need) => is(namespace, need))),
  }
}

/** What is left of an object without its content. */
export const titleOf = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => {
  const { name, namespace, uid, resourceVersion } = metadata
  const more = { ...(namespace && { namespace }), ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) }
  return { apiVersion, kind, metadata: { name, ...more } }
}
