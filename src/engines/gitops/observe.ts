import type { Kube } from '../../adapters/kube/index.ts'
import { type AnyObject, apiVersionOf, type Kind } from '../../api/index.ts'
import { isFailure } from '../../std/index.ts'
import type { Held } from './inventory.ts'
import { apiVersionFor, idOf, keyOfId, refOfId } from './object-id.ts'
import { OWNER_LABEL } from './place.ts'
import type { Live } from './plan.ts'

/** Reads what is held: one list per kind and namespace, by our label; object by object where listing is not allowed. */
export async function observe(kube: Kube, held: readonly Held[], owner: string, signal?: AbortSignal): Promise<Live> {
  const live = new Map<string, AnyObject>()
  for (const group of groupsOf(held)) {
    const [first] = group
    if (!first) continue
    const kind = await kube.resolve(apiVersionFor(first.id.group, first.version), first.id.kind)
    if (!kind) continue
    for (const object of await readGroup(kube, kind, group, owner, signal)) live.set(keyOfId(idOf(object)), object)
  }
  return live
}

async function readGroup(kube: Kube, kind: Kind, group: Held[], owner: string, signal?: AbortSignal): Promise<AnyObject[]> {
  const reading = kindOfAny(kind)
  const namespace = group[0]?.id.namespace
  try {
    if (group.length > 1)
      return await kube.list(reading, { ...(namespace && { namespace }), labels: `${OWNER_LABEL}=${owner}` }, signal)
  } catch (failure) {
    if (!isFailure(failure, 'forbidden')) throw failure
  }
  const found: AnyObject[] = []
  for (const { id } of group) {
    const object = await kube.get(reading, refOfId(id), signal)
    // A list would not show it either: without our label it has drifted.
    if (object?.metadata.labels?.[OWNER_LABEL] === owner)
      found.push({ ...object, apiVersion: apiVersionOf(kind), kind: kind.kind })
  }
  return found
}

function groupsOf(held: readonly Held[]): Held[][] {
  const groups = new Map<string, Held[]>()
  for (const item of held) {
    const key = `${item.id.group}/${item.version}/${item.id.kind}/${item.id.namespace ?? ''}`
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return [...groups.values()]
}

/** The same place in the API, read as objects of whose inside nothing is known. */
export const kindOfAny = ({ group, version, kind, plural, namespaced }: Kind): Kind<AnyObject> => ({
  group,
  version,
  kind,
  plural,
  namespaced,
})
