import type { Kube, ListQuery } from '../../adapters/kube/index.ts'
import { isDeleting, type Kind, type KubeObject, refOf } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { holds } from './differences.ts'

/** An object as it is wanted, and the kind that says where it lies. */
export interface Piece {
  kind: Kind
  object: KubeObject
}

/** A label says whose an object is. */
interface Mark {
  label: string
  /** UID of the owner. */
  value: string | undefined
  /** The owner, in the words of a message: `this workspace's`. */
  whose: string
  /** What can be done where an object of that name is another's. */
  remedy: string
}

/** The objects of one owner in one cluster. No object of another owner is changed or removed. */
export interface OwnedObjects {
  /** The object as it is; a Failure with the reason `ObjectTaken` where it is there and not this owner's. */
  find<T extends KubeObject>(kind: Kind<T>, object: KubeObject): Promise<T | undefined>
  /** The object as it is, made now if it is not there. */
  make<T extends KubeObject>(kind: Kind<T>, object: T): Promise<T>
  /**
   * Sets what is wanted by server-side apply, unless the object holds it; whether it wrote. `fit` says what can be wanted of an object
   * that is there already.
   */
  apply(piece: Piece, fit?: (wanted: KubeObject, live: KubeObject) => KubeObject): Promise<boolean>
  /** Whether the object is still there, and this owner's. */
  remove(piece: Piece): Promise<boolean>
  /** Of one kind in one namespace, by the label; their metadata only. */
  list(kind: Kind, namespace: string | undefined): Promise<KubeObject[]>
}

export const OBJECT_TAKEN = 'ObjectTaken'

export function ownedObjects(kube: Kube, mark: Mark, manager: string): OwnedObjects {
  const isOwn = ({ metadata }: KubeObject): boolean => metadata.labels?.[mark.label] === mark.value
  const find = async <T extends KubeObject>(kind: Kind<T>, object: KubeObject): Promise<T | undefined> => {
    const live = await kube.get(kind, refOf(object))
    if (!live || isOwn(live)) return live
    const { name, namespace } = object.metadata
    throw new Failure('invalid', `${kind.kind} ${name} in namespace ${namespace} is there, but not ${mark.whose}`, {
      reason: OBJECT_TAKEN,
      remedy: mark.remedy,
    })
  }
  return {
    find,
    make: async (kind, object) => (await find(kind, object)) ?? kube.create(kind, object, { manager }),
    async apply({ kind, object }, fit = (wanted) => wanted) {
      const live = await find(kind, object)
      const wanted = live ? fit(object, live) : object
      if (live && holds(wanted, live)) return false
      await kube.apply(kind, wanted, { manager, force: true })
      return true
    },
    async remove({ kind, object }) {
      const live = await kube.get(kind, refOf(object))
      if (!live || !isOwn(live)) return false
      return isDeleting(live) || removePiece(kube, { kind, object: live })
    },
    list(kind, namespace) {
      const query: ListQuery = { namespace, labels: `${mark.label}=${mark.value}`, metadataOnly: true }
      return kube.list(kind, query)
    },
  }
}

/** Removes this very object, and not one that was made since under its name; whether it is still there. */
export async function removePiece(kube: Kube, { kind, object }: Piece): Promise<boolean> {
  const outcome = await kube.delete(kind, refOf(object), { uid: object.metadata.uid, propagation: 'Background' })
  return outcome === 'terminating'
}
