import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { ConfigMaps, GitOpsDeploymentSyncRuns, GitOpsDeployments } from '../../../src/api/index.ts'
import { deployer } from '../../support/builders/credentials.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { apply, eventually, expectObject } from '../../support/verbs.ts'
import { berth, startBerth } from '../berth.ts'

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

const secret = (value: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key' }, stringData: { value } })

/** May see GitOpsDeployments, one by one, and nothing else. */
const VISITOR = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: visitor }
rules: [{ apiGroups: [managed-gitops.redhat.com], resources: [gitopsdeployments], verbs: [get] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: visitor }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: visitor }
subjects: [{ kind: ServiceAccount, name: visitor, namespace: NAMESPACE }]
`

describe('looking at a GitOpsDeployment', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  let stage: Stage
  it.beforeEach(async () => {
    stage = await openStage(cluster)
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const run = (verb: string, ...more: string[]) =>
    berth([verb, 'shop', '-n', stage.namespace, '--kubeconfig', kubeconfig, ...more])
  const suspended = async () => {
    await kube.patch(GitOpsDeployments, { name: 'shop', namespace: stage.namespace }, { spec: { suspend: true } })
    await stage.complains('Suspended')
  }

  it('diff shows field by field what a sync would do, masks Secrets, and leaves nothing behind', async () => {
    const { git, namespace } = stage
    await stage.deploy()
    const files = { 'deploy/a.yaml': configMap('a', { x: 'old' }), 'deploy/s.yaml': secret('first-secret') }
    await stage.synced(await git.push({ ...files, 'deploy/b.yaml': configMap('b') }))
    await suspended()
    const next = { 'deploy/a.yaml': configMap('a', { x: 'new' }), 'deploy/s.yaml': secret('second-secret') }
    const commit = await git.push({ ...next, 'deploy/c.yaml': configMap('c', { long: 'x'.repeat(80), mode: 'new' }) })

    const { code, stdout, stderr } = await run('diff')
    assert.is(code, 0, stderr)
    const [head = ''] = stdout.split('\n\n')
    assert.match(head.replaceAll('\n', ' '), `with commit ${commit.slice(0, 12)}: 1 to create, 2 to change, 1 to delete.`)
    assert.match(stdout, `~ ConfigMap ${namespace}/a`)
    assert.match(stdout, '    /data/x\n      - "old"\n      + "new"\n')
    assert.match(
      stdout,
      `+ ConfigMap ${namespace}/c\n    deploy/c.yaml:1\n    /data/long\n      + "${'x'.repeat(80)}"\n    /data/mode: "new"\n`,
    )
    assert.match(stdout, `- ConfigMap ${namespace}/b`)
    assert.match(stdout, '    /data/value\n      - "***"\n      + "***"')
    assert.not.match(stdout, 'secret"')
    assert.equal(await kube.list(GitOpsDeploymentSyncRuns, { namespace }), [])
    assert.equal((await stage.configMap('a'))?.data, { x: 'old' })

    const { stdout: json, code: different } = await run('diff', '-o', 'json', '--exit-code')
    assert.is(different, 9)
    const { revision, create, change, delete: gone }: Record<string, unknown> = JSON.parse(json)
    assert.equal([revision, create, change, gone], [commit, 1, 2, 1])
  })

  it('diff says that nothing is to be done, and what is wrong with the files', async () => {
    await stage.deploy()
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a') }))
    const same = await run('diff', '--exit-code')
    assert.is(same.code, 0)
    assert.match(same.stdout, '1 as they are.')
    await suspended()
    await stage.git.push({ 'deploy/a.yaml': 'kind: [' })
    const broken = await run('diff')
    assert.is(broken.code, 1)
    assert.match(broken.stderr, 'deploy/a.yaml')
  })

  it('diff fails where an object would be refused', async () => {
    await stage.deploy()
    await stage.synced(await stage.git.push({ 'deploy/a.yaml': configMap('a') }))
    await suspended()
    const beyond = { ...configMap('b'), metadata: { name: 'b', namespace: 'kube-system' } }
    await stage.git.push({ 'deploy/a.yaml': configMap('a'), 'deploy/b.yaml': beyond })
    for (const more of [[], ['--exit-code']]) {
      const { code, stdout, stderr } = await run('diff', ...more)
      assert.is(code, 1)
      assert.match(stdout, /1 refused, 1 as\s+they\s+are\./)
      assert.match(stderr, 'An object would be refused, as said above: a sync would fail.')
    }
  })

  it('tree shows each object with sync, health and drift, and what belongs to it', async () => {
    const { namespace } = stage
    await stage.deploy({ drift: 'Detect' })
    await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }), 'deploy/web.yaml': web(1) })
    await expectObject(kube, ConfigMaps, { name: 'a', namespace }, () => true)
    await kube.patch(ConfigMaps, { name: 'a', namespace }, { data: { x: '2' } })
    await stage.complains('Drifted')
    const replicaSets = { group: 'apps', version: 'v1', kind: 'ReplicaSet', plural: 'replicasets', namespaced: true }
    const owner = await kube.get({ ...replicaSets, kind: 'Deployment', plural: 'deployments' }, { name: 'web', namespace })
    const object = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name: 'web-1',
        namespace,
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: owner?.metadata.uid ?? '' }],
      },
      spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template: web(1).spec.template },
    }
    await kube.create(replicaSets, object)

    const { code, stdout } = await run('tree')
    assert.is(code, 0)
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line)
    assert.match(stdout, `GitOpsDeployment ${namespace}/shop: OutOfSync, `)
    assert.match(stdout, /ConfigMap a +OutOfSync {2}Healthy\n +differs in \/data\/x\n/)
    assert.match(stdout, /Deployment\.apps web +Synced/)
    assert.match(stdout, /[├└]─ ReplicaSet\.apps web-1 +\d\/1 ready/)
    const data: { objects: { name: string; drift: string[] }[] } = JSON.parse((await run('tree', '-o', 'json')).stdout)
    assert.equal(data.objects.find(({ name }) => name === 'a')?.drift, ['/data/x'])
  })

  it('history lists what was in effect, the newest first', async () => {
    await stage.deploy()
    const empty = await run('history')
    assert.is(empty.code, 0)
    assert.match(empty.stderr, 'has not been in effect as a whole yet')
    const first = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) })
    await stage.synced(first)
    assert.not.match((await run('history')).stdout, 'SUBJECT')
    const second = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '2' }) }, undefined, { subject: 'Set x to 2' })
    await stage.synced(second)
    const { stdout } = await run('history', '-o', 'json')
    const rows: { revision: string; current: boolean; path: string; subject?: string }[] = JSON.parse(stdout)
    assert.equal(
      rows.map(({ revision, current, path, subject }) => [revision, current, path, subject]),
      [
        [second, true, 'deploy', 'Set x to 2'],
        [first, false, 'deploy', undefined],
      ],
    )
    assert.match((await run('history')).stdout, new RegExp(`^${second.slice(0, 12)} .* yes +deploy +Set x to 2$`, 'm'))
  })

  it('takes its question back when it is interrupted', async () => {
    const { namespace } = stage
    await stage.deploy()
    await stage.operator.stop()
    const asking = startBerth(['diff', 'shop', '-n', namespace, '--kubeconfig', kubeconfig])
    await eventually(async () => (await kube.list(GitOpsDeploymentSyncRuns, { namespace })).length === 1)
    asking.process.kill('SIGINT')
    assert.is((await asking.ended).code, 130)
    assert.equal(await kube.list(GitOpsDeploymentSyncRuns, { namespace }), [])
  })

  it('has the rights of the person and no others', async () => {
    const { namespace } = stage
    await stage.deploy()
    await stage.synced(await stage.git.push({ 'deploy/web.yaml': web(0) }))
    const person = await deployer(kube, namespace, { name: 'visitor' })
    await apply(kube, VISITOR.replace('NAMESPACE', namespace), { namespace })
    const file = join(mkdtempSync(join(tmpdir(), 'berth-test-')), 'kubeconfig')
    writeFileSync(file, person.kubeconfig)
    const visit = (verb: string) => berth([verb, 'shop', '-n', namespace, '--kubeconfig', file])
    // What was granted is heard of a moment later.
    const tree = await eventually(async () => {
      const seen = await visit('tree')
      return seen.code !== 4 && seen
    })
    assert.is(tree.code, 0, tree.stderr)
    assert.match(tree.stdout, 'Deployment.apps web')
    assert.match(tree.stderr, `You may not list replicasets in namespace ${namespace}`)
    for (const verb of ['diff', 'suspend', 'sync']) {
      const { code, stderr } = await visit(verb)
      assert.is(code, 4, verb)
      assert.match(stderr, 'forbidden')
    }
    rmSync(dirname(file), { recursive: true })
  })

  it('names those that are there when the name is wrong', async () => {
    await stage.deploy()
    const { code, stderr } = await berth(['tree', 'shopp', '-n', stage.namespace, '--kubeconfig', kubeconfig])
    assert.is(code, 3)
    assert.match(stderr, `there is no GitOpsDeployment shopp in namespace ${stage.namespace}. In that namespace there is shop.`)
  })
})
