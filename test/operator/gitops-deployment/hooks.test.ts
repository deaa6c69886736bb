import * as assert from 'uvu/assert'
import {
  type AnyObject,
  ConfigMaps,
  conditionOf,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  type Job,
  Jobs,
} from '../../../src/api/index.ts'
import { isOver } from '../../../src/operator/gitops-deployment/runs/sync-run.ts'
import { timestamp } from '../../../src/std/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { at, openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually, expectObject } from '../../support/verbs.ts'

const OURS = 'gitops.berth.dev/hook'
const POLICY = 'gitops.berth.dev/hook-delete-policy'

/** The Job controller leaves it alone: the tests say how it ends. */
const job = (name: string, annotations: Record<string, string>, more: Record<string, unknown> = {}): AnyObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, annotations },
  spec: {
    managedBy: 'example.com/test',
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'run', image: 'migrate:1' }] } },
  },
  ...more,
})

describe('a commit with hooks', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage
  it.beforeEach(async () => {
    stage = await openStage(cluster)
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const find = (name: string): Promise<Job | undefined> => kube.get(Jobs, { name, namespace: stage.namespace })
  /** The Job that was made after this one; `undefined`: the first. */
  const runAfter = (name: string, before?: Job): Promise<Job> =>
    eventually(async () => {
      const now = await find(name)
      return now && now.metadata.uid !== before?.metadata.uid ? now : undefined
    })
  const end = async (name: string, how: 'Complete' | 'Failed'): Promise<void> => {
    const now = timestamp(Date.now())
    const condition = (type: string) => ({
      type,
      status: 'True',
      lastTransitionTime: now,
      lastProbeTime: now,
      reason: 'Tested',
      message: 'said so',
    })
    const isWell = how === 'Complete'
    const conditions = [condition(isWell ? 'SuccessCriteriaMet' : 'FailureTarget'), condition(how)]
    const status = { startTime: now, ...(isWell ? { completionTime: now, succeeded: 1 } : { failed: 1 }), conditions }
    await kube.patch(Jobs, { name, namespace: stage.namespace }, { status }, { subresource: 'status' })
  }
  const waitsFor = (what: RegExp): Promise<string> =>
    eventually(async () => {
      const { message } = await stage.complains('Waiting')
      assert.match(message, what)
      return message
    })
  const value = async (name: string): Promise<string | undefined> => (await stage.configMap(name))?.data?.x
  const resource = async (name: string) => (await stage.status()).resources?.find((one) => one.name === name)
  /** Somebody asks for a sync. */
  const ask = (word: string) => {
    const ref = { name: 'shop', namespace: stage.namespace }
    return kube.patch(GitOpsDeployments, ref, { metadata: { annotations: { 'gitops.berth.dev/sync': word } } })
  }

  it('runs them before and after its objects, and once more only when something else is wanted', async () => {
    const files = (x: string, more: Record<string, object> = {}) => ({
      'deploy/app.yaml': configMap('app', { x }),
      'deploy/before.yaml': job('before', { [OURS]: 'PreSync' }),
      'deploy/after.yaml': job('after', { 'argocd.argoproj.io/hook': 'PostSync' }),
      ...more,
    })
    await stage.deploy(at('deploy'))
    const first = await stage.git.push(files('1'))
    const before = await runAfter('before')
    await waitsFor(/Job\.batch .*before \(deploy\/before\.yaml:1\) is under way, a PreSync hook/)
    assert.equal([await value('app'), await find('after')], [undefined, undefined])
    assert.is((await resource('before'))?.hook, 'PreSync')

    await end('before', 'Complete')
    const after = await runAfter('after')
    assert.is(await value('app'), '1')
    await waitsFor(/after \(deploy\/after\.yaml:1\) is under way, a PostSync hook/)
    await end('after', 'Complete')
    await stage.synced(first)

    // Of this path it is the same.
    const second = await stage.git.push(files('1', { 'docs/readme.yaml': configMap('readme') }))
    await stage.synced(second)
    await stage.restart()
    await kube.delete(ConfigMaps, { name: 'app', namespace: stage.namespace })
    await eventually(async () => (await value('app')) === '1')
    await stage.synced(second)
    assert.equal(
      [(await find('before'))?.metadata.uid, (await find('after'))?.metadata.uid],
      [before.metadata.uid, after.metadata.uid],
    )

    const third = await stage.git.push(files('2'))
    await runAfter('before', before)
    assert.is(await value('app'), '1')
    assert.is((await find('after'))?.metadata.uid, after.metadata.uid)
    await end('before', 'Complete')
    await runAfter('after', after)
    assert.is(await value('app'), '2')
    await end('after', 'Complete')
    await stage.synced(third)
  })

  it('stops at one that fails, says so, runs those for that case, and all again when somebody asks', async () => {
    await stage.deploy(at('deploy'))
    const old = await stage.git.push({ 'deploy/app.yaml': configMap('app', { x: '1' }), 'deploy/old.yaml': configMap('old') })
    await stage.synced(old)
    const commit = await stage.git.push({
      'deploy/app.yaml': configMap('app', { x: '2' }),
      'deploy/before.yaml': job('before', { [OURS]: 'PreSync' }),
      'deploy/failed.yaml': job('failed', { [OURS]: 'SyncFail' }),
    })
    const before = await runAfter('before')
    assert.is(await find('failed'), undefined)
    await end('before', 'Failed')
    const { message } = await stage.complains('HookFailed')
    assert.match(
      message,
      /^a hook failed: Job\.batch .*before \(deploy\/before\.yaml:1\) failed, a PreSync hook: said so; it runs again when/,
    )
    const failed = await runAfter('failed')
    assert.equal([await value('app'), (await stage.configMap('old'))?.metadata.name], ['1', 'old'])
    await eventually(async () => (await stage.events('HookFailed')).some((told) => told.includes('said so')))

    await stage.restart()
    await stage.complains('HookFailed')
    assert.equal(
      [(await find('before'))?.metadata.uid, (await find('failed'))?.metadata.uid],
      [before.metadata.uid, failed.metadata.uid],
    )

    await ask('again')
    await runAfter('before', before)
    await end('before', 'Complete')
    await stage.synced(commit)
    assert.equal([await value('app'), await stage.configMap('old')], ['2', undefined])
    assert.is((await find('failed'))?.metadata.uid, failed.metadata.uid)
  })

  it('deletes them as they say, and runs none of these again', async () => {
    await stage.deploy(at('deploy'))
    const commit = await stage.git.push({
      'deploy/app.yaml': configMap('app', { x: '1' }),
      'deploy/well.yaml': job('well', { [OURS]: 'PreSync', [POLICY]: 'HookSucceeded' }),
      'deploy/stays.yaml': job('stays', { [OURS]: 'PreSync', [POLICY]: 'HookFailed' }),
      'deploy/notes.yaml': {
        ...configMap('notes'),
        metadata: { name: 'notes', annotations: { [OURS]: 'PreSync', [POLICY]: 'HookSucceeded' } },
      },
    })
    for (const name of ['well', 'stays']) {
      await runAfter(name)
      await end(name, 'Complete')
    }
    await stage.synced(commit)
    await eventually(async () => (await find('well')) === undefined && (await stage.configMap('notes')) === undefined)
    assert.ok(await find('stays'))
    await stage.restart()
    await kube.delete(ConfigMaps, { name: 'app', namespace: stage.namespace })
    await eventually(async () => (await value('app')) === '1')
    await stage.synced(commit)
    assert.equal([await find('well'), await stage.configMap('notes')], [undefined, undefined])
    assert.is((await resource('well'))?.health?.status, 'Healthy')

    const next = await stage.git.push({
      'deploy/bad.yaml': job('bad', { [OURS]: 'PostSync', [POLICY]: 'HookFailed' }),
      'deploy/sorry.yaml': job('sorry', { [OURS]: 'SyncFail' }),
    })
    await runAfter('bad')
    assert.is(await find('sorry'), undefined)
    await end('bad', 'Failed')
    await runAfter('sorry')
    await stage.complains('HookFailed')
    await eventually(async () => (await find('bad')) === undefined)
    // What left the repository goes, hooks included.
    await eventually(async () => (await find('stays')) === undefined)
    await stage.restart()
    await stage.complains('HookFailed')
    assert.equal([await find('bad'), (await stage.status()).sync?.revision], [undefined, next])
  })

  it("takes Helm's, in the order of their weights, and gives those a name that have none", async () => {
    const hook = { 'helm.sh/hook': 'pre-install,pre-upgrade' }
    const { metadata: _, ...unnamed } = job('', {})
    await stage.deploy(at('deploy'))
    const commit = await stage.git.push({
      'deploy/app.yaml': configMap('app', { x: '1' }),
      'deploy/second.yaml': job('second', { ...hook, 'helm.sh/hook-weight': '5' }),
      'deploy/first.yaml': {
        ...unnamed,
        metadata: { generateName: 'first-', annotations: { ...hook, 'helm.sh/hook-weight': '-5' } },
      },
      'deploy/test.yaml': job('smoke', { 'helm.sh/hook': 'test' }),
    })
    const { name } = await eventually(async () => (await kube.list(Jobs, { namespace: stage.namespace }))[0]?.metadata)
    assert.match(name, /^first-[0-9a-f]{8}$/)
    assert.equal([await find('second'), await value('app')], [undefined, undefined])
    await end(name, 'Complete')
    await runAfter('second')
    await end('second', 'Complete')
    await stage.synced(commit)

    // What is not run is not applied either, and that is told: all the time, and once.
    const smoke = await eventually(() => resource('smoke'))
    assert.match(smoke.message ?? '', /is a hook that is not run here \(helm\.sh\/hook: "test"\)/)
    const told = await eventually(async () => (await stage.events('HookNotRun')).find((text) => text.includes('smoke')))
    assert.match(told, 'deploy/test.yaml:1')
    await kube.delete(ConfigMaps, { name: 'app', namespace: stage.namespace })
    await eventually(async () => (await value('app')) === '1')
    assert.is((await stage.events('HookNotRun')).length, 1)
    assert.is(await find('smoke'), undefined)
  })

  it('is applied whole by one run of a manual deployment, which is over when its hooks are', async () => {
    await stage.deploy({ ...at('deploy'), type: 'manual' })
    const commit = await stage.git.push({
      'deploy/app.yaml': configMap('app', { x: '1' }),
      'deploy/before.yaml': job('before', { [OURS]: 'PreSync' }),
    })
    const phase = async (name: string) =>
      (await kube.get(GitOpsDeploymentSyncRuns, { name, namespace: stage.namespace }))?.status?.phase
    await stage.run('first')
    const before = await runAfter('before')
    await stage.complains('Waiting')
    assert.is(await phase('first'), 'Running')
    await end('before', 'Complete')
    await eventually(async () => (await phase('first')) === 'Succeeded')
    assert.is(await value('app'), '1')
    await stage.synced(commit)

    await stage.run('second')
    const again = await runAfter('before', before)
    await end('before', 'Failed')
    await eventually(async () => (await phase('second')) === 'Failed')
    assert.is((await find('before'))?.metadata.uid, again.metadata.uid)
  })

  it('ends a run neither while a hook is under way beside something ill, nor well while an object waits for what is ill', async () => {
    await stage.deploy({ ...at('deploy'), type: 'manual' })
    const files = { 'deploy/ill.yaml': job('ill', {}), 'deploy/app.yaml': configMap('app', { x: '1' }) }
    await stage.git.push(files)
    const resultOf = async (name: string, result: 'Succeeded' | 'Failed') => {
      const { status } = await expectObject(kube, GitOpsDeploymentSyncRuns, { name, namespace: stage.namespace }, (run) =>
        isOver(run),
      )
      assert.is(status?.phase, result)
      return conditionOf(status?.conditions, 'Ready')?.message ?? ''
    }
    await stage.run('first')
    await runAfter('ill')
    await end('ill', 'Failed')
    await resultOf('first', 'Succeeded')

    await stage.git.push({ ...files, 'deploy/before.yaml': job('before', { [OURS]: 'PreSync' }) })
    await stage.run('second')
    await runAfter('before')
    await stage.complains('Waiting')
    const second = await kube.get(GitOpsDeploymentSyncRuns, { name: 'second', namespace: stage.namespace })
    assert.is(second?.status?.phase, 'Running')
    await end('before', 'Complete')
    await resultOf('second', 'Succeeded')

    const late = (wave: string) => {
      const { metadata, ...object } = configMap(`late-${wave}`)
      const annotations = { 'gitops.berth.dev/wave': wave }
      return { [`deploy/late-${wave}.yaml`]: { ...object, metadata: { ...metadata, annotations } } }
    }
    await stage.git.push({ ...files, ...late('1'), ...late('2') })
    await stage.run('third')
    assert.match(await resultOf('third', 'Failed'), /late-1 .* comes after Job\.batch .*ill, which is Degraded: said so/)
    await stage.complains('Blocked')
    assert.is(await stage.configMap('late-1'), undefined)
  })

  it('does not run twice one that was made before its record was', async () => {
    await stage.deploy(at('deploy'))
    await stage.git.push({
      'deploy/app.yaml': configMap('app', { x: '1' }),
      'deploy/before.yaml': job('before', { [OURS]: 'PreSync' }),
    })
    const before = await runAfter('before')
    await stage.complains('Waiting')
    await stage.operator.stop()
    const label = 'gitops.berth.dev/inventory'
    for (const { metadata, data = {} } of await kube.list(ConfigMaps, { namespace: stage.namespace })) {
      if (metadata.labels?.[label] === undefined) continue
      // As the inventory is before the first write: the last part of a line is missing.
      const objects = (data.objects ?? '').split('\n').map((line) => line.replace(/[^/]*$/, ''))
      await kube.patch(ConfigMaps, { name: metadata.name, namespace: stage.namespace }, { data: { objects: objects.join('\n') } })
    }
    await stage.restart()
    await end('before', 'Complete')
    await eventually(async () => (await value('app')) === '1')
    assert.is((await find('before'))?.metadata.uid, before.metadata.uid)
    await expectObject(
      kube,
      Jobs,
      { name: 'before', namespace: stage.namespace },
      ({ metadata }) => metadata.uid === before.metadata.uid,
    )
  })
})
