import type { Kube } from '../../../src/adapters/kube/index.ts'
import { ConfigMaps, RoleBindings, ServiceAccounts, type TokenRequest } from '../../../src/api/index.ts'
import { Failure } from '../../../src/std/index.ts'
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
  const { status } = await kube.post<TokenRequest>(`/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 3600 },
  })
  if (!status) throw new Failure('internal', 'the API server made no token')
  const { token } = status
  return { token, kubeconfig: kubeconfigText(kube.server, token, await authorityOf(kube, namespace)) } satisfies Deployer
}

/** An account that develops the GitProjects of its namespace, once the API server has heard of it. */
export async function developer(kube: Kube, namespace: string, name: string): Promise<Deployer> {
  const made = await deployer(kube, namespace, { name, role: 'edit' })
  await untilDeveloper(kube, namespace, `system:serviceaccount:${namespace}:${name}`)
  return made
}

/** A role that was bound is heard of a moment later. */
export const untilDeveloper = (kube: Kube, namespace: string, user: string) =>
  eventually(async () => {
    const { status } = await kube.post<{ status?: { allowed?: boolean } }>('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, resourceAttributes: { group: 'berth.dev', resource: 'gitprojects', verb: 'develop', namespace } },
    })
    return status?.allowed
  })

/** What the account may do in its namespace. */
export const grant = (kube: Kube, namespace: string, name: string, role: string) =>
  kube.create(RoleBindings, {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata: { name: `${name}-${role}`, namespace },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  })

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
