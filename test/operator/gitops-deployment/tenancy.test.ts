import * as assert from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import {
  ConfigMaps,
  Environments,
  GitOpsDeploymentManagedEnvironments,
  GitOpsDeployments,
  GitProjects,
  labels,
  ownedBy,
  Secrets,
} from '../../../src/api/index.ts'
import { deployer, untilMay } from '../../support/builders/credentials.ts'
import { environment, managedEnvironment, managedSecret, viaClaim } from '../../support/builders/environments.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { apply, eventually } from '../../support/verbs.ts'

const VERBS = ['get', 'list', 'watch', 'create', 'patch', 'delete'] as const
type Verb = (typeof VERBS)[number]

/** What the operator does by its own rights, as `patch ConfigMap a`; what it does as a tenant is not noted. */
function noting(kube: Kube, notes: string[]): Kube {
  const note = (verb: string, kind: { kind: string }, name: string) => void notes.push(`${verb} ${kind.kind} ${name}`)
  return {
    ...kube,
    get(kind, ref, signal) {
      note('get', kind, ref.name)
      return kube.get(kind, ref, signal)
    },
    create(kind, object, how) {
      note('create', kind, object.metadata.name)
      return kube.create(kind, object, how)
    },
    apply(kind, object, how) {
      note('apply', kind, object.metadata.name)
      return kube.apply(kind, object, how)
    },
    patch(kind, ref, patch, how) {
      note('patch', kind, ref.name)
      return kube.patch(kind, ref, patch, how)
    },
    delete(kind, ref, how) {
      note('delete', kind, ref.name)
      return kube.delete(kind, ref, how)
    },
  }
}

describe('a tenant who lacks one right', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage
  let own: string[] = []

  it.beforeEach(async () => {
    own = []
    stage = await openStage(cluster, { role: 'berth-test-nothing', via: (other) => noting(other, own) })
  })
  it.afterEach(async () => {
    await stage.stop()
    // Whatever happened, objects of the repository and Secrets are no business of the operator's own.
    const strange = own.filter((line) => / (ConfigMap (a|b|made|values)|Secret .*|Namespace .*)$/.test(line))
    assert.equal(strange, [])
  })
  it.after(() => cluster.close())

  const ref = (name: string) => ({ name, namespace: stage.namespace })
  const mayAllBut = async (...lacks: Verb[]) => {
    const verbs = VERBS.filter((verb) => !lacks.includes(verb))
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs }]
    await apply(kube, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: ref('tenant'), ...{ rules } })
    await apply(kube, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: ref('tenant'),
      ...{
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'tenant' },
        subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: stage.namespace }],
      },
    })
    const account = `system:serviceaccount:${stage.namespace}:default`
    const heard = (verb: Verb) => untilMay(kube, stage.namespace, account, { verb, resource: 'configmaps' }, verbs.includes(verb))
    await Promise.all(VERBS.map(heard))
  }
  const messageOf = async () => {
    const { conditions, resources } = await stage.status()
    return JSON.stringify([conditions, resources])
  }
  const forbidden = (what: RegExp) =>
    eventually(async () => {
      const said = await messageOf()
      assert.match(said, /forbidden|may not/i, said)
      assert.match(said, what, said)
      return said
    })

  for (const verb of ['patch', 'create'] as const)
    it(`83: to ${verb}, is told so, and nothing of that kind is made`, async () => {
      await mayAllBut(verb)
      await stage.deploy()
      await stage.git.push({ 'deploy/a.yaml': configMap('a') })
      await forbidden(new RegExp(`cannot ${verb} resource .{0,4}configmaps`))
      assert.is(await stage.configMap('a'), undefined)
    })

  it('and how to give it that right, in an Event with the file', async () => {
    await mayAllBut('patch')
    await stage.deploy()
    await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    const said = /a \(deploy\/a\.yaml:1\): configmaps .*kubectl create rolebinding/
    await forbidden(said)
    const [event = ''] = await stage.events('SyncFailed')
    assert.match(event, said)
  })

  it('83: for one kind, has the others applied', async () => {
    await mayAllBut()
    await stage.deploy()
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }
    await stage.git.push({ 'deploy/a.yaml': configMap('a'), 'deploy/s.yaml': secret })
    await forbidden(/Secret .*\(Forbidden\)/)
    assert.ok(await stage.configMap('a'))
    assert.is(await kube.get(Secrets, ref('s')), undefined)
  })

  it('to delete, is told so, and what left the repository stays and is not forgotten', async () => {
    await mayAllBut('delete')
    await stage.deploy()
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a'), 'deploy/b.yaml': configMap('b') }))
    await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    await forbidden(/cannot delete resource .{0,4}configmaps/)
    assert.ok(await stage.configMap('b'))
    await mayAllBut()
    await kube.patch(GitOpsDeployments, ref('shop'), { metadata: { annotations: { 'gitops.berth.dev/sync': 'now' } } })
    await eventually(async () => (await stage.configMap('b')) === undefined)
  })

  it('to get, is told so where a look decides, and has the rest applied', async () => {
    await mayAllBut('get')
    await stage.deploy()
    const once = configMap('made')
    const bound = { ...once, metadata: { ...once.metadata, annotations: { 'gitops.berth.dev/apply': 'if-not-present' } } }
    await stage.git.push({ 'deploy/a.yaml': configMap('a'), 'deploy/made.yaml': bound })
    await forbidden(/cannot get resource .{0,4}configmaps/)
    assert.ok(await stage.configMap('a'))
    assert.is(await stage.configMap('made'), undefined)
  })

  for (const lacks of [['list'], ['watch'], ['list', 'watch']] as const)
    it(`to ${lacks.join(' and ')}, is served all the same, by looking at each object`, async () => {
      await mayAllBut(...lacks)
      await stage.deploy({ interval: '1s' })
      await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }), 'deploy/b.yaml': configMap('b') }))
      await kube.patch(ConfigMaps, ref('a'), { data: { x: 'edited' } })
      await eventually(async () => (await stage.configMap('a'))?.data?.x === '1')
      await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) }))
      assert.is(await stage.configMap('b'), undefined)
    })

  it('to look at objects in any way, is told so', async () => {
    await mayAllBut('get', 'list', 'watch')
    await stage.deploy({ interval: '1s' })
    await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    await forbidden(/cannot get resource .{0,4}configmaps/)
  })

  it('to get the ConfigMap and the Secret of its variables, is told which', async () => {
    await mayAllBut('get')
    await kube.create(ConfigMaps, { ...configMap('values', { a: '1' }, stage.namespace), metadata: ref('values') })
    await stage.deploy({ variables: { from: [{ kind: 'ConfigMap', name: 'values' }] } })
    await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    assert.match(
      (await stage.complains('VariablesForbidden')).message,
      /spec\.variables\.from\[0\].*may not read ConfigMap values/,
    )
    await kube.patch(GitOpsDeployments, ref('shop'), { spec: { variables: { from: [{ kind: 'Secret', name: 'values' }] } } })
    await eventually(async () => {
      const { message } = await stage.complains('VariablesForbidden')
      assert.match(message, /may not read Secret values/)
      return true
    })
    assert.is(await stage.configMap('a'), undefined)
  })
})

describe('a tenant with credentials of a target', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage
  let target = ''

  it.beforeEach(async () => {
    stage = await openStage(cluster)
    target = await cluster.namespace('target')
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const open = async (spec: Parameters<typeof managedEnvironment>[2] = {}, name = 'dev', brought?: string, metadata = {}) => {
    const { kubeconfig = brought } = brought === undefined ? await deployer(kube, target, { role: 'admin', name }) : {}
    await kube.create(Secrets, managedSecret(stage.namespace, name, kubeconfig))
    const given = { apiURL: kube.server, credentialsSecret: name, ...spec }
    await kube.create(GitOpsDeploymentManagedEnvironments, managedEnvironment(stage.namespace, name, given, metadata))
  }
  const inTarget = (name: string) => kube.get(ConfigMaps, { name, namespace: target })

  it('may deploy the kinds that the environment allows, and no other', async () => {
    await open({ namespaces: [target], allowedKinds: [{ group: '', kind: 'ConfigMap' }] })
    await stage.deploy({ destination: { environment: 'dev' } })
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }
    await stage.git.push({ 'deploy/a.yaml': configMap('a'), 'deploy/s.yaml': secret })
    assert.match((await stage.complains('SyncFailed')).message, /Secret .*\/s .*the destination allows ConfigMap/)
    assert.ok(await inTarget('a'))
    assert.is(await kube.get(Secrets, { name: 's', namespace: target }), undefined)
    // Judged at each action: what is taken away holds for the next.
    const ref = { name: 'dev', namespace: stage.namespace }
    await kube.patch(GitOpsDeploymentManagedEnvironments, ref, { spec: { allowedKinds: [{ group: 'apps', kind: '*' }] } })
    await eventually(async () => {
      const { message } = await stage.complains('SyncFailed')
      assert.match(message, /ConfigMap .*\/a .*may not be deployed/)
      return true
    })
    const commit = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '2' }) })
    await eventually(async () => (await stage.status()).sync?.revision === commit)
    assert.is((await inTarget('a'))?.data?.x, undefined)
  })

  it('is not sent to a setting that an Environment writes again', async () => {
    const owner = ownedBy(await kube.create(Environments, environment(stage.namespace, 'prod', viaClaim('prod'))))
    const labelled = { ownerReferences: [owner], labels: { [labels.claimUid]: 'x' } }
    await open({ namespaces: [target] }, 'managed-environment-prod', undefined, labelled)
    await stage.deploy({ destination: { environment: 'prod' } })
    await stage.git.push({ 'deploy/n.yaml': { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'more' } } })
    const { message } = await stage.complains('SyncFailed')
    assert.match(message, /is cluster-scoped.*; leave it out of this path: Environment prod leads to one namespace$/)
  })

  it('has nothing deleted in a namespace that was taken from the environment', async () => {
    await open({ namespaces: [target] })
    await stage.deploy({ destination: { environment: 'dev' } })
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a'), 'deploy/b.yaml': configMap('b') }))
    const ref = { name: 'dev', namespace: stage.namespace }
    await kube.patch(GitOpsDeploymentManagedEnvironments, ref, { spec: { namespaces: ['elsewhere'] } })
    await stage.complains('SyncFailed')
    await stage.git.push({ 'deploy/a.yaml': configMap('a', {}, 'elsewhere') })
    await eventually(async () => assert.match(JSON.stringify(await stage.status()), /elsewhere/) ?? true)
    assert.ok(await inTarget('b'))
  })

  it('may not make a namespace outside of the environment', async () => {
    await open({ namespaces: [target] })
    const namespace = `${target}-more`
    await stage.deploy({
      destination: { environment: 'dev', namespace },
      syncPolicy: { syncOptions: ['CreateNamespace=true'] },
    })
    await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    await eventually(async () => assert.match(JSON.stringify(await stage.status()), /forbidden|outside the destination/) ?? true)
  })

  it('85: may bring no kubeconfig that runs a program', async () => {
    const text = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'target', cluster: { server: kube.server } }],
      users: [{ name: 'x', user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: '/bin/true' } } }],
      contexts: [{ name: 'default', context: { cluster: 'target', user: 'x' } }],
      'current-context': 'default',
    })
    await open({}, 'dev', text)
    await stage.deploy({ destination: { environment: 'dev' } })
    await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    await eventually(async () => assert.match(JSON.stringify((await stage.status()).conditions), /exec/) ?? true)
    assert.is(await inTarget('a'), undefined)
  })

  it('R26: who brings something that cannot be read stops nobody else', async () => {
    await open({}, 'sick', 'not: [a kubeconfig')
    await open({}, 'well')
    await stage.deploy({ destination: { environment: 'sick', namespace: target } }, 'sick')
    await stage.deploy({ syncWindows: [{ kind: 'Allow', schedule: 'never', duration: '1h' }] }, 'windy')
    await stage.deploy({ destination: { environment: 'well', namespace: target } }, 'well')
    const commit = await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    await stage.synced(commit, 'well')
    await eventually(async () => {
      const ready = await Promise.all(['sick', 'windy'].map(async (name) => (await stage.status(name)).conditions?.[0]?.status))
      assert.equal(ready, ['False', 'False'])
      return true
    })
  })

  it('84: may not use a repository of another namespace that nobody granted to him, open as it may be', async () => {
    const other = await cluster.namespace('other')
    await kube.create(GitProjects, {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'GitProject',
      metadata: { name: 'theirs', namespace: other },
      spec: { url: 'https://git.example.com/team-b/secret', path: `${other}/theirs`, visibility: 'public' },
    })
    await stage.deploy({ source: { repoURL: 'https://git.example.com/team-b/secret', path: '.' } })
    await stage.git.push({ 'a.yaml': configMap('a') })
    const { message } = await stage.complains('GitProjectNotFound')
    assert.match(message, /belongs to no GitProject that service account .*\/default may read/)
    assert.not.match(message, new RegExp(other))
  })
})
