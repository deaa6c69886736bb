import { isAllowed, type Kube, requestToken, subjectOf } from '../../../src/adapters/kube/index.ts'
import {
  BERTH_NAMESPACE,
  ClusterRoles,
  ConfigMaps,
  type RoleBinding,
  RoleBindings,
  Roles,
  type ServiceAccountName,
  ServiceAccounts,
  type Subject,
  tenantRoles,
  userOfAccount,
} from '../../../src/api/index.ts'
import { eventually } from '../verbs.ts'

const RBAC = 'rbac.authorization.k8s.io'

export interface Deployer {
  kubeconfig: string
  token: string
}

/**
 * A kubeconfig for this very API server, with the bound token of a service account of its own in the namespace:
 * what a tenant brings. `role` is a ClusterRole, granted in the namespace; without it the account may do nothing.
 */
export async function deployer(
  kube: Kube,
  namespace: string,
  { role, name = 'deployer' }: { role?: string; name?: string } = {},
) {
  await kube.create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } })
  if (role) await grant(kube, namespace, name, role)
  return signIn(kube, { namespace, name })
}

/** A token of an account that is there, and the kubeconfig with it. */
export async function signIn(kube: Kube, { namespace, name }: ServiceAccountName): Promise<Deployer> {
  const token = await tokenOf(kube, { namespace, name })
  return { token, kubeconfig: kubeconfigText(kube.server, token, await authorityOf(kube, namespace)) }
}

/** The token of a new account, for whoever is to believe it: the API server without audiences. */
export async function accountToken(kube: Kube, namespace: string, name: string, audiences?: string[]): Promise<string> {
  await kube.create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } })
  return tokenOf(kube, { namespace, name }, audiences)
}

/** A token of an account that is there. */
export async function tokenOf(kube: Kube, { namespace, name }: ServiceAccountName, audiences?: string[]): Promise<string> {
  return (await requestToken(kube, { namespace, name }, { audiences, seconds: 3600 })).reveal()
}

/** An account that develops the GitProjects of its namespace, once the API server has heard of it. */
export async function developer(kube: Kube, namespace: string, name: string): Promise<Deployer> {
  const made = await deployer(kube, namespace, { name, role: 'edit' })
  await untilDeveloper(kube, namespace, `system:serviceaccount:${namespace}:${name}`)
  return made
}

export interface Right {
  verb: string
  resource: string
  group?: string
  subresource?: string
  name?: string
}

/** A role that was bound, or is bound no longer, is heard of a moment later. */
export const untilMay = (kube: Kube, namespace: string, user: string, right: Right, may = true) =>
  eventually(async () => (await isAllowed(kube, { user, groups: [] }, { group: '', ...right, namespace })) === may)

export const untilDeveloper = (kube: Kube, namespace: string, user: string) =>
  untilMay(kube, namespace, user, { group: 'berth.dev', resource: 'gitprojects', verb: 'develop' })

/** Gives a person a ClusterRole in a namespace, which the API server hears of in its own time. */
export const bindUser = (kube: Kube, namespace: string, user: string, role: string): Promise<RoleBinding> =>
  kube.create(
    RoleBindings,
    bindingOf(namespace, role, [{ apiGroup: RBAC, kind: 'User', name: user }], `${user.replace(/[^a-z0-9]/g, '-')}-${role}`),
  )

/** Lets Berth's programs, by their shipped accounts, work in a namespace, as its admin would; ends when the API server has heard of it. */
export async function letBerthIn(kube: Kube, namespace: string): Promise<void> {
  for (const [program, role] of Object.entries(tenantRoles)) {
    const name = `berth-${program}`
    await kube.create(RoleBindings, bindingOf(namespace, role, [{ kind: 'ServiceAccount', name, namespace: BERTH_NAMESPACE }]))
    await untilMay(kube, namespace, userOfAccount({ namespace: BERTH_NAMESPACE, name }), { resource: 'secrets', verb: 'get' })
  }
}

/** The same for controllers that run alone, as users with their own roles. */
export async function letUsersIn(kube: Kube, namespace: string, users: readonly string[]): Promise<void> {
  const subjects = users.map(subjectOf)
  await kube.create(RoleBindings, bindingOf(namespace, tenantRoles.operator, subjects))
  await kube.create(RoleBindings, bindingOf(namespace, 'berth-tenants', subjects))
  for (const user of users) {
    await untilMay(kube, namespace, user, { resource: 'secrets', verb: 'list' })
    await untilMay(kube, namespace, user, { group: RBAC, resource: 'rolebindings', verb: 'list' })
  }
}

/** Gives a ClusterRole in a namespace; `name` is the binding's. */
export const bindingOf = (namespace: string, role: string, subjects: Subject[], name = role): RoleBinding => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'RoleBinding',
  metadata: { name, namespace },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
  subjects,
})

/** Gives a person the verb `use` on a class or tier in a namespace; ends when the API server has heard of it. */
export const allowUse = (
  kube: Kube,
  namespace: string,
  user: string,
  used: { group: string; resource: string; name: string },
): Promise<void> => allow(kube, namespace, user, { ...used, verbs: ['use'] })

type Verbs = [string, ...string[]]
const EVERYTHING: Verbs = ['create', 'get', 'list', 'update', 'patch', 'delete']

/** Gives a person these verbs in a namespace, all of them without any, by a role of their own; ends when the API server has heard of it. */
export async function allow(
  kube: Kube,
  namespace: string,
  user: string,
  { group, resource, name, verbs = EVERYTHING }: { group: string; resource: string; name?: string; verbs?: Verbs },
): Promise<void> {
  const metadata = { name: [verbs[0], resource, name].filter(Boolean).join('-'), namespace }
  const rules = [{ apiGroups: [group], resources: [resource], ...(name && { resourceNames: [name] }), verbs }]
  await kube.create(Roles, { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata, rules })
  await kube.create(RoleBindings, {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: RBAC, kind: 'Role', name: metadata.name },
    subjects: [{ apiGroup: RBAC, kind: 'User', name: user }],
  })
  await untilMay(kube, namespace, user, { verb: verbs[0], group, resource, ...(name && { name }) })
}

/** What the account may do in its namespace, once the API server has heard of it. */
export async function grant(kube: Kube, namespace: string, name: string, role: string): Promise<void> {
  await kube.create(RoleBindings, bindingOf(namespace, role, [{ kind: 'ServiceAccount', name, namespace }], `${name}-${role}`))
  const right = await firstRightOf(kube, role)
  if (right) await untilMay(kube, namespace, `system:serviceaccount:${namespace}:${name}`, right)
}

/** Some right that the role gives; none where there is no such role. */
async function firstRightOf(kube: Kube, role: string): Promise<Right | undefined> {
  const { rules } = (await kube.get(ClusterRoles, { name: role })) ?? {}
  const rule = rules?.find(({ resources = [] }) => resources.length > 0)
  const [resource = '', subresource] = rule?.resources?.[0]?.split('/') ?? []
  const [group, verb, name] = [rule?.apiGroups?.[0], rule?.verbs[0], rule?.resourceNames?.[0]]
  if (verb === undefined) return undefined
  return { verb, resource, ...(group && { group }), ...(subresource && { subresource }), ...(name && { name }) }
}

/** Every namespace gets the certificate authority of its API server a moment after it is made. */
async function authorityOf(kube: Kube, namespace: string): Promise<string> {
  const published = await eventually(() => kube.get(ConfigMaps, { name: 'kube-root-ca.crt', namespace }))
  return Buffer.from(published.data?.['ca.crt'] ?? '').toString('base64')
}

const kubeconfigText = (server: string, token: string, authority: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'target', cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: 'deployer', user: { token } }],
    contexts: [{ name: 'default', context: { cluster: 'target', user: 'deployer' } }],
    'current-context': 'default',
  })
