import type { Kube } from '../../../adapters/kube/index.ts'
import { type Kind, labels, Namespaces, ResourceQuotas } from '../../../api/index.ts'

/**
 * A target, of which quotas are written with the operator's own rights, where it has made the namespace for this tenant: the target's
 * credentials are those of the tenant, whom the quota is to hold. Elsewhere nothing is ever written with rights that are not the
 * target's: a tenant may name any namespace.
 */
export function withQuotas(target: Kube, own: Kube, tenant: string): Kube {
  const isSpace = async (name: string): Promise<boolean> => {
    const { metadata } = (await own.get(Namespaces, { name })) ?? {}
    const marks = metadata?.labels ?? {}
    return Boolean(marks[labels.spaceRequestUid]) && marks[labels.spaceRequestNamespace] === tenant
  }
  const writer = async ({ kind }: Kind, namespace = ''): Promise<Kube> =>
    kind === ResourceQuotas.kind && (await isSpace(namespace)) ? own : target
  return {
    ...target,
    apply: async (kind, object, how) => (await writer(kind, object.metadata.namespace)).apply(kind, object, how),
    delete: async (kind, ref, how) => (await writer(kind, ref.namespace)).delete(kind, ref, how),
  }
}
