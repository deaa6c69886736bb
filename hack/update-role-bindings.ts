/** Writes deploy/operator/roles/kustomization.yaml and role-bindings.yaml: each role beside them, bound to the operator. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'

const folder = join(resolve(dirname(fileURLToPath(import.meta.url)), '..'), 'deploy/operator')

const HEAD = `# Written by hack/update-role-bindings.ts.
# Everything that a controller of the operator needs, one role each, so that a controller can also run with its own alone; what it needs in
# tenants' namespaces it gets there.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
`

const bindingOf = (role: string): string => `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: ${role}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: ${role}
subjects:
  - kind: ServiceAccount
    name: berth-operator
    namespace: berth-system
`

/** The two files as they should be. */
export function roleFiles(): { path: string; text: string }[] {
  const files = readdirSync(join(folder, 'roles'))
    .filter((name) => name !== 'kustomization.yaml')
    .sort()
  const roles = files.flatMap((name) => clusterRolesIn(readFileSync(join(folder, 'roles', name), 'utf8')))
  return [
    { path: join(folder, 'roles/kustomization.yaml'), text: `${HEAD}${files.map((name) => `  - ${name}\n`).join('')}` },
    {
      path: join(folder, 'role-bindings.yaml'),
      text: `# Written by hack/update-role-bindings.ts.\n${roles.map(bindingOf).join('---\n')}`,
    },
  ]
}

const clusterRolesIn = (text: string): string[] =>
  parseAllDocuments(text).flatMap((document) => {
    const object: { kind?: string; metadata: { name: string } } | null = document.toJS()
    return object?.kind === 'ClusterRole' ? [object.metadata.name] : []
  })

if (import.meta.main) for (const { path, text } of roleFiles()) writeFileSync(path, text)
