import * as assert from 'uvu/assert'
import { ConfigMaps, WorkspaceClasses, Workspaces } from '../../../../src/api/index.ts'
import { allow } from '../../../support/builders/credentials.ts'
import { testCluster } from '../../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../../support/operator.ts'
import { describe } from '../../../support/suite.ts'
import { expectGone, expectObject } from '../../../support/verbs.ts'
import { everybody, prepareNamespace } from '../fixture.ts'

const config = (name: string, more = '') =>
  `{ apiVersion: v1, kind: ConfigMap, metadata: { name: ${name}${more} }, data: { a: b } }`

describe('workspace: the Kubernetes objects of its devfile', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  const web = () => ({ name: 'web', namespace })

  it.beforeEach(async () => {
    namespace = await cluster.namespace('workspace-manifests')
    await prepareNamespace(cluster, namespace)
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: everybody,
    })
  })
  it.afterEach(async () => {
    await kube.delete(Workspaces, web())
    await expectGone(kube, Workspaces, web())
    await operator.stop()
    await kube.delete(WorkspaceClasses, { name: namespace })
  })
  it.after(() => cluster.close())

  const inlined = (...objects: string[]) => {
    const component =
      objects.length > 0 ? `  - { name: k, kubernetes: { inlined: ${JSON.stringify(objects.join('\n---\n'))} } }\n` : ''
    return {
      inline: `schemaVersion: 2.3.0\ncomponents:\n  - { name: tools, container: { image: "example.com/t:1" } }\n${component}`,
    }
  }

  async function create(...objects: string[]): Promise<string> {
    const spec = { workspaceClassName: namespace, target: { claimName: 'shared' }, devfile: inlined(...objects) }
    const made = await kube.create(Workspaces, { apiVersion: 'berth.dev/v1alpha1', kind: 'Workspace', metadata: web(), spec })
    return made.spec.owner ?? ''
  }
  const becomes = (state: string) => expectObject(kube, Workspaces, web(), ({ status }) => status?.actualState === state)
  const failsFor = (reason: string) => expectObject(kube, Workspaces, web(), ({ status }) => status?.failure?.reason === reason)

  const allowConfig = (owner: string) =>
    allow(kube, namespace, owner, { group: '', resource: 'configmaps', verbs: ['create', 'patch', 'delete'] })

  it('are made when their owner may make them, and not before', async () => {
    const owner = await create(config('settings'))
    const { status } = await failsFor('OwnerNotAllowed')
    assert.is(status?.actualState, 'Error')
    assert.match(
      status?.failure?.message ?? '',
      /ConfigMap settings of the devfile: its owner .* may not create, patch, delete configmaps in/,
    )
    assert.is(await kube.get(ConfigMaps, { name: 'settings', namespace }), undefined)
    await allowConfig(owner)
    await becomes('Running')
    assert.equal((await kube.get(ConfigMaps, { name: 'settings', namespace }))?.data, { a: 'b' })
  })

  it('come and go with the devfile, and with the workspace', async () => {
    const owner = await create(config('one'), config('two'))
    await allowConfig(owner)
    await becomes('Running')
    await kube.patch(Workspaces, web(), { spec: { devfile: inlined(config('two'), config('three')) } })
    await expectGone(kube, ConfigMaps, { name: 'one', namespace })
    assert.ok(await kube.get(ConfigMaps, { name: 'three', namespace }))
    await kube.patch(Workspaces, web(), { spec: { devfile: inlined(config('two')) } })
    await expectGone(kube, ConfigMaps, { name: 'three', namespace })
    await kube.patch(Workspaces, web(), { spec: { desiredState: 'Terminated' } })
    await becomes('Terminated')
    assert.is(await kube.get(ConfigMaps, { name: 'two', namespace }), undefined)
    assert.is(await kube.get(ConfigMaps, { name: 'workspace-web-manifests', namespace }), undefined)
  })

  it('never take what is there already', async () => {
    await kube.create(ConfigMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'guest', namespace },
      data: { a: 'mine' },
    })
    await allowConfig(await create(config('guest', ', labels: { berth.dev/workspace-manifest: x }')))
    await failsFor('ObjectTaken')
    assert.equal((await kube.get(ConfigMaps, { name: 'guest', namespace }))?.data, { a: 'mine' })
    await kube.delete(Workspaces, web())
    await expectGone(kube, Workspaces, web())
    assert.ok(await kube.get(ConfigMaps, { name: 'guest', namespace }))
  })

  it('stay in the namespace of the workspace', async () => {
    await allowConfig(await create(config('away', ', namespace: kube-system')))
    const { status } = await failsFor('ManifestElsewhere')
    assert.match(status?.failure?.remedy ?? '', /leave out its metadata\.namespace/)
    await kube.patch(Workspaces, web(), {
      spec: { devfile: inlined('{ apiVersion: v1, kind: Namespace, metadata: { name: mine } }') },
    })
    await expectObject(kube, Workspaces, web(), (now) => /Namespace mine/.test(now.status?.failure?.message ?? ''))
    await kube.patch(Workspaces, web(), {
      spec: { devfile: inlined('{ apiVersion: example.com/v1, kind: Nothing, metadata: { name: a } }') },
    })
    await failsFor('ManifestKindUnknown')
  })
})
