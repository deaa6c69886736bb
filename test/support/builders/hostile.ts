import type { Kube } from '../../../src/adapters/kube/index.ts'
import { apiVersionOf, ClusterRoles, CustomResourceDefinitions, type Kind } from '../../../src/api/index.ts'
import { apply, eventually } from '../verbs.ts'

/** Is true, and takes the square of as many steps as the data have keys. */
export const comparison = 'object.data.all(one, object.data.all(two, one != two || one == two))'

/** Ten copies of the list before, eight times: in CEL, the last comparison alone would take a hundred million steps. */
export const explosion = Array.from({ length: 8 }, (_, at) => `v${8 - at}`).reduce(
  (inner, name, at) => `[[${new Array(10).fill(at === 7 ? 'metadata' : `v${7 - at}`)}]].exists(${name}, ${inner})`,
  'v8 == v8',
)

/** Brings a kind of whose objects whoever has `edit` may say whatever he likes, as their controller would. */
export async function makeWidgets(admin: Kube): Promise<Kind> {
  const names = { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' }
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const versions = [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema }]
  await apply(admin, {
    apiVersion: apiVersionOf(CustomResourceDefinitions),
    kind: CustomResourceDefinitions.kind,
    metadata: { name: 'widgets.example.com' },
    ...{ spec: { group: 'example.com', scope: 'Namespaced', names, versions } },
  })
  const labels = { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' }
  const rules = [{ apiGroups: ['example.com'], resources: ['widgets', 'widgets/status'], verbs: ['*'] }]
  const role = { apiVersion: apiVersionOf(ClusterRoles), kind: ClusterRoles.kind, metadata: { name: 'widgets', labels }, rules }
  await admin.create(ClusterRoles, role)
  return eventually(() => admin.resolve('example.com/v1', 'Widget'))
}
