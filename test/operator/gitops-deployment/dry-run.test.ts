import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import {
  ClusterRoleBindings,
  ConfigMaps,
  conditionOf,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  Secrets,
  tenantRoles,
  userOfAccount,
} from '../../../src/api/index.ts'
import { createRenderer, type Render } from '../../../src/engines/render/index.ts'
import { dryRuns } from '../../../src/operator/gitops-deployment/index.ts'
import { systemClock, timestamp } from '../../../src/std/index.ts'
import { deployer, letUsersIn } from '../../support/builders/credentials.ts'
import { configMap, kubectl } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { makeSyncRun, openStage, type Stage, sayEmpty } from '../../support/deployments.ts'
import { startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { apply, eventually, expectGone, expectObject } from '../../support/verbs.ts'

describe('a dry run', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage
  let runs = 0
  it.beforeEach(async () => {
    stage = await openStage(cluster)
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  /** Asks for a dry run and gives its status when it is over. */
  const ask = async (spec: { revisionID?: string } = {}, gitopsDeploymentName = 'shop') => {
    const ref = { name: `look-${++runs}`, namespace: stage.namespace }
    await makeSyncRun(kube, ref, { gitopsDeploymentName, dryRun: true, ...spec })
    const { status = {} } = await expectObject(kube, GitOpsDeploymentSyncRuns, ref, ({ status: now }) =>
      assert.ok(now?.phase === 'Succeeded' || now?.phase === 'Failed', JSON.stringify(now)),
    )
    return status
  }
  const wouldBe = (status: Awaited<ReturnType<typeof ask>>) =>
    (status.dryRun?.objects ?? []).map(({ kind, name, would, fields = [] }) => [
      kind,
      name,
      would,
      ...fields.map(({ path, from, to }) => [path, from, to].filter((part) => part !== undefined).join(' ')),
    ])

  it('tells which hooks would run, and of which nobody knows here', async () => {
    const hook = (name: string, of: string) => ({
      ...configMap(name),
      metadata: { name, annotations: { 'argocd.argoproj.io/hook': of } },
    })
    const files = {
      'deploy/app.yaml': configMap('app', { x: '1' }),
      'deploy/before.yaml': hook('before', 'PreSync'),
      'deploy/failed.yaml': hook('failed', 'SyncFail'),
      'deploy/gone.yaml': hook('gone', 'PostDelete'),
    }
    const told = async () =>
      ((await ask()).dryRun?.objects ?? []).map(({ name, would, message }) => `${name} ${would} ${message?.slice(0, 29) ?? ''}`)
    await stage.deploy()
    const commit = await stage.git.push(files)
    await stage.synced(commit)
    const later = ['failed Leave would run if the sync failed', 'gone Leave is a hook that is not run her']
    assert.equal((await told()).toSorted(), later)
    await kube.patch(GitOpsDeployments, { name: 'shop', namespace: stage.namespace }, { spec: { suspend: true } })
    await stage.git.push({ ...files, 'deploy/app.yaml': configMap('app', { x: '2' }) })
    assert.equal((await told()).toSorted(), ['app Change ', 'before Create would run as a PreSync hook', ...later])
  })

  it('tells field by field what a suspended deployment would do, and does nothing', async () => {
    const { git, namespace } = stage
    await stage.deploy()
    const first = await git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }), 'deploy/b.yaml': configMap('b') })
    await stage.synced(first)
    await kube.patch(GitOpsDeployments, { name: 'shop', namespace }, { spec: { suspend: true } })
    await stage.complains('Suspended')
    const second = await git.push({ 'deploy/a.yaml': configMap('a', { x: '2' }), 'deploy/c.yaml': configMap('c') })

    const status = await ask()
    assert.is(status.phase, 'Succeeded')
    assert.is(status.revision, second)
    const [change, create, remove] = wouldBe(status)
    assert.equal(change, ['ConfigMap', 'a', 'Change', '/data/x "1" "2"'])
    assert.equal(create?.slice(0, 3), ['ConfigMap', 'c', 'Create'])
    assert.equal(remove, ['ConfigMap', 'b', 'Delete'])
    assert.equal([status.dryRun?.change, status.dryRun?.create, status.dryRun?.delete], [1, 1, 1])
    assert.equal((await stage.configMap('a'))?.data, { x: '1' })
    assert.ok(await stage.configMap('b'))
    assert.not.ok(await stage.configMap('c'))
    assert.is((await stage.status()).sync?.revision, first)
  })

  it('is over at once where nothing has been pushed yet', async () => {
    await stage.deploy()
    await sayEmpty(cluster, stage)
    const status = await ask()
    assert.is(status.phase, 'Failed')
    assert.match(
      conditionOf(status.conditions, 'Ready')?.message ?? '',
      /nothing has been pushed to GitProject \S+\/shop yet\. Push a commit/,
    )
  })

  it('compares with any commit, also for an automated deployment, which goes on as it was', async () => {
    const { git } = stage
    await stage.deploy()
    const first = await git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) })
    await stage.synced(first)
    const second = await git.push({ 'deploy/a.yaml': configMap('a', { x: '2' }) })
    await stage.synced(second)
    const status = await ask({ revisionID: first })
    assert.equal(wouldBe(status), [['ConfigMap', 'a', 'Change', '/data/x "2" "1"']])
    assert.is((await stage.status()).sync?.revision, second)
    assert.is((await ask()).dryRun?.unchanged, 1)
  })

  it('shows no value of a Secret, also not where variables carry it elsewhere', async () => {
    const { git, namespace } = stage
    const TOKEN = 'hunter2-and-more'
    await kube.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'token', namespace },
      stringData: { token: TOKEN },
    })
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'own' }, stringData: { key: 'very-secret' } }
    await stage.deploy({ variables: { from: [{ kind: 'Secret', name: 'token' }] }, suspend: true })
    await git.push({ 'deploy/a.yaml': configMap('a', { url: 'https://x:${token}@example.com' }), 'deploy/s.yaml': secret })
    const status = await ask()
    const text = JSON.stringify(status)
    assert.is(status.phase, 'Succeeded', text)
    assert.not.match(text, TOKEN)
    assert.not.match(text, 'very-secret')
    assert.not.match(text, Buffer.from('very-secret').toString('base64'))
    assert.match(text, 'https://x:***@example.com')
  })

  it('waits where those before it in the namespace had very much to look through for secrets', async () => {
    const { git, namespace } = stage
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'token', namespace }, stringData: { token: 'hunter2' } }
    await kube.create(Secrets, secret)
    await stage.deploy({ variables: { from: [{ kind: 'Secret', name: 'token' }] }, suspend: true })
    await git.push({ 'deploy/a.yaml': configMap('a', { url: 'https://x:${token}@example.com' }) })
    await stage.operator.stop()
    const settings = { source: git.source, render: createRenderer({ kubectl: await kubectl() }) }
    const operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [dryRuns(context, settings, { burst: 1, perSecond: 1e-6 })],
    })
    try {
      assert.match(JSON.stringify(await ask()), 'https://x:***@example.com')
      const ref = { name: 'one-more', namespace }
      await makeSyncRun(kube, ref, { dryRun: true })
      await expectObject(kube, GitOpsDeploymentSyncRuns, ref, ({ status }) =>
        assert.is(conditionOf(status?.conditions, 'Ready')?.reason, 'Waiting', JSON.stringify(status)),
      )
    } finally {
      await operator.stop()
    }
  })

  it('tells what a guard would hold back, and why', async () => {
    const { git } = stage
    await stage.deploy()
    const kept = { ...configMap('b'), metadata: { name: 'b', annotations: { 'gitops.berth.dev/prune': 'disabled' } } }
    const asks = { ...configMap('c'), metadata: { name: 'c', annotations: { 'gitops.berth.dev/prune': 'confirm' } } }
    await stage.synced(await git.push({ 'deploy/a.yaml': configMap('a'), 'deploy/b.yaml': kept, 'deploy/c.yaml': asks }))
    await kube.patch(GitOpsDeployments, { name: 'shop', namespace: stage.namespace }, { spec: { suspend: true } })
    await stage.complains('Suspended')
    await git.push({ 'deploy/a.yaml': configMap('a') })
    const status = await ask()
    assert.equal(wouldBe(status), [
      ['ConfigMap', 'b', 'Leave'],
      ['ConfigMap', 'c', 'Hold'],
    ])
    assert.match(status.dryRun?.objects?.[1]?.message ?? '', 'stays until it is confirmed')
  })

  it('tells what cannot be changed, or is made anew for it, and what another deployment keeps', async () => {
    const { git, namespace } = stage
    const job = (image: string) => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'once' },
      spec: { suspend: true, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'once', image }] } } },
    })
    await stage.deploy()
    const commit = await git.push({ 'deploy/job.yaml': job('example.com/a:1') })
    await eventually(async () => (await stage.status()).sync?.revision === commit)
    const ref = { name: 'shop', namespace }
    await kube.patch(GitOpsDeployments, ref, { spec: { suspend: true } })
    await stage.complains('Suspended')
    await git.push({ 'deploy/job.yaml': job('example.com/a:2') })
    const refused = await ask()
    assert.equal(wouldBe(refused), [['Job', 'once', 'Refuse']])
    assert.match(refused.dryRun?.objects?.[0]?.message ?? '', 'cannot be changed once the object exists')
    await kube.patch(GitOpsDeployments, ref, { spec: { force: true } })
    const anew = await ask()
    assert.equal(wouldBe(anew), [['Job', 'once', 'Change']])
    assert.match(anew.dryRun?.objects?.[0]?.message ?? '', 'is deleted and made anew')

    await stage.deploy({ suspend: true }, 'other')
    await git.push({ 'deploy/job.yaml': job('example.com/a:1') })
    assert.match(
      (await ask({}, 'other')).dryRun?.objects?.[0]?.message ?? '',
      `is kept by GitOpsDeployment ${namespace}/shop now`,
    )
  })

  it('looks with the rights of the tenant only', async () => {
    await stage.stop()
    stage = await openStage(cluster, { role: 'view' })
    await stage.deploy({ suspend: true })
    await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    const status = await ask()
    assert.equal(wouldBe(status), [['ConfigMap', 'a', 'Refuse']])
    assert.match(status.dryRun?.objects?.[0]?.message ?? '', 'forbidden')
    assert.not.ok(await kube.get(ConfigMaps, { name: 'a', namespace: stage.namespace }))
  })

  it('needs no more rights than its role gives', async () => {
    await stage.deploy({ suspend: true })
    await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    await stage.operator.stop()
    const { namespace, git } = stage
    await apply(kube, readFileSync(new URL('../../../deploy/operator/roles/gitops-dry-run.yaml', import.meta.url), 'utf8'))
    const account = await deployer(kube, namespace, { name: 'operator' })
    const binding = { name: `gitops-dry-run-${namespace}` }
    await kube.create(ClusterRoleBindings, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: binding,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'berth-gitops-dry-run' },
      subjects: [{ kind: 'ServiceAccount', name: 'operator', namespace }],
    })
    await letUsersIn(kube, namespace, [userOfAccount({ namespace, name: 'operator' })])
    const kubeconfig = join(mkdtempSync(join(tmpdir(), 'berth-test-')), 'kubeconfig')
    writeFileSync(kubeconfig, account.kubeconfig)
    const settings = { source: git.source, render: createRenderer({ kubectl: await kubectl() }) }
    const operator = await startOperator({
      kubeconfig,
      namespace,
      tenantRole: tenantRoles.operator,
      controllers: (context) => [dryRuns(context, settings)],
    })
    try {
      assert.equal(wouldBe(await ask())[0]?.slice(0, 3), ['ConfigMap', 'a', 'Create'])
      await operator.quiet()
    } finally {
      await operator.stop()
      await kube.delete(ClusterRoleBindings, binding)
      rmSync(dirname(kubeconfig), { recursive: true })
    }
  })

  it('renders with what the syncs render with, so that one limit binds both', async () => {
    await stage.stop()
    const renderer = createRenderer({ kubectl: await kubectl() })
    const rendered: string[] = []
    const render: Render = (snapshot, path, signal) => {
      rendered.push(path)
      return renderer(snapshot, path, signal)
    }
    stage = await openStage(cluster, { settings: { render } })
    await stage.deploy({ type: 'manual' })
    await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    await stage.complains('WaitingForSyncRun')
    assert.equal(wouldBe(await ask())[0]?.slice(0, 3), ['ConfigMap', 'a', 'Create'])
    assert.equal(rendered, ['deploy'])
  })

  it('is gone ten minutes after its answer', async () => {
    const old = { name: 'old', namespace: stage.namespace }
    const young = { ...old, name: 'young' }
    await stage.stop()
    for (const [ref, completedAt] of [
      [old, '2020-01-01T00:00:00Z'],
      [young, timestamp(systemClock.now())],
    ] as const) {
      await makeSyncRun(kube, ref, { dryRun: true })
      await kube.patch(GitOpsDeploymentSyncRuns, ref, { status: { phase: 'Succeeded', completedAt } }, { subresource: 'status' })
    }
    await stage.restart()
    await expectGone(kube, GitOpsDeploymentSyncRuns, old)
    assert.ok(await kube.get(GitOpsDeploymentSyncRuns, young))
  })

  it('fails with the reason where there is no such deployment or the files are wrong', async () => {
    const none = await ask({}, 'nothing')
    assert.is(none.phase, 'Failed')
    assert.match(conditionOf(none.conditions, 'Ready')?.message ?? '', 'GitOpsDeployment nothing does not exist')
    await stage.deploy({ suspend: true })
    await stage.git.push({ 'deploy/a.yaml': 'kind: [' })
    const broken = await ask()
    assert.is(broken.phase, 'Failed')
    assert.match(conditionOf(broken.conditions, 'Ready')?.message ?? '', 'deploy/a.yaml')
  })
})
