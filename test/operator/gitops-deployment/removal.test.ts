import * as assert from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import {
  ClusterRoleBindings,
  ConfigMaps,
  finalizers,
  type GitOpsDeployment,
  GitOpsDeploymentManagedEnvironments,
  GitOpsDeployments,
  Namespaces,
  RoleBindings,
  Secrets,
} from '../../../src/api/index.ts'
import { INVENTORY_LABEL, OWNER_LABEL } from '../../../src/engines/gitops/index.ts'
import { Failure, seconds, systemClock } from '../../../src/std/index.ts'
import { deployer, untilMay } from '../../support/builders/credentials.ts'
import { managedEnvironment, managedSecret } from '../../support/builders/environments.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { at, openStage, type Stage } from '../../support/deployments.ts'
import type { OperatorOptions } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { eventually, expectGone, expectObject } from '../../support/verbs.ts'

interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string }
}

type Policy = NonNullable<GitOpsDeployment['spec']['deletionPolicy']>

describe('a GitOpsDeployment that is deleted', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage
  let ahead = 0

  const open = async (how: Partial<OperatorOptions> = {}) => {
    stage = await openStage(cluster, how)
  }
  it.beforeEach(() => {
    ahead = 0
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const ref = (name: string) => ({ name, namespace: stage.namespace })
  const shop = () => ref('shop')
  const slow = { ...configMap('slow'), metadata: { name: 'slow', finalizers: ['example.com/wait'] } }
  const letSlowGo = () => kube.patch(ConfigMaps, ref('slow'), { metadata: { finalizers: null } })
  const remove = () => kube.delete(GitOpsDeployments, shop())
  const gone = () => expectGone(kube, GitOpsDeployments, shop())
  const deployed = async (spec: Partial<GitOpsDeployment['spec']>, ...objects: Manifest[]) => {
    await stage.deploy(spec)
    const files = Object.fromEntries(objects.map((object) => [`deploy/${object.metadata.name}.yaml`, object]))
    const commit = await stage.git.push(files)
    await stage.synced(commit)
    return commit
  }
  const under = (deletionPolicy: Policy, ...objects: Manifest[]) => deployed({ deletionPolicy }, ...objects)

  it('takes its objects along under Delete, and does not wait for those that are slow', async () => {
    await open()
    await under('Delete', configMap('a'), slow)
    await remove()
    await gone()
    assert.is(await stage.configMap('a'), undefined)
    assert.ok((await stage.configMap('slow'))?.metadata.deletionTimestamp)
    assert.match((await stage.events('Pruned')).join(), /ConfigMap .*\/a/)
    await letSlowGo()
  })

  it('outlives its objects under Wait, and says what it waits for', async () => {
    await open()
    await under('Wait', configMap('a'), slow)
    await remove()
    assert.match((await stage.complains('Deleting')).message, /1 objects are still there: ConfigMap .*\/slow is being deleted/)
    assert.is(await stage.configMap('a'), undefined)
    await letSlowGo()
    await gone()
    assert.is(await stage.configMap('slow'), undefined)
  })

  it('waits as well under the finalizers that people know from elsewhere', async () => {
    await open()
    for (const finalizer of [finalizers.gitopsDeployment, finalizers.argoApplication]) {
      await deployed({}, configMap('a'))
      await kube.patch(GitOpsDeployments, shop(), { metadata: { finalizers: [finalizer] } })
      await remove()
      await gone()
      assert.is(await stage.configMap('a'), undefined, finalizer)
    }
  })

  it('releases its objects under Orphan, so that the next one can have them', async () => {
    await open()
    const commit = await under('Orphan', configMap('a', { x: '1' }))
    const before = await stage.configMap('a')
    await remove()
    await gone()
    const after = await stage.configMap('a')
    assert.equal([after?.metadata.uid, after?.data], [before?.metadata.uid, { x: '1' }])
    assert.equal([after?.metadata.labels, after?.metadata.annotations], [undefined, undefined])
    assert.match((await stage.events('Released')).join(), /ConfigMap .*\/a stay and belong to no deployment/)
    await stage.deploy()
    await stage.synced(commit)
    assert.is((await stage.configMap('a'))?.metadata.uid, before?.metadata.uid)
  })

  it('leaves its objects where no policy is stated and no finalizer set, to the next of its name too', async () => {
    await open()
    const commit = await deployed({}, configMap('a'))
    const { uid } = (await stage.configMap('a'))?.metadata ?? {}
    await remove()
    await gone()
    await stage.deploy()
    await stage.synced(commit)
    assert.is((await stage.configMap('a'))?.metadata.uid, uid)
  })

  it('carries our finalizer before its first object is there, and as long as it has a policy', async () => {
    await open()
    await stage.deploy({ deletionPolicy: 'Wait' })
    const has = (wanted: string[] | undefined) =>
      expectObject(kube, GitOpsDeployments, shop(), ({ metadata }) => assert.equal(metadata.finalizers, wanted))
    await has([finalizers.gitopsObjects])
    await kube.patch(GitOpsDeployments, shop(), { spec: { deletionPolicy: null } })
    await has(undefined)
  })

  it('follows its policy when it is suspended too', async () => {
    await open()
    await under('Delete', configMap('a'))
    await kube.patch(GitOpsDeployments, shop(), { spec: { suspend: true } })
    await stage.complains('Suspended')
    await remove()
    await gone()
    assert.is(await stage.configMap('a'), undefined)
    assert.match((await stage.events('Pruned')).join(), /ConfigMap .*\/a/)
  })

  it('leaves to another deployment what that one has in its path as well', async () => {
    await open()
    await under('Wait', configMap('mine'), configMap('moved'))
    const { uid } = (await stage.configMap('moved'))?.metadata ?? {}
    await stage.deploy(at('other'), 'other')
    const [mine, moved] = [configMap('mine'), configMap('moved')]
    const commit = await stage.git.push({ 'other/moved.yaml': moved, 'deploy/moved.yaml': moved, 'deploy/mine.yaml': mine })
    await stage.complains('KeptByOther', 'other')
    await remove()
    await gone()
    await stage.synced(commit, 'other')
    assert.is((await stage.configMap('moved'))?.metadata.uid, uid)
    assert.is(await stage.configMap('mine'), undefined)
  })

  it('does not hang when its rights are gone, and says what stays', async () => {
    await open({ clock: { ...systemClock, now: () => systemClock.now() + ahead } })
    await under('Wait', configMap('a'))
    await kube.delete(RoleBindings, ref('default-admin'))
    const account = `system:serviceaccount:${stage.namespace}:default`
    await untilMay(kube, stage.namespace, account, { verb: 'delete', resource: 'configmaps' }, false)
    await remove()
    await eventually(async () => {
      const blocked = (await stage.status()).conditions?.find(({ type }) => type === 'DeletionBlocked')
      assert.equal([blocked?.status, blocked?.reason], ['True', 'CannotDelete'])
      assert.match(blocked?.message ?? '', /ConfigMap .*\/a: .*cannot/)
      return true
    })
    ahead = seconds(40)
    await gone()
    assert.ok(await stage.configMap('a'))
    assert.match((await stage.events('LeftBehind')).join(), /ConfigMap .*\/a stay where they are/)
  })

  it('waits for a deletion that is refused, and gives up only after minutes', async () => {
    let refuses = true
    const refusing = (from: Kube): Kube => ({
      ...from,
      as: (identity) => refusing(from.as(identity)),
      delete: (kind, { name, namespace }, how) =>
        refuses && name === 'a'
          ? Promise.reject(new Failure('invalid', 'admission webhook "keep.example.com" denied the request'))
          : from.delete(kind, { name, namespace }, how),
    })
    await open({ via: refusing, clock: { ...systemClock, now: () => systemClock.now() + ahead } })
    await under('Wait', configMap('a'), configMap('b'))
    await remove()
    await eventually(async () =>
      (await stage.status()).conditions?.some(({ type, status }) => type === 'DeletionBlocked' && status === 'True'),
    )
    ahead = seconds(45)
    assert.match((await stage.complains('Deleting')).message, 'keep.example.com')
    assert.is(await stage.configMap('b'), undefined)
    refuses = false
    await gone()
    assert.is(await stage.configMap('a'), undefined)
  })

  /** Into a managed environment whose credentials are in a Secret. */
  const withCredentials = async () => {
    const { kubeconfig } = await deployer(kube, stage.namespace, { role: 'admin' })
    const secret = managedSecret(stage.namespace, 'credentials', kubeconfig)
    await kube.create(Secrets, secret)
    await kube.create(
      GitOpsDeploymentManagedEnvironments,
      managedEnvironment(stage.namespace, 'dev', { apiURL: kube.server, namespaces: [stage.namespace] }),
    )
    await deployed({ destination: { environment: 'dev' }, deletionPolicy: 'Wait' }, configMap('a'))
    return secret
  }

  it('waits for credentials that are gone for a moment', async () => {
    await open()
    const secret = await withCredentials()
    await kube.delete(Secrets, ref('credentials'))
    await stage.complains('EnvironmentNotReady')
    await remove()
    assert.match((await stage.complains('Deleting')).message, /1 objects are still there: .*no Secret credentials/)
    await kube.create(Secrets, secret)
    await gone()
    assert.is(await stage.configMap('a'), undefined)
    assert.equal(await stage.events('LeftBehind'), [])
  })

  it('does not hang when its credentials are gone for good, and says so in what remains of its status', async () => {
    await open({ clock: { ...systemClock, now: () => systemClock.now() + ahead } })
    await withCredentials()
    const { metadata } = await expectObject(kube, GitOpsDeployments, shop(), () => true)
    const held = { finalizers: [...(metadata.finalizers ?? []), 'example.com/another'] }
    await kube.patch(GitOpsDeployments, shop(), { metadata: held })
    await kube.delete(Secrets, ref('credentials'))
    await stage.complains('EnvironmentNotReady')
    await remove()
    await stage.complains('Deleting')
    ahead = seconds(40)
    assert.match((await stage.complains('LeftBehind')).message, /ConfigMap .*\/a stay where they are: .*no Secret credentials/)
    assert.match((await stage.events('LeftBehind')).join(), /ConfigMap .*\/a/)
    await kube.patch(GitOpsDeployments, shop(), { metadata: { finalizers: null } })
    await gone()
  })

  it('finds its objects in the status when the inventory is damaged or gone', async () => {
    await open()
    await under('Wait', configMap('a'))
    await stage.operator.quiet()
    await kube.patch(ConfigMaps, ref('shop.inventory'), { data: { objects: 'no object' } })
    await remove()
    await gone()
    assert.is(await stage.configMap('a'), undefined)

    await under('Wait', configMap('b'))
    await stage.stop()
    await kube.delete(ConfigMaps, ref('shop.inventory'))
    await remove()
    await stage.restart()
    await gone()
    assert.is(await stage.configMap('b'), undefined)
  })

  it('leaves a namespace in which others have something, and lets go of it', async () => {
    await open()
    const name = `removal-${stage.namespace}`
    await kube.create(ClusterRoleBindings, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: stage.namespace }],
    })
    await under('Wait', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, configMap('a', {}, name))
    await kube.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'foreign', namespace: name } })
    await remove()
    await gone()
    const left = await kube.get(Namespaces, { name })
    assert.equal([left?.metadata.deletionTimestamp, left?.metadata.labels?.[OWNER_LABEL]], [undefined, undefined])
    assert.is(await kube.get(ConfigMaps, { name: 'a', namespace: name }), undefined)
    assert.match((await stage.events('LeftBehind')).join(), `ConfigMap ${name}/foreign`)
    await kube.delete(Namespaces, { name })
    await kube.delete(ClusterRoleBindings, { name })
  })

  it('leaves no inventory behind', async () => {
    await open()
    await under('Wait', configMap('a'))
    await remove()
    await gone()
    await eventually(
      async () => (await kube.list(ConfigMaps, { namespace: stage.namespace, labels: INVENTORY_LABEL })).length === 0,
    )
  })
})
