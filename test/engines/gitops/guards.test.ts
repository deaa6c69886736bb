import * as assert from 'uvu/assert'
import { takesAlong } from '../../../src/engines/gitops/prune/followers.ts'
import {
  blockOn,
  blockOnAll,
  type DeletionFacts,
  GUARDS,
  type Guards,
  type Situation,
} from '../../../src/engines/gitops/prune/guards.ts'
import { describe } from '../../support/suite.ts'

const some = (situation: Partial<Situation>): Situation => ({ leaving: 1, held: 20, rendered: 19, ...situation })

describe('the guards of a prune', (it) => {
  it('hold back everything when too much would go at once', () => {
    const cases: [Partial<Situation>, Partial<Guards>, string | undefined, string][] = [
      [{}, {}, undefined, 'one of twenty'],
      [{ leaving: 0, held: 5, rendered: 0 }, {}, undefined, 'nothing goes'],
      [{ leaving: 5, held: 5, rendered: 0 }, {}, 'NothingRendered', 'an empty path, even of few objects'],
      [{ leaving: 5, held: 5, rendered: 0 }, { allowEmpty: true }, undefined, 'an empty path that is meant'],
      [{ leaving: 60, held: 60, rendered: 0 }, { allowEmpty: true }, undefined, 'no share when all may go'],
      [{ leaving: 101, held: 101, rendered: 0 }, { allowEmpty: true }, 'PruneTooMany', 'but a number still'],
      [{ leaving: 100, held: 1000 }, {}, undefined, 'as many as are allowed'],
      [{ leaving: 101, held: 1000 }, {}, 'PruneTooMany', 'one more'],
      [{ leaving: 1, held: 1000 }, { maxObjects: 0 }, 'PruneTooMany', 'none is allowed'],
      [{ leaving: 10, held: 20 }, {}, undefined, 'half of them'],
      [{ leaving: 11, held: 20 }, {}, 'PruneTooMany', 'more than half'],
      [{ leaving: 8, held: 9 }, {}, undefined, 'a share of few says nothing'],
      [{ leaving: 6, held: 10 }, {}, 'PruneTooMany', 'ten are not few'],
      [{ leaving: 1, held: 10 }, { maxPercent: 0 }, 'PruneTooMany', 'no share is allowed'],
      [{ leaving: 20, held: 20 }, { maxPercent: 100 }, undefined, 'any share is allowed'],
    ]
    for (const [situation, guards, reason, why] of cases)
      assert.is(blockOnAll(some(situation), { ...GUARDS, ...guards })?.reason, reason, why)
  })

  it('say how many, which limit, and what can be done', () => {
    const why = blockOnAll(some({ leaving: 240, held: 1000 }), GUARDS)?.why ?? ''
    assert.match(
      why,
      /240 objects .* more than 100 \(pruneGuard\.maxObjects\)\. Restore the files, raise the limit, or confirm it/,
    )
    assert.match(
      blockOnAll(some({ leaving: 11 }), GUARDS)?.why ?? '',
      /11 of 20 objects .* more than 50 % \(pruneGuard\.maxPercent\)/,
    )
    assert.match(blockOnAll(some({ rendered: 0 }), GUARDS)?.why ?? '', /describes no object any more.*pruneGuard\.allowEmpty/)
  })

  it('hold back what would take along what belongs to others, or data', () => {
    const cases: [DeletionFacts, string | undefined][] = [
      [{ kind: 'ConfigMap' }, undefined],
      [{ kind: 'Namespace' }, undefined],
      [{ kind: 'Namespace', foreignObjects: 'ConfigMap x/y' }, 'NamespaceInUse'],
      [{ kind: 'CustomResourceDefinition', foreignObjects: 'Widget.example.com x/y' }, 'DefinitionInUse'],
      [{ kind: 'PersistentVolumeClaim', data: 'it is bound to a volume with data' }, 'ProtectedKind'],
      [{ kind: 'Kustomization', followed: true }, 'ProtectedKind'],
      [{ kind: 'ConfigMap', asksFirst: true }, 'ConfirmationNeeded'],
      [{ kind: 'Namespace', foreignObjects: 'ConfigMap x/y', asksFirst: true }, 'NamespaceInUse'],
    ]
    for (const [finding, reason] of cases) assert.is(blockOn(finding)?.reason, reason, JSON.stringify(finding))
    assert.match(blockOn({ kind: 'Namespace', foreignObjects: 'ConfigMap x/y' })?.why ?? '', /ConfigMap x\/y/)
  })

  it('know what deletes others when Argo CD or Flux sees it go', () => {
    const finalizers = (kind: string) =>
      kind === 'Application' ? ['resources-finalizer.argocd.argoproj.io'] : ['finalizers.fluxcd.io']
    const takes = (apiVersion: string, kind: string, spec: object, metadata: object = { finalizers: finalizers(kind) }) =>
      takesAlong({ apiVersion, kind, metadata: { name: 'x', ...metadata }, spec })
    const [argo, kustomize, helm] = ['argoproj.io/v1alpha1', 'kustomize.toolkit.fluxcd.io/v1', 'helm.toolkit.fluxcd.io/v2']
    for (const [expected, ...given] of [
      [true, argo, 'Application', {}],
      [false, argo, 'Application', {}, {}],
      [true, argo, 'ApplicationSet', {}, {}],
      [false, argo, 'ApplicationSet', { syncPolicy: { preserveResourcesOnDeletion: true } }, {}],
      [true, kustomize, 'Kustomization', { prune: true }],
      [false, kustomize, 'Kustomization', { prune: true, suspend: true }],
      [false, kustomize, 'Kustomization', { prune: false }],
      [true, kustomize, 'Kustomization', { prune: false, deletionPolicy: 'Delete' }],
      [false, kustomize, 'Kustomization', { prune: true, deletionPolicy: 'Orphan' }],
      [true, helm, 'HelmRelease', {}],
      [false, helm, 'HelmRelease', { suspend: true }],
      [true, 'fluxcd.controlplane.io/v1', 'FluxInstance', {}],
      [true, 'fluxcd.controlplane.io/v1', 'ResourceSet', {}],
      [false, 'fluxcd.controlplane.io/v1', 'ResourceSet', {}, {}],
      [false, 'kustomize.config.k8s.io/v1beta1', 'Kustomization', { prune: true }],
    ] as const)
      assert.is(takes(given[0], given[1], given[2], given[3]), expected, JSON.stringify(given))
  })
})
