import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { is, not, ok } from 'uvu/assert'
import { parseAllDocuments } from 'yaml'
import { connect } from '../../src/adapters/kube/index.ts'
import { GitProjects, isTrue, type KubeObject, Leases, tenantRoles } from '../../src/api/index.ts'
import { Secret } from '../../src/std/index.ts'
import { letDevelop, podToken, runningWorkspace } from '../operator/workspace/git/pod.ts'
import { accountToken, deployer, grant } from '../support/builders/credentials.ts'
import { testCluster } from '../support/control-plane.ts'
import { gitHost } from '../support/git-host.ts'
import { describe } from '../support/suite.ts'
import { apply, eventually, expectGone, expectObject } from '../support/verbs.ts'
import { createAgent, createProject, createSecret, runKas } from './running-kas.ts'

const rulesIn = (file: string): KubeObject | undefined => {
  const text = readFileSync(new URL(`../../deploy/kas/${file}`, import.meta.url), 'utf8')
  return parseAllDocuments(text).map((document): KubeObject => document.toJS())[0]
}

describe('kas: its own role', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  it('is enough for all that kas does', async () => {
    const namespace = await cluster.namespace('kas')
    const folder = await mkdtemp(join(tmpdir(), 'berth-role-'))
    const host = await gitHost({ credential: { username: 'u', password: new Secret('p') } })
    // The rules as they are shipped, under names that only this test uses.
    const [role, ofLeases] = [rulesIn('role.yaml'), rulesIn('presence.yaml')]
    const name = `berth-kas-${namespace}`
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name: 'kas', namespace }],
    }
    ok(role?.kind === 'ClusterRole' && ofLeases?.kind === 'Role')
    await apply(cluster.kube, [{ ...role, metadata: { name } }, binding])
    const home = { name, namespace }
    const ofRole = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name }
    await apply(cluster.kube, { ...ofLeases, metadata: home })
    const bindingOfRole = { ...binding, kind: 'RoleBinding', metadata: home, roleRef: ofRole }
    await apply(cluster.kube, bindingOfRole)
    const kubeconfig = join(folder, 'kubeconfig')
    await writeFile(kubeconfig, (await deployer(cluster.kube, namespace, { name: 'kas' })).kubeconfig)
    await grant(cluster.kube, namespace, 'kas', tenantRoles.kas)
    // The API server hears of new roles in its own time; what it refuses before would stand in kas' log.
    const own = connect({ kubeconfig })
    await eventually(() => own.list(GitProjects, { namespace }))
    await eventually(() => own.list(Leases, { namespace }))
    await own.close()
    const kas = await runKas({ kubeconfig, namespace })

    const repository = await host.repository('shop')
    const commit = await repository.commit({ a: '1' })
    await createSecret(cluster.kube, namespace, 'login', { username: 'u', password: 'p' })
    await createProject(cluster.kube, namespace, 'shop', { url: repository.url, credentialsSecretRef: { name: 'login' } })
    await expectObject(cluster.kube, GitProjects, { name: 'shop', namespace }, ({ status }) =>
      isTrue(status?.conditions, 'Ready'),
    )
    const wanted = { projectId: `${namespace}/shop`, ref: { kind: 'default' as const }, globs: ['**'] }
    const callers = [
      await accountToken(cluster.kube, namespace, 'reader', ['berth-kas']),
      await createAgent(cluster.kube, namespace, 'agent'),
    ]
    for (const caller of callers)
      is((await eventually(() => kas.stream(caller).fetchObjects(wanted, AbortSignal.timeout(10_000)))).commitId, commit)

    const owner = 'alice@example.com'
    await letDevelop(cluster.kube, namespace, owner)
    const made = await runningWorkspace(cluster.kube, namespace, 'web', { owner, project: { gitProject: 'shop' } })
    const token = await podToken(cluster.kube, made)
    const url = `http://${kas.addresses.gitCredentials}/git/${namespace}/web/info/refs`
    const headers = { authorization: `Bearer ${token}`, 'berth-git-url': repository.url }
    const answer = await eventually(async () => {
      const given = await fetch(url, { headers })
      return given.status === 200 && given.text()
    })
    ok(answer.includes('refs/berth/password/p'))

    const leases = () => cluster.kube.list(Leases, { namespace, labels: 'app.kubernetes.io/name=berth-kas' })
    await eventually(async () => (await leases()).length === 1)
    await kas.stop()
    is((await leases()).length, 0)
    not.match(kas.log(), 'forbidden')
    await host.close()
    await rm(folder, { recursive: true })
    for (const kind of ['ClusterRole', 'ClusterRoleBinding']) {
      const resolved = await cluster.kube.resolve('rbac.authorization.k8s.io/v1', kind)
      if (!resolved) continue
      await cluster.kube.delete(resolved, { name })
      await expectGone(cluster.kube, resolved, { name })
    }
  })
})
