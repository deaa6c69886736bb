import type { Kube } from '../../../adapters/kube/index.ts'
import {
  annotations,
  isPrivate,
  type Kind,
  labels,
  Namespaces,
  ResourceQuotas,
  refFromKey,
  SpaceRequests,
} from '../../../api/index.ts'

/** Who has the target: the claim that holds it, and the namespace of that claim. */
export interface Tenancy {
  tenant: string
  claimUid: string
}

/**
 * A target, of which quotas are written with the operator's own rights, where it has made the namespace for this tenant: the target's
 * credentials are those of the tenant, whom the quota is to hold. Elsewhere nothing is ever written with rights that are not the
 * target's: a tenant may name any namespace, and a member of one the private space of a colleague, who is in the same one.
 */
export function withQuotas(target: Kube, own: Kube, { tenant, claimUid }: Tenancy): Kube {
  const isSpace = async (name: string): Promise<boolean> => {
    const { labels: marks = {}, annotations: notes = {} } = (await own.get(Namespaces, { name }))?.metadata ?? {}
    const uid = marks[labels.spaceRequestUid]
    const key = notes[annotations.spaceRequest]
    if (!uid || !key || marks[labels.spaceRequestNamespace] !== tenant) return false
    const request = await own.get(SpaceRequests, refFromKey(key))
    if (request?.metadata.uid !== uid) return false
    return !isPrivate(request) || request.metadata.labels?.[labels.claimUid] === claimUid
  }
  const writer = async ({ kind }: Kind, namespace = ''): Promise<Kube> =>
    kind === ResourceQuotas.kind && (await isSpace(namespace)) ? own : target
  return {
    ...target,
    apply: async (kind, object, how) => (await writer(kind, object.metadata.namespace)).apply(kind, object, how),
    delete: async (kind, ref, how) => (await writer(kind, ref.namespace)).delete(kind, ref, how),
  }
}
