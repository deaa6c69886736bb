import { type KubeObject, keyOf, refOf } from '../../api/index.ts'
import { isNewer } from './resource-version.ts'

export type LeftOut = ReturnType<typeof createLeftOut>

/** The memory that an object would have taken. */
export interface Need {
  bytes: number
  /** No older version of it was kept. */
  isNew: boolean
}

interface Notes {
  /** By key. */
  needs: Map<string, Need & { version: string | undefined }>
  /** There are more, of which nothing is noted. */
  areMore: boolean
}

export interface LeftOutBell {
  /** The first object of its namespace had no room: its kind, name and uid. */
  leftOut?(object: KubeObject): void
  /** There is nothing more of the namespace that has no room. */
  whole?(namespace: string): void
}

/** A tenant who fills a namespace must not fill the memory with notes of that. */
const MOST = 1000

/** The objects of a store that had no room, by namespace. */
export function createLeftOut(bell: LeftOutBell = {}) {
  const notes = new Map<string, Notes>()
  const endIfEmpty = (namespace: string, { needs, areMore }: Notes) => {
    if (needs.size > 0 || areMore) return
    notes.delete(namespace)
    bell.whole?.(namespace)
  }
  const note = (namespace: string, key: string, need: Need & { version: string | undefined }, tell: () => void) => {
    const known = notes.get(namespace)
    const { needs, areMore } = known ?? { needs: new Map(), areMore: false }
    const isFull = needs.size >= MOST && !needs.has(key)
    if (!isFull) needs.set(key, need)
    notes.set(namespace, { needs, areMore: areMore || isFull })
    if (!known) tell()
  }
  return {
    /** For `replace`. */
    notes,
    add(object: KubeObject, need: Need): void {
      const { namespace = '', resourceVersion: version } = object.metadata
      note(namespace, keyOf(refOf(object)), { ...need, version }, () => bell.leftOut?.(titleOf(object)))
    },
    /** This version of it is kept, or it is gone. An object that had no room later stays noted. */
    remove(object: KubeObject): void {
      const { namespace = '', resourceVersion } = object.metadata
      const known = notes.get(namespace)
      if (!known) return
      const key = keyOf(refOf(object))
      if (isNewer(known.needs.get(key)?.version, resourceVersion)) return
      known.needs.delete(key)
      endIfEmpty(namespace, known)
    },
    /** The notes of a list as of that version take the place of those before it, in one namespace where one is given. */
    replace(listed: { readonly notes: ReadonlyMap<string, Notes> }, version: string, part?: string): void {
      for (const [namespace, known] of [...notes]) {
        if (part !== undefined && part !== namespace) continue
        const now = listed.notes.get(namespace)
        for (const [key, need] of known.needs)
          if (!now?.needs.has(key) && !isNewer(need.version, version)) known.needs.delete(key)
        known.areMore = now?.areMore ?? false
        endIfEmpty(namespace, known)
      }
    },
    needOf: (object: KubeObject): Need | undefined => notes.get(object.metadata.namespace ?? '')?.needs.get(keyOf(refOf(object))),
    /** Of the namespace nothing is kept any more. */
    clear(namespace: string): void {
      if (notes.delete(namespace)) bell.whole?.(namespace)
    },
    /** Says whether there is room now for one of them. */
    isAny: (hasRoom: (namespace: string, need: Need) => boolean, part?: string): boolean =>
      [...notes].some(([namespace, { needs, areMore }]) => {
        if (part !== undefined && part !== namespace) return false
        if (needs.size === 0) return areMore
        for (const need of needs.values()) if (hasRoom(namespace, need)) return true
        return false
      }),
  }
}

/** An object without its content. */
export const titleOf = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => {
  const { name, namespace, uid, resourceVersion } = metadata
  const more = { ...(namespace && { namespace }), ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) }
  return { apiVersion, kind, metadata: { name, ...more } }
}
