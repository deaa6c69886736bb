import * as assert from 'uvu/assert'
import type { AnyObject } from '../../../src/api/index.ts'
import { idOf } from '../../../src/engines/apply/index.ts'
import type { Entry } from '../../../src/engines/gitops/index.ts'
import { unknownWish, waveOf, wishesOf } from '../../../src/engines/gitops/objects/annotations.ts'
import { ended, endOf, hookRun, isOfRun, textOf } from '../../../src/engines/gitops/objects/hook-runs.ts'
import { hookOf, notRun } from '../../../src/engines/gitops/objects/hooks.ts'
import { isFailed } from '../../../src/engines/gitops/sync/hooks.ts'
import { healthOfRun } from '../../../src/engines/health/index.ts'
import { Failure, type FailureCode } from '../../../src/std/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { describe } from '../../support/suite.ts'

const OURS = 'gitops.berth.dev/hook'
const OUR_POLICY = 'gitops.berth.dev/hook-delete-policy'
const ARGO = 'argocd.argoproj.io/hook'
const ARGO_POLICY = 'argocd.argoproj.io/hook-delete-policy'
const HELM = 'helm.sh/hook'
const HELM_POLICY = 'helm.sh/hook-delete-policy'

const annotated = (annotations: Record<string, string>, object: AnyObject = configMap('a')): AnyObject => ({
  ...object,
  metadata: { ...object.metadata, annotations },
})
const namespace: AnyObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }

describe('a hook', (it) => {
  it('says when it runs, and when it is deleted, in three ways of writing', () => {
    const table: [Record<string, string>, string | undefined][] = [
      [{}, undefined],
      [{ [OURS]: 'PreSync' }, 'PreSync'],
      [{ [OURS]: 'postsync', [OUR_POLICY]: 'HookSucceeded' }, 'PostSync succeeded'],
      [{ [ARGO]: 'Sync', [ARGO_POLICY]: 'HookFailed,BeforeHookCreation' }, 'Sync failed'],
      [{ [ARGO]: ' SyncFail ', [ARGO_POLICY]: 'HookSucceeded, HookFailed' }, 'SyncFail succeeded failed'],
      [{ [HELM]: 'pre-install,pre-upgrade' }, 'PreSync'],
      [{ [HELM]: 'post-upgrade,post-rollback', [HELM_POLICY]: 'hook-succeeded' }, 'PostSync succeeded'],
      [{ [HELM]: 'crd-install' }, undefined],
      [{ [HELM]: 'pre-install', [ARGO]: 'PostSync' }, 'PostSync'],
      [{ [ARGO]: 'PostSync', [OURS]: 'Sync', [ARGO_POLICY]: 'HookSucceeded' }, 'Sync'],
      [{ [ARGO]: 'Skip' }, undefined],
      [{ [ARGO]: 'PostDelete' }, undefined],
    ]
    for (const [annotations, expected] of table) {
      const hook = hookOf(annotated(annotations))
      const deletes = Object.entries(hook?.deletes ?? {}).flatMap(([end, is]) => (is ? [end] : []))
      assert.is(hook && [hook.phase, ...deletes].join(' '), expected, JSON.stringify(annotations))
    }
  })

  it('is not deleted with what lies in it', () => {
    const deletes = hookOf(annotated({ [OURS]: 'PreSync', [OUR_POLICY]: 'HookSucceeded' }, namespace))?.deletes
    assert.equal(deletes, { succeeded: false, failed: false })
  })

  it('in words of others that nobody knows here is left out, and told with what was meant', () => {
    const table: [Record<string, string>, RegExp | undefined][] = [
      [{ [ARGO]: 'PreSync' }, undefined],
      [{ [ARGO]: 'Skip' }, undefined],
      [{ [HELM]: 'crd-install' }, undefined],
      [{ [HELM]: 'pre-install,pre-rollback' }, undefined],
      [{ [ARGO]: 'PreSynk' }, /not run here \(argocd\.argoproj\.io\/hook: "PreSynk"\); did you mean PreSync\?/],
      [{ [ARGO]: 'PostDelete' }, /not run here \(.*"PostDelete"\); there are PreSync, Sync, PostSync and SyncFail/],
      [{ [HELM]: 'test' }, /not run here \(helm\.sh\/hook: "test"\)/],
      [{ [HELM]: 'pre-instal' }, /did you mean pre-install\?/],
      [{ [HELM]: 'constructor' }, /not run here/],
      [{ [ARGO]: 'PreSync,PostSync' }, /is a hook of PreSync and PostSync \(.*\); write an object for each/],
    ]
    for (const [annotations, expected] of table) {
      const why = notRun(annotated(annotations))
      if (expected) assert.match(why ?? '', expected)
      else assert.is(why, undefined, JSON.stringify(annotations))
      if (expected) assert.is(hookOf(annotated(annotations)), undefined)
    }
    assert.is(wishesOf(annotated({ [ARGO]: 'Skip' })).apply, 'ignore')
  })

  it('in our own words is refused where these ask for nothing', () => {
    const table: [Record<string, string>, RegExp | undefined][] = [
      [{ [OURS]: 'SyncFail', [OUR_POLICY]: 'beforehookcreation' }, undefined],
      [{ [OURS]: 'PreSynk' }, /gitops\.berth\.dev\/hook: "PreSynk"\); did you mean PreSync\?/],
      [{ [OURS]: '' }, /there are PreSync, Sync, PostSync and SyncFail/],
      [{ [OURS]: 'PreSync', [OUR_POLICY]: 'Never' }, /"Never"; write BeforeHookCreation, HookSucceeded or HookFailed/],
      [{ [OUR_POLICY]: 'HookFailed' }, /and is no hook; write gitops\.berth\.dev\/hook as well/],
      [{ 'gitops.berth.dev/hok': 'PreSync' }, /did you mean gitops\.berth\.dev\/hook\?/],
      [{ [HELM]: 'pre-install', 'helm.sh/hook-weight': 'high' }, /hook-weight: "high"; write a whole number/],
    ]
    for (const [annotations, expected] of table) {
      const why = unknownWish(annotated(annotations))
      if (expected) assert.match(why ?? '', expected)
      else assert.is(why, undefined)
    }
  })

  it('is in a wave before or after all others, whatever their numbers are', () => {
    const waves = [
      { [OURS]: 'PreSync' },
      { [OURS]: 'PreSync', 'gitops.berth.dev/wave': '999999999' },
      { 'gitops.berth.dev/wave': '-999999999' },
      { [OURS]: 'Sync', 'argocd.argoproj.io/sync-wave': '-5' },
      {},
      { 'gitops.berth.dev/wave': '999999999' },
      { [HELM]: 'post-install', 'helm.sh/hook-weight': '-5' },
      { [HELM]: 'post-install' },
      { [HELM]: 'post-install', 'helm.sh/hook-weight': '5' },
    ].map((annotations) => waveOf(annotated(annotations)))
    assert.equal(
      waves,
      waves.toSorted((a, b) => a - b),
    )
    assert.is(new Set(waves).size, waves.length)
    // Of what is no hook of Helm it says nothing.
    assert.is(waveOf(annotated({ 'helm.sh/hook-weight': '5' })), 0)
  })
})

describe('the run of a hook', (it) => {
  it('is over for this content and this request, and begins again with another of either', () => {
    const text = textOf(hookRun('abc', 'first'))
    assert.is(endOf(text), undefined)
    assert.is(endOf(ended(text, 'failed')), 'failed')
    assert.is(endOf('0123456789abcdef'), undefined)
    const table: [content: string, request: string | undefined, boolean][] = [
      ['abc', 'first', true],
      // The passes after it are nobody's.
      ['abc', undefined, true],
      ['abc', 'second', false],
      ['abd', 'first', false],
      ['abd', undefined, false],
    ]
    for (const [content, request, expected] of table)
      for (const said of [text, ended(text, 'succeeded')])
        assert.is(isOfRun(said, hookRun(content, request)), expected, `${content} ${request}`)
    assert.is(isOfRun(undefined, hookRun('abc', undefined)), false)
    assert.is(isOfRun('abc', hookRun('abd', undefined)), false)
  })
})

describe('a sync with hooks', (it) => {
  it('failed when something was refused, or waits for what is ill, and not while it is under way', () => {
    const entry = (change: Entry['change'], more: Partial<Entry> = {}): Entry => ({ id: idOf(configMap('a')), change, ...more })
    const failing = (code: FailureCode) => entry('failed', { failure: new Failure(code, 'said so') })
    const table: [Entry, boolean][] = [
      [entry('waiting'), false],
      [entry('waiting', { isStuck: true }), true],
      [entry('skipped', { undone: true }), false],
      [entry('failed'), true],
      [failing('invalid'), true],
      [failing('forbidden'), true],
      [failing('unavailable'), false],
      [failing('timeout'), false],
    ]
    for (const [one, expected] of table) assert.is(isFailed([entry('created'), one]), expected, JSON.stringify(one))
  })
})

describe('the health of what runs to an end', (it) => {
  const of = (kind: string, more: object, apiVersion = 'v1'): string => {
    const { status, message } = healthOfRun({ apiVersion, kind, metadata: { name: 'x' }, ...more }, 0)
    return message === undefined ? status : `${status}: ${message}`
  }
  const exit = { name: 'migrate', state: { terminated: { exitCode: 3 } } }

  it('is well when that was reached, and not before', () => {
    const table: [string, string][] = [
      [of('Pod', { spec: { restartPolicy: 'Never' }, status: { phase: 'Running', conditions: ready } }), 'Progressing: runs'],
      [of('Pod', { spec: {}, status: { phase: 'Running', conditions: ready } }), 'Healthy'],
      [of('Pod', { status: { phase: 'Succeeded' } }), 'Healthy'],
      [
        of('Pod', { status: { phase: 'Failed', containerStatuses: [{ name: 'a' }, exit] } }),
        'Degraded: container migrate ended with exit code 3',
      ],
      [of('Pod', { status: { phase: 'Failed', message: 'Pod was evicted' } }), 'Degraded: Pod was evicted'],
      [of('Job', { spec: { suspend: true } }, 'batch/v1'), 'Progressing: is suspended'],
      [of('Job', { status: { startTime: 'then' } }, 'batch/v1'), 'Progressing: runs'],
      [of('Job', { status: { conditions: [{ type: 'Complete', status: 'True' }] } }, 'batch/v1'), 'Healthy'],
      [of('Workflow', {}, 'argoproj.io/v1alpha1'), 'Progressing: has not started yet'],
      [of('Workflow', { status: { phase: 'Running' } }, 'argoproj.io/v1alpha1'), 'Progressing: Running'],
      [of('Workflow', { status: { phase: 'Error', message: 'no pod' } }, 'argoproj.io/v1alpha1'), 'Degraded: no pod'],
      [of('PipelineRun', { status: succeeded('Unknown') }, 'tekton.dev/v1'), 'Progressing: Tested'],
      [of('PipelineRun', { status: succeeded('False') }, 'tekton.dev/v1'), 'Degraded: Tested'],
      [of('PipelineRun', { status: succeeded('True') }, 'tekton.dev/v1'), 'Healthy'],
      [of('ConfigMap', {}), 'Healthy'],
    ]
    for (const [said, expected] of table) assert.is(said, expected)
    assert.is(healthOfRun(undefined, 0).status, 'Missing')
  })
})

const ready = [{ type: 'Ready', status: 'True' }]
const succeeded = (status: string) => ({ conditions: [{ type: 'Succeeded', status, reason: 'Tested' }] })
