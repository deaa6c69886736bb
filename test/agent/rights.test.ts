import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { isAllowed } from '../../src/adapters/kube/index.ts'
import { ConfigMaps, type KubeObject, Namespaces, RoleBindings } from '../../src/api/index.ts'
import { objectsOf } from '../../src/cli/agent/objects.ts'
import { Secret } from '../../src/std/index.ts'
import { deployer } from '../support/builders/credentials.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { apply, eventually, expectGone, expectObject } from '../support/verbs.ts'
import { type ForeignKas, foreignKas } from './foreign-kas.ts'
import { type RunningAgent, runAgent } from './running-agent.ts'

const CLONE = fileURLToPath(new URL('../..', import.meta.url))

const isObject = (value: object): value is KubeObject => 'kind' in value && 'metadata' in value && 'apiVersion' in value

/** The roles as `berth agent manifest --namespaces` prints them, on an API server that holds everybody to them. */
describe('the rights of an agent of some namespaces', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let kas: ForeignKas
  let agent: RunningAgent | undefined
  let folder = ''
  let kubeconfig = ''
  let [home, namespace] = ['', '']

  it.beforeEach(async () => {
    namespace = await cluster.namespace('rights')
    kas = await foreignKas({ reports: true })
    const wanted = { name: 'small', uid: randomUUID(), kasAddress: kas.address, ca: undefined, image: 'berth' }
    const objects = objectsOf(CLONE, { ...wanted, rights: [namespace], token: new Secret('x') }).filter(isObject)
    home = objects[0]?.metadata.name ?? ''
    await apply(
      kube,
      objects.filter(({ kind }) => ['Namespace', 'Role', 'RoleBinding'].includes(kind)),
    )
    const account = await deployer(kube, home, { name: home })
    folder = await mkdtemp(join(tmpdir(), 'berth-rights-'))
    kubeconfig = join(folder, 'kubeconfig')
    await writeFile(kubeconfig, account.kubeconfig)
    await eventually(async () => (await may('get', 'configmaps')) && may('get', 'leases', 'coordination.k8s.io'))
    await eventually(() => may('patch', 'configmaps', '', namespace))
    kas.configure({
      gitops: {
        namespaces: [namespace],
        manifestProjects: [{ id: 'shop', prunePropagationPolicy: 'background', deletion: 'delete' }],
      },
    })
    kas.push('shop', { 'a.yaml': configMap('one') })
  })
  it.afterEach(async () => {
    await agent?.stop()
    await kas.stop()
    await kube.delete(Namespaces, { name: home })
    await rm(folder, { recursive: true })
  })
  it.after(() => cluster.close())

  /** What the API server lets it do; of what was bound or taken away it hears a moment later. */
  const may = (verb: string, resource: string, group = '', where = home): Promise<boolean> => {
    const groups = ['system:serviceaccounts', `system:serviceaccounts:${home}`, 'system:authenticated']
    return isAllowed(kube, { user: `system:serviceaccount:${home}:${home}`, groups }, { namespace: where, verb, group, resource })
  }

  const begin = async () => {
    agent = await runAgent({ kas: kas.address, kubeconfig, namespace: home })
  }

  it('are enough to lead, to bring about, to remember and to delete', async () => {
    await begin()
    await expectObject(kube, ConfigMaps, { name: 'one', namespace }, () => true)
    await eventually(() => kas.project('shop')?.health === 'Healthy')
    kas.configure({ gitops: { namespaces: [namespace] } })
    await expectGone(kube, ConfigMaps, { name: 'one', namespace })
    await eventually(() => kas.project('shop')?.message.includes('were deleted'))
    assert.not(agent?.log().includes('forbidden'))
  })

  it('reach nothing of its own namespace but what it needs', async () => {
    for (const verb of ['get', 'create', 'patch']) assert.ok(await may(verb, 'configmaps'), `${verb} configmaps`)
    for (const verb of ['list', 'watch', 'update', 'delete', 'deletecollection'])
      assert.not(await may(verb, 'configmaps'), `${verb} configmaps`)
    for (const verb of ['get', 'list', 'create', 'patch']) assert.not(await may(verb, 'secrets'), `${verb} secrets`)
    assert.not(await may('patch', 'deployments', 'apps'))
  })

  it('that are too few keep it from applying, and the report says what is missing', async () => {
    await kube.delete(RoleBindings, { name: home, namespace: home })
    const leases = [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update', 'patch'] }]
    const metadata = { name: 'leases', namespace: home }
    const rbac = 'rbac.authorization.k8s.io'
    await apply(kube, [
      { apiVersion: `${rbac}/v1`, kind: 'Role', metadata, ...{ rules: leases } },
      {
        apiVersion: `${rbac}/v1`,
        kind: 'RoleBinding',
        metadata,
        ...{
          roleRef: { apiGroup: rbac, kind: 'Role', name: 'leases' },
          subjects: [{ kind: 'ServiceAccount', name: home, namespace: home }],
        },
      },
    ])
    await eventually(async () => !(await may('get', 'configmaps')) && may('get', 'leases', 'coordination.k8s.io'))
    await begin()
    const told = await eventually(() => kas.project('shop')?.reason === 'RegisterForbidden' && kas.project('shop'))
    assert.match(told.message, /ConfigMap .*-projects may not be read or written/)
    assert.is(await kube.get(ConfigMaps, { name: 'one', namespace }), undefined)
  })
})
