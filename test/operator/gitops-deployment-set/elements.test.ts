import { equal, is, match } from 'uvu/assert'
import type { GitOpsDeploymentSet, GitOpsDeploymentSetSpec } from '../../../src/api/index.ts'
import { desiredOf } from '../../../src/operator/gitops-deployment-set/desired.ts'
import { elementsOf } from '../../../src/operator/gitops-deployment-set/elements.ts'
import { holdOf, type Member, planOf } from '../../../src/operator/gitops-deployment-set/plan.ts'
import { environment } from '../../support/builders/environments.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'

type Generators = GitOpsDeploymentSetSpec['generators']

const named = (name: string, labels: Record<string, string> = {}) => environment('home', name, {}, { labels })
const valuesOf = (generators: Generators, environments = [named('prod', { tier: 'prod', zone: 'eu' }), named('dev')]) =>
  elementsOf({ generators }, environments).map(({ values }) => Object.fromEntries(values))
const list = (...elements: Record<string, string>[]) => ({ list: { elements } })

describe('the elements of a GitOpsDeploymentSet', (it) => {
  it('are those of all generators, in their order', () => {
    equal(valuesOf([list({ name: 'a' }, { name: 'b' }), { environments: {} }]), [
      { name: 'a' },
      { name: 'b' },
      { environment: 'dev' },
      { environment: 'prod' },
    ])
    equal(valuesOf([{ environments: { labelSelector: 'tier=prod', labels: { zone: 'zone' } } }]), [
      { environment: 'prod', zone: 'eu' },
    ])
    equal(valuesOf([{ environments: { labelSelector: 'tier notin (prod,test)' } }]), [{ environment: 'dev' }])
  })

  it('are each with each in a product', () => {
    equal(valuesOf([{ product: [list({ app: 'web' }, { app: 'api' }), { environments: {} }] }]), [
      { app: 'web', environment: 'dev' },
      { app: 'web', environment: 'prod' },
      { app: 'api', environment: 'dev' },
      { app: 'api', environment: 'prod' },
    ])
    equal(valuesOf([{ product: [list({ app: 'web' }), { environments: { labelSelector: 'tier=none' } }] }]), [])
  })

  it('are refused with the field that gives them', async () => {
    const many = Array.from({ length: 1000 }, (_, at) => ({ at: String(at) }))
    const cases: [Generators, RegExp][] = [
      [[list({ 'a-b': '1' })], /spec\.generators\[0\]\.list\.elements\[0\]: "a-b" is no name of a variable/],
      [[{ environments: { labels: { zone: 'zone' } } }], /environments\.labels\.zone: Environment dev has no label zone/],
      [[{ environments: { labels: { environment: 'zone' } } }], /gives the variable environment twice/],
      [[{ environments: { labelSelector: 'a=(' } }], /spec\.generators\[0\]\.environments\.labelSelector/],
      [[{ product: [list({ a: '1' }), list({ a: '2' })] }], /spec\.generators\[0\]\.product gives the variable a twice/],
      [[list({ a: '1' }), list(...many)], /with spec\.generators\[1\] the generators give 1001 elements; at most 1000/],
      [[{ product: [list(...many), list(...many), list(...many), list(...many)] }], /give 1000000000000 elements; at most 1000/],
    ]
    for (const [generators, why] of cases) {
      const failure = await failureOf(async () => valuesOf(generators))
      is(failure.code, 'invalid')
      match(failure.message, why)
    }
  })
})

const setOf = (
  template: GitOpsDeploymentSetSpec['template'],
  more: Partial<GitOpsDeploymentSetSpec> = {},
): GitOpsDeploymentSet => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'GitOpsDeploymentSet',
  metadata: { name: 'shop', namespace: 'home', uid: 'u1' },
  spec: { generators: [], template, ...more },
})

describe('the template of a GitOpsDeploymentSet', (it) => {
  const source = { repoURL: 'https://example.com/shop', path: 'deploy/${env}' }
  const elements = elementsOf({ generators: [list({ env: 'dev', most: '3' }, { env: 'prod', most: '5' })] }, [])

  it('is filled by the values of each element, in texts and numbers', async () => {
    const spec = {
      source,
      type: 'automated',
      pruneGuard: { maxObjects: '${most}' },
      variables: { values: { host: '$${host}.${env}' } },
    }
    const desired = await desiredOf(setOf({ metadata: { name: 'shop-${env}', labels: { tier: '${env}' } }, spec }), elements)
    equal([...desired.keys()], ['shop-dev', 'shop-prod'])
    const { metadata, ...rest } = desired.get('shop-prod')?.object() ?? { metadata: undefined }
    equal(rest, {
      apiVersion: 'managed-gitops.redhat.com/v1alpha1',
      kind: 'GitOpsDeployment',
      spec: {
        source: { repoURL: 'https://example.com/shop', path: 'deploy/prod' },
        type: 'automated',
        pruneGuard: { maxObjects: 5 },
        variables: { values: { host: '${host}.prod' } },
      },
    })
    equal(metadata?.labels, { tier: 'prod', 'gitops.berth.dev/set': 'shop' })
    equal(
      metadata?.ownerReferences?.map(({ uid, controller }) => [uid, controller]),
      [['u1', true]],
    )
    const kept = await desiredOf(setOf({ metadata: { name: '${env}' }, spec }, { removal: { policy: 'Orphan' } }), elements)
    is(kept.get('dev')?.object().metadata.ownerReferences, undefined)
  })

  it('is refused where a value is missing, two have one name, or it is too large', async () => {
    const cases: [GitOpsDeploymentSetSpec['template'], string, RegExp][] = [
      [
        { metadata: { name: '${env}' }, spec: { a: '${b}' } },
        'TemplateInvalid',
        /list\.elements\[0\]: no value for \$\{b\} in spec\.template/,
      ],
      [
        { metadata: { name: 'shop' }, spec: {} },
        'NameNotUnique',
        /is "shop" for two elements, .*elements\[0\] and .*elements\[1\]/,
      ],
      [{ metadata: { name: '${env}' }, spec: { a: 'x'.repeat(9 * 2 ** 20) } }, 'TemplateTooLarge', /of 2 elements; at most/],
    ]
    for (const [template, reason, why] of cases) {
      const failure = await failureOf(() => desiredOf(setOf(template), elements))
      equal([failure.code, failure.reason], ['invalid', reason])
      match(failure.message, why)
    }
  })
})

describe('the rollout of a GitOpsDeploymentSet', (it) => {
  /** `new`: not as the template has it; `up`: it is, and not healthy yet; `ok`. */
  const members = (...states: string[]): Member[] =>
    states.map((state, at) => ({
      name: `${at}`,
      labels: { tier: state.split('-')[0] ?? '' },
      isUpdated: !state.endsWith('new'),
      isReady: state.endsWith('ok'),
    }))
  const steps = [{ labelSelector: 'tier=dev' }, { labelSelector: 'tier=prod', maxAtOnce: 1 }]

  it('is all at once without steps', () => {
    equal(planOf(members('dev-new', 'prod-ok', 'prod-new'), undefined), { write: ['0', '2'], step: undefined, unready: [] })
  })

  it('goes step by step, each when those before are in effect and healthy, and the others last', () => {
    const of = (...states: string[]) => planOf(members(...states), { steps })
    equal(of('dev-new', 'prod-new', 'dev-new'), { write: ['0', '2'], step: 0, unready: [] })
    equal(of('dev-up', 'prod-new', 'dev-ok'), { write: [], step: 0, unready: ['0'] })
    equal(of('dev-ok', 'prod-new', 'prod-new', 'x-new'), { write: ['1'], step: 1, unready: [] })
    equal(of('dev-ok', 'prod-up', 'prod-new', 'x-new'), { write: [], step: 1, unready: ['1'] })
    equal(of('dev-ok', 'prod-ok', 'prod-new', 'x-new'), { write: ['2'], step: 1, unready: [] })
    equal(of('dev-ok', 'prod-ok', 'x-new', 'x-new'), { write: ['2', '3'], step: 2, unready: [] })
    equal(of('dev-ok', 'prod-ok', 'x-ok'), { write: [], step: undefined, unready: [] })
  })

  it('takes shares of a step, and one at least', () => {
    const of = (maxAtOnce: string, ...states: string[]) => planOf(members(...states), { steps: [{ maxAtOnce }] }).write.length
    is(of('50%', 'a-new', 'a-new', 'a-new', 'a-new', 'a-new'), 2)
    is(of('50%', 'a-up', 'a-new', 'a-new', 'a-new', 'a-new'), 1)
    is(of('1%', 'a-new', 'a-new'), 1)
    is(of('100%', 'a-new', 'a-new'), 2)
  })

  it('keeps back removals that could be an accident', () => {
    is(holdOf(0, 5, {}), undefined)
    match(holdOf(1, 1, {}) ?? '', 'spec.removal.allowEmpty')
    is(holdOf(1, 1, { allowEmpty: true }), undefined)
    is(holdOf(8, 9, {}), undefined)
    match(holdOf(6, 10, {}) ?? '', '6 of 10 GitOpsDeployments would go at once, which is more than 50%')
    is(holdOf(5, 10, {}), undefined)
    is(holdOf(6, 10, { maxPercent: 60 }), undefined)
    is(holdOf(20, 20, { allowEmpty: true }), undefined)
  })
})
