import * as assert from 'uvu/assert'
import { type GitOpsDeployment, keyOf } from '../../../src/api/index.ts'
import { choiceOf } from '../../../src/operator/gitops-deployment/promotion/choice.ts'
import { describe } from '../../support/suite.ts'

const [OLD, NEW] = ['a'.repeat(40), 'b'.repeat(40)]
const NOW = Date.parse('2030-01-01T12:00:00Z')
const HOUR_AGO = '2030-01-01T11:00:00Z'

type Spec = Partial<GitOpsDeployment['spec']>
type Status = NonNullable<GitOpsDeployment['status']>

const made = (name: string, spec: Spec = {}, status: Status = {}): GitOpsDeployment => ({
  ...{ apiVersion: 'managed-gitops.redhat.com/v1alpha1', kind: 'GitOpsDeployment' },
  metadata: { name, namespace: 'team-a', generation: 1 },
  spec: { source: { repoURL: 'https://git.example/shop', path: '.' }, type: 'automated', ...spec },
  status,
})

/** In effect and in good health with this commit for an hour. */
const healthy = (revision: string): Status => ({
  observedGeneration: 1,
  sync: { status: 'Synced', revision },
  history: [{ revision, at: HOUR_AGO, path: '.' }],
  conditions: [{ type: 'Ready', status: 'True', reason: 'Synced', message: '', lastTransitionTime: HOUR_AGO }],
})

const follows = (healthyFor = '0s', spec: Spec = {}): Spec => ({
  source: { repoURL: 'https://git.example/shop', path: '.', follow: { deployment: 'dev', healthyFor } },
  ...spec,
})

const WITH_OLD: Status = { ...healthy(OLD), promotion: { revision: OLD, at: HOUR_AGO } }

function choose(deployment: GitOpsDeployment, others: GitOpsDeployment[], rules: { isAsked?: boolean; tried?: string } = {}) {
  const all = new Map([deployment, ...others].map((one) => [keyOf(one.metadata), one]))
  const deployments = { get: (ref: Parameters<typeof keyOf>[0]) => all.get(keyOf(ref)) }
  const { revision, promotion, isTaken } = choiceOf(deployment, deployments, { now: NOW, ...rules })
  return [isTaken ? 'taken' : 'stays', revision, promotion.next?.reason]
}

describe('which commit is taken from another deployment', (it) => {
  it('is the one that was in good health there for as long as is asked for', () => {
    const dev = made('dev', {}, healthy(NEW))
    assert.equal(choose(made('prod', follows('1h'), WITH_OLD), [dev]), ['taken', NEW, undefined])
    assert.equal(choose(made('prod', follows('61m'), WITH_OLD), [dev]), ['stays', OLD, 'HealthyTooShort'])
    // Of another spec it was not known before.
    const admitted = { revision: NEW, generation: 2, at: '2030-01-01T11:59:00Z' }
    const changed = made('dev', {}, { ...healthy(NEW), admitted })
    assert.equal(choose(made('prod', follows('1h'), WITH_OLD), [changed]), ['stays', OLD, 'HealthyTooShort'])
  })

  it('is none where what it depends on is not ready for it', () => {
    const dev = made('dev', {}, healthy(NEW))
    const prod = made('prod', follows('0s', { dependsOn: [{ name: 'base' }] }), WITH_OLD)
    assert.equal(choose(prod, [dev]), ['stays', OLD, 'DependencyNotReady'])
    assert.equal(choose(prod, [dev, made('base', {}, healthy(NEW))]), ['taken', NEW, undefined])
  })

  it('is the one before where nothing of it was applied and the other one has another by now', () => {
    const prod = made('prod', follows(), { ...healthy(OLD), promotion: { revision: NEW, at: HOUR_AGO } })
    const back = made('dev', {}, healthy(OLD))
    assert.equal(choose(prod, [back]), ['stays', OLD, undefined])
    assert.equal(choose(prod, [made('dev', {}, healthy(NEW))]), ['stays', NEW, undefined])
    assert.is(choose(prod, [back], { tried: NEW })[1], NEW)
  })

  it('is what is in effect where the spec is mistaken, which is told where there is none', () => {
    const other = made('dev', { source: { repoURL: 'https://git.example/other', path: '.' } }, healthy(NEW))
    assert.equal(choose(made('prod', follows(), WITH_OLD), [other]), ['stays', OLD, 'PromotionInvalid'])
    assert.throws(() => choose(made('prod', follows()), [other]), /deploys https:..git.example.other/)
    const waits = made('dev', { dependsOn: [{ name: 'prod' }] })
    assert.throws(() => choose(made('prod', follows()), [waits]), /goes round in a circle: .*prod -> .*dev -> .*prod/)
  })

  it('is for a person to say where the type is manual', () => {
    const dev = made('dev', {}, healthy(NEW))
    const prod = made('prod', follows('0s', { type: 'manual' }), WITH_OLD)
    assert.equal(choose(prod, [dev]), ['stays', OLD, 'WaitingForApproval'])
    assert.equal(choose(prod, [dev], { isAsked: true }), ['taken', NEW, undefined])
  })

  it('is none that somebody went back from, unless nothing was ever taken', () => {
    const [now, before] = [healthy(NEW), { revision: OLD, at: HOUR_AGO, path: '.' }]
    const back = { ...now, history: [...(now.history ?? []), before, { ...before, revision: NEW }] }
    assert.equal(choose(made('prod', follows(), WITH_OLD), [made('dev', {}, back)]), ['stays', OLD, 'WasInEffect'])
    assert.equal(choose(made('prod', follows(), healthy(OLD)), [made('dev', {}, back)]), ['taken', NEW, undefined])
    const left = { ...WITH_OLD, promotion: { revision: OLD, left: [NEW] } }
    assert.equal(choose(made('prod', follows(), left), [made('dev', {}, healthy(NEW))]), ['stays', OLD, 'WasInEffect'])
  })
})
