import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import {
  ClusterRoleBindings,
  ConfigMaps,
  conditionOf,
  Deployments,
  finalizers,
  type GitOpsDeployment,
  GitOpsDeploymentManagedEnvironments,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  GitProjects,
  isTrue,
  Secrets,
  tenantRoles,
  userOfAccount,
} from '../../../src/api/index.ts'
import { createRenderer, type Snapshot } from '../../../src/engines/render/index.ts'
import { gitopsDeployments, type Source, syncRuns } from '../../../src/operator/gitops-deployment/index.ts'
import { Failure } from '../../../src/std/index.ts'
import { deployer, grant, letUsersIn } from '../../support/builders/credentials.ts'
import { managedEnvironment, managedSecret } from '../../support/builders/environments.ts'
import { configMap, kubectl, snapshot } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { makeSyncRun } from '../../support/deployments.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { apply, eventually } from '../../support/verbs.ts'

type Follow = Parameters<Source['follow']>

/** A repository in memory, followed as kas lets it be: the last push now, each new one as it comes. */
function repository() {
  const followers = new Set<Follow>()
  let last: Snapshot | undefined
  const deliver = async (to: Follow) => {
    const [{ globs }, { onBatch }] = to
    const roots = globs.map((glob) => glob.replace(/\*\*$/, ''))
    const files = (last?.files ?? []).filter(({ source }) => roots.some((root) => source.startsWith(root)))
    if (last) await onBatch({ commitId: last.commitId, projectId: 1n, files })
  }
  return {
    asked: () => [...followers].map(([wanted]) => wanted),
    fail: (failure: Failure) => {
      for (const [, { onFailure }] of followers) onFailure?.(failure)
    },
    async push(files: Record<string, string | object>) {
      last = snapshot(files)
      await Promise.all([...followers].map(deliver))
      return last.commitId
    },
    source: {
      async follow(...follow) {
        const [, { signal }] = follow
        followers.add(follow)
        await deliver(follow)
        await new Promise<void>((resolve) => {
          if (signal.aborted) resolve()
          signal.addEventListener('abort', () => resolve())
        })
        followers.delete(follow)
      },
    } satisfies Source,
  }
}

const web = (replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'example.com/web:1' }] } },
  },
})

const REPOSITORY = 'https://git.example.com/team-a/shop.git'

const ROOT = new URL('../../../', import.meta.url)
const ROLES = ['gitops-deployment', 'gitops-sync-run']

describe('a GitOpsDeployment', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let namespace = ''
  let target = ''
  let git = repository()
  let operator: RunningOperator
  const folder = mkdtempSync(join(tmpdir(), 'berth-test-'))
  const bindings: string[] = []

  it.before(async () => {
    for (const role of ROLES) await apply(kube, readFileSync(new URL(`deploy/operator/roles/${role}.yaml`, ROOT), 'utf8'))
  })
  it.beforeEach(async () => {
    namespace = await cluster.namespace('gitops')
    target = await cluster.namespace('target')
    git = repository()
    const render = createRenderer({ kubectl: await kubectl() })
    operator = await startOperator({
      kubeconfig: await operatorWithItsRolesOnly(),
      tenantRole: tenantRoles.operator,
      namespace,
      controllers: (context) => [gitopsDeployments(context, { source: git.source, render }), syncRuns(context)],
    })
    await kube.create(GitProjects, {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'GitProject',
      metadata: { name: 'shop', namespace },
      spec: { url: REPOSITORY, path: `${namespace}/shop` },
    })
    const account = await deployer(kube, target, { role: 'admin' })
    await kube.create(Secrets, managedSecret(namespace, 'credentials', account.kubeconfig))
    await kube.create(
      GitOpsDeploymentManagedEnvironments,
      managedEnvironment(namespace, 'managed-environment-dev', { apiURL: kube.server, namespaces: [target] }),
    )
  })
  it.afterEach(() => operator.stop())
  it.after(async () => {
    await Promise.all(bindings.map((name) => kube.delete(ClusterRoleBindings, { name })))
    rmSync(folder, { recursive: true })
    await cluster.close()
  })

  /** What the controllers may do is part of what is tested: they run as a service account that has just their roles. */
  const operatorWithItsRolesOnly = async () => {
    const { kubeconfig } = await deployer(kube, namespace, { name: 'operator' })
    for (const role of ROLES) {
      const name = `${role}-${namespace}`
      await kube.create(ClusterRoleBindings, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `berth-${role}` },
        subjects: [{ kind: 'ServiceAccount', name: 'operator', namespace }],
      })
      bindings.push(name)
    }
    await letUsersIn(kube, namespace, [userOfAccount({ namespace, name: 'operator' })])
    const file = join(folder, namespace)
    writeFileSync(file, kubeconfig)
    return file
  }

  const deploy = (spec: Partial<GitOpsDeployment['spec']> = {}, metadata: object = {}) =>
    kube.create(GitOpsDeployments, {
      apiVersion: 'managed-gitops.redhat.com/v1alpha1',
      kind: 'GitOpsDeployment',
      metadata: { name: 'shop', namespace, ...metadata },
      spec: {
        source: { repoURL: 'https://git.example.com/team-a/shop', path: 'deploy' },
        destination: { environment: 'dev' },
        type: 'automated',
        ...spec,
      },
    })
  const status = async () => (await kube.get(GitOpsDeployments, { name: 'shop', namespace }))?.status ?? {}
  const synced = (revision: string) =>
    eventually(async () => {
      const now = await status()
      assert.equal(
        [now.sync, isTrue(now.conditions, 'Ready')],
        [{ status: 'Synced', revision }, true],
        JSON.stringify(now.conditions),
      )
      return now
    })
  const complains = (reason: string) =>
    eventually(async () => {
      const ready = conditionOf((await status()).conditions, 'Ready')
      assert.is(ready?.reason, reason, ready?.message)
      return ready
    })
  const inTarget = (name: string) => kube.get(ConfigMaps, { name, namespace: target })

  it('brings a push into the environment, and the next push too', async () => {
    await deploy()
    const first = await git.push({
      'deploy/kustomization.yaml': 'resources: [settings.yaml, banner.yaml, ../base]\n',
      'deploy/settings.yaml': configMap('settings', { mode: 'a' }),
      'deploy/banner.yaml': configMap('banner'),
      'base/kustomization.yaml': 'resources: [web.yaml]\n',
      'base/web.yaml': web(1),
    })
    const now = await synced(first)
    assert.equal(now.resources?.map((resource) => `${resource.kind} ${resource.name} ${resource.status}`).sort(), [
      'ConfigMap banner Synced',
      'ConfigMap settings Synced',
      'Deployment web Synced',
    ])
    assert.equal(now.health, { status: 'Healthy' })
    assert.is(now.reconciledState?.destination.namespace, target)
    assert.ok(await kube.get(Deployments, { name: 'web', namespace: target }))

    const second = await git.push({ 'deploy/settings.yaml': configMap('settings', { mode: 'b' }), 'deploy/web.yaml': web(1) })
    await synced(second)
    assert.equal((await inTarget('settings'))?.data, { mode: 'b' })
    assert.is(await inTarget('banner'), undefined)
  })

  it('applies to its own namespace as a service account of it, and with no other rights', async () => {
    await deploy({ destination: {} })
    const commit = await git.push({ 'deploy/a.yaml': configMap('a') })
    const ready = await complains('SyncFailed')
    assert.match(ready.message, /ConfigMap .*\/a\b.*system:serviceaccount:.*:default.*cannot/)
    await grant(kube, namespace, 'default', 'admin')
    await synced(commit)
    assert.ok(await kube.get(ConfigMaps, { name: 'a', namespace }))
  })

  it('asks for the project and the branch on behalf of its namespace and service account', async () => {
    await deploy({ source: { repoURL: REPOSITORY, path: '.', targetRevision: 'release' } })
    const [wanted] = await eventually(() => git.asked().length > 0 && git.asked())
    const { projectUid, ...asked } = wanted ?? {}
    assert.ok(projectUid)
    const ref = { kind: 'short', name: 'release' }
    const account = { namespace, serviceAccount: 'default' }
    assert.equal(asked, { projectId: `${namespace}/shop`, ...account, ref, globs: ['**'], about: true })
  })

  it('waits for a GitProject, says which, and goes on when it is there', async () => {
    await kube.delete(GitProjects, { name: 'shop', namespace })
    await eventually(async () => !(await kube.get(GitProjects, { name: 'shop', namespace })))
    await deploy()
    assert.match((await complains('GitProjectNotFound')).message, /https:\/\/git\.example\.com\/team-a\/shop/)
    await kube.create(GitProjects, {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'GitProject',
      metadata: { name: 'again', namespace },
      spec: { url: REPOSITORY, path: `${namespace}/shop` },
    })
    await synced(await git.push({ 'deploy/a.yaml': configMap('a') }))
  })

  it('waits for its environment and is woken by it', async () => {
    await deploy({ destination: { environment: 'late' } })
    const commit = await git.push({ 'deploy/a.yaml': configMap('a') })
    assert.match((await complains('EnvironmentNotReady')).message, /"late"/)
    await kube.create(
      GitOpsDeploymentManagedEnvironments,
      managedEnvironment(namespace, 'late', { apiURL: kube.server, namespaces: [target] }),
    )
    await synced(commit)
  })

  it("tells what kas refuses in kas' own words", async () => {
    await deploy()
    await eventually(() => git.asked().length > 0)
    git.fail(new Failure('forbidden', 'project team-a/shop may not be read', { reason: 'ProjectNotAccessible' }))
    assert.match((await complains('ProjectNotAccessible')).message, /may not be read/)
  })

  it('keeps what is in effect when kas refuses the next commit, and tells which that is', async () => {
    await deploy()
    const commit = await git.push({ 'deploy/a.yaml': configMap('a') })
    await synced(commit)
    const told = `commit ${'c'.repeat(40)} is not signed`
    git.fail(new Failure('invalid', told, { reason: 'CommitNotSigned', remedy: 'Sign it.' }))
    assert.match((await complains('CommitNotSigned')).message, told)
    assert.equal((await status()).sync?.revision, commit)
    assert.ok(await inTarget('a'))
    await eventually(async () => {
      const path = `/api/v1/namespaces/${namespace}/events`
      const { items } = await kube.read<{ items: { reason: string; message: string }[] }>(path)
      return items.some(({ reason, message }) => reason === 'CommitNotSigned' && message.includes(told))
    })
  })

  it('keeps what is in effect when a push cannot be rendered', async () => {
    await deploy()
    const commit = await git.push({ 'deploy/a.yaml': configMap('a') })
    await synced(commit)
    await git.push({ 'deploy/a.yaml': 'a: [' })
    assert.match((await complains('RenderFailed')).message, /deploy\/a\.yaml:1/)
    assert.equal((await status()).sync, { status: 'OutOfSync', revision: commit })
    assert.ok(await inTarget('a'))
  })

  it('applies a manual one when a run asks for it, and not before', async () => {
    await deploy({ type: 'manual' })
    const commit = await git.push({ 'deploy/a.yaml': configMap('a') })
    await complains('WaitingForSyncRun')
    assert.is(await inTarget('a'), undefined)
    await makeSyncRun(kube, { name: 'go', namespace })
    await synced(commit)
    const run = await eventually(async () => {
      const now = await kube.get(GitOpsDeploymentSyncRuns, { name: 'go', namespace })
      return now?.status?.phase === 'Succeeded' && now.status
    })
    assert.is(run.revision, commit)
  })

  it('does nothing while it is suspended', async () => {
    await deploy({ suspend: true })
    await git.push({ 'deploy/a.yaml': configMap('a') })
    await complains('Suspended')
    assert.equal(git.asked(), [])
  })

  it('takes its objects along when it carries the finalizer, and leaves them without it', async () => {
    await deploy({}, { finalizers: [finalizers.gitopsDeployment] })
    await synced(await git.push({ 'deploy/a.yaml': configMap('a') }))
    await kube.delete(GitOpsDeployments, { name: 'shop', namespace })
    await eventually(async () => !(await kube.get(GitOpsDeployments, { name: 'shop', namespace })))
    assert.is(await inTarget('a'), undefined)

    await deploy()
    await synced(await git.push({ 'deploy/b.yaml': configMap('b') }))
    await kube.delete(GitOpsDeployments, { name: 'shop', namespace })
    await eventually(async () => !(await kube.get(GitOpsDeployments, { name: 'shop', namespace })))
    assert.ok(await inTarget('b'))
  })
})
