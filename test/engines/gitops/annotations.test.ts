import { readFile } from 'node:fs/promises'
import * as assert from 'uvu/assert'
import { dependenciesOf, unknownWish, type Wishes, waveOf, wishesOf } from '../../../src/engines/gitops/objects/annotations.ts'
import { hookOf, notRun } from '../../../src/engines/gitops/objects/hooks.ts'
import { effort } from '../../support/effort.ts'
import { describe } from '../../support/suite.ts'

const annotated = (annotations: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', annotations },
})

const NOTHING: Wishes = { apply: 'own', prune: 'enabled', force: false, adopt: false, variables: 'enabled' }

const TABLE: [why: string, annotations: Record<string, string>, wish: Partial<Wishes>][] = [
  ['no annotation asks for nothing', {}, {}],
  ['our own words: merge', { 'gitops.berth.dev/apply': 'merge' }, { apply: 'merge' }],
  ['our own words: if-not-present', { 'gitops.berth.dev/apply': 'if-not-present' }, { apply: 'if-not-present' }],
  ['our own words: ignore', { 'gitops.berth.dev/apply': 'ignore' }, { apply: 'ignore' }],
  ['our own words: prune disabled', { 'gitops.berth.dev/prune': 'disabled' }, { prune: 'disabled' }],
  ['our own words: prune confirm', { 'gitops.berth.dev/prune': 'confirm' }, { prune: 'confirm' }],
  ['our own words: force', { 'gitops.berth.dev/force': 'true' }, { force: true }],
  ['force said aloud to be off', { 'gitops.berth.dev/force': 'false' }, {}],
  ['our own words: adopt', { 'gitops.berth.dev/adopt': 'true' }, { adopt: true }],
  ['our own words: variables', { 'gitops.berth.dev/variables': 'disabled' }, { variables: 'disabled' }],
  ['Argo CD keeps by a sync option', { 'argocd.argoproj.io/sync-options': 'Prune=false' }, { prune: 'disabled' }],
  ['among others', { 'argocd.argoproj.io/sync-options': 'Validate=false, Prune=false' }, { prune: 'disabled' }],
  [
    'in a text of several lines',
    { 'argocd.argoproj.io/sync-options': 'Validate=false,\n  Prune=false\n' },
    { prune: 'disabled' },
  ],
  ['after a million others', { 'argocd.argoproj.io/sync-options': `${'a,'.repeat(1e6)}Prune=false` }, { prune: 'disabled' }],
  ['a part of a word is none', { 'argocd.argoproj.io/sync-options': 'NoPrune=false,Prune=falsely,Prune = false' }, {}],
  ['Argo CD asks', { 'argocd.argoproj.io/sync-options': 'Prune=confirm' }, { prune: 'confirm' }],
  ['Argo CD deletes at the end: not our business', { 'argocd.argoproj.io/sync-options': 'PruneLast=true' }, {}],
  ['Flux keeps', { 'kustomize.toolkit.fluxcd.io/prune': 'disabled' }, { prune: 'disabled' }],
  ['Flux merges', { 'kustomize.toolkit.fluxcd.io/ssa': 'Merge' }, { apply: 'merge' }],
  ['Flux makes once', { 'kustomize.toolkit.fluxcd.io/ssa': 'IfNotPresent' }, { apply: 'if-not-present' }],
  ['Flux ignores', { 'kustomize.toolkit.fluxcd.io/ssa': 'Ignore' }, { apply: 'ignore' }],
  ['Flux pauses', { 'kustomize.toolkit.fluxcd.io/reconcile': 'disabled' }, { apply: 'ignore' }],
  ['Flux forces, in any case', { 'kustomize.toolkit.fluxcd.io/force': 'Enabled' }, { force: true }],
  ['Flux leaves variables', { 'kustomize.toolkit.fluxcd.io/substitute': 'disabled' }, { variables: 'disabled' }],
  ['cli-utils keeps', { 'cli-utils.sigs.k8s.io/on-remove': 'keep' }, { prune: 'disabled' }],
  ['Config Sync detaches', { 'client.lifecycle.config.k8s.io/deletion': 'detach' }, { prune: 'disabled' }],
  ['Config Sync makes once', { 'client.lifecycle.config.k8s.io/mutation': 'ignore' }, { apply: 'if-not-present' }],
  ['Helm keeps', { 'helm.sh/resource-policy': 'keep' }, { prune: 'disabled' }],
  [
    'our own word wins over that of another tool',
    { 'gitops.berth.dev/apply': 'merge', 'kustomize.toolkit.fluxcd.io/ssa': 'Ignore' },
    { apply: 'merge' },
  ],
  [
    'wishes add up',
    { 'gitops.berth.dev/force': 'true', 'argocd.argoproj.io/sync-options': 'Prune=false' },
    { force: true, prune: 'disabled' },
  ],
]

describe('annotations on objects', (it) => {
  it('say what their authors ask for', () => {
    for (const [why, annotations, wish] of TABLE) assert.equal(wishesOf(annotated(annotations)), { ...NOTHING, ...wish }, why)
  })

  it('take no time to speak of, however many words they have', () => {
    const spent = effort()
    for (const words of [','.repeat(4e6), 'presync,'.repeat(5e5)])
      for (const name of [
        'argocd.argoproj.io/hook',
        'gitops.berth.dev/hook',
        'gitops.berth.dev/apply',
        'argocd.argoproj.io/sync-options',
      ]) {
        const object = annotated({ [name]: words })
        assert.equal([wishesOf(object), hookOf(object)], [NOTHING, undefined])
        assert.is((unknownWish(object) ?? notRun(object)) === undefined, name.endsWith('sync-options'), name)
      }
    // Of the CPU, in milliseconds: word by word it were 20,000.
    const took = spent()
    assert.ok(took < 4000, `took ${Math.round(took)} ms`)
  })

  it('ask for nothing where there are none', () => {
    assert.equal(wishesOf({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }), NOTHING)
  })

  it('are refused when they carry a word of ours that means nothing', () => {
    assert.is(
      unknownWish(annotated({ 'gitops.berth.dev/prune': 'never' })),
      'is annotated gitops.berth.dev/prune: "never"; write disabled or confirm',
    )
    for (const [why, annotations] of TABLE) assert.is(unknownWish(annotated(annotations)), undefined, why)
    assert.is(
      unknownWish(annotated({ 'kustomize.toolkit.fluxcd.io/ssa': 'Whatever' })),
      undefined,
      'others check their own words',
    )
  })

  it('mean what the page about GitOps says, each of them', async () => {
    const page = await readFile(new URL('../../../docs/gitops.md', import.meta.url), 'utf8')
    const rows = page.split('\n').filter((line) => /^\| [a-z]/.test(line) && !line.startsWith('| wish'))
    const meant = rows.map((row) =>
      [...row.matchAll(/`([^`: ]+): "?([^`"]+)"?`/g)].map(([, annotation = '', value = '']) => ({ [annotation]: value })),
    )
    assert.is(meant.flat().length, 29)
    const isHook = (said: unknown) => /hook":"pre/i.test(JSON.stringify(said))
    for (const annotations of meant.filter(isHook).flat()) assert.is(hookOf(annotated(annotations))?.phase, 'PreSync')
    const isOrder = (said: unknown) => /depends-on|wave/.test(JSON.stringify(said))
    for (const row of meant.filter((same) => !isOrder(same) && !isHook(same)))
      for (const annotations of row) {
        assert.not.equal(wishesOf(annotated(annotations)), NOTHING, JSON.stringify(annotations))
        assert.equal(wishesOf(annotated(annotations)), wishesOf(annotated(row[0] ?? {})), JSON.stringify(annotations))
      }
    for (const annotations of meant.flat().filter(isOrder))
      assert.ok(
        dependenciesOf(annotated(annotations)).ids.length > 0 || waveOf(annotated(annotations)) !== 0,
        JSON.stringify(annotations),
      )
  })
})
