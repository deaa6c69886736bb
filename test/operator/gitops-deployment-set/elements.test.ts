import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { equal, is, match } from 'uvu/assert'
import { parse } from 'yaml'
import type { GitOpsDeploymentSet, GitOpsDeploymentSetSpec } from '../../../src/api/index.ts'
import { desiredOf } from '../../../src/operator/gitops-deployment-set/desired.ts'
import { elementsOf } from '../../../src/operator/gitops-deployment-set/elements.ts'
import { type Member, planOf } from '../../../src/operator/gitops-deployment-set/plan.ts'
import { TYPED_FIELDS, UNTYPED_FIELDS } from '../../../src/operator/gitops-deployment-set/typed.ts'
import { slugOf } from '../../../src/operator/repository-names/index.ts'
import { environment } from '../../support/builders/environments.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'

const NOTHING = { environments: [], names: new Map() }

type Generators = GitOpsDeploymentSetSpec['generators']

const named = (name: string, labels: Record<string, string> = {}) => environment('home', name, {}, { labels })
const valuesOf = (generators: Generators, environments = [named('prod', { tier: 'prod', zone: 'eu' }), named('dev')]) =>
  elementsOf({ generators }, { environments, names: new Map() }).map(({ values }) => Object.fromEntries(values))
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

  it('are those branches and directories that match', () => {
    const of = (generator: Generators[number], names: string[]) =>
      elementsOf({ generators: [generator] }, { environments: [], names: new Map([['spec.generators[0]', names]]) }).map(
        ({ values }) => [...values.values()],
      )
    const project = 'shop'
    equal(of({ branches: { project } }, ['refs/heads/main']), [['main', 'main']])
    const files = ['a.yaml', 'apps/x.yaml', 'apps/web/x.yaml', 'apps/web/deep/x.yaml', 'apps/api-v2/x.yaml']
    equal(of({ directories: { project, pattern: 'apps/api-*' } }, files), [['apps/api-v2', 'api-v2', slugOf('apps/api-v2')]])
    equal(of({ directories: { project, pattern: '*' } }, files), [['apps', 'apps', 'apps']])
    equal(of({ directories: { project, pattern: 'apps/*/*' } }, files), [['apps/web/deep', 'deep', slugOf('apps/web/deep')]])
    equal(of({ directories: { project, pattern: 'apps/*', except: ['*/web', 'apps/api-*'] } }, files), [])
    equal(of({ directories: { project, pattern: 'apps/web' } }, files), [['apps/web', 'web', slugOf('apps/web')]])
  })

  it('have slugs that are names of objects, another one for each', () => {
    const names = [
      'feature/login',
      'feature-login',
      'Feature/Login',
      '../../x',
      '-',
      'ä',
      'ö',
      'x'.repeat(300),
      `${'x'.repeat(299)}y`,
      '功能',
      slugOf('功能'),
      slugOf('feature/x'),
    ]
    const slugs = names.map((name) => slugOf(name))
    for (const slug of slugs) match(slug, /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/)
    is(new Set(slugs).size, new Set(names).size)
    is(slugOf('feature-login'), 'feature-login')
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
  const elements = elementsOf({ generators: [list({ env: 'dev', most: '3' }, { env: 'prod', most: '5' })] }, NOTHING)

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
    match(metadata?.annotations?.['gitops.berth.dev/set-template'] ?? '', /^u1 shop-prod [0-9a-f]{16}$/)
  })

  it('keeps texts as they are written, and has numbers where numbers are', async () => {
    const written = elementsOf({ generators: [list({ env: '2024', version: '1.20', yes: 'true', count: '3' })] }, NOTHING)
    const spec = {
      source: {
        repoURL: 'x',
        path: '${env}',
        targetRevision: '${version}',
        helm: { values: { a: ['${count}'], b: '${version}' } },
      },
      destination: { environment: '${env}' },
      variables: { values: { count: '${count}', yes: '${yes}' }, strict: '${yes}' },
      prune: '${yes}',
      dependsOn: [{ name: '${count}' }],
    }
    const desired = await desiredOf(setOf({ metadata: { name: 'n${env}', labels: { yes: '${yes}' } }, spec }), written)
    const object = desired.get('n2024')?.object()
    equal(object?.spec, {
      source: { repoURL: 'x', path: '2024', targetRevision: '1.20', helm: { values: { a: [3], b: 1.2 } } },
      destination: { environment: '2024' },
      variables: { values: { count: '3', yes: 'true' }, strict: true },
      prune: true,
      dependsOn: [{ name: '3' }],
    })
    is(object?.metadata.labels?.yes, 'true')
  })

  it('knows which fields are no texts', async () => {
    const file = join(import.meta.dirname, '../../../crds/managed-gitops.redhat.com_gitopsdeployments.yaml')
    const crd: { spec: { versions: { schema: { openAPIV3Schema: Schema } }[] } } = parse(await readFile(file, 'utf8'))
    const typed: string[] = []
    const any: string[] = []
    const walk = (schema: Schema, path: string[]): void => {
      if (schema['x-kubernetes-preserve-unknown-fields']) {
        any.push(path.join('.'))
        return
      }
      if (schema.items) {
        walk(schema.items, path)
        return
      }
      for (const [name, field] of Object.entries(schema.properties ?? {})) walk(field, [...path, name])
      if (schema.additionalProperties) walk(schema.additionalProperties, [...path, '*'])
      if (!['object', 'string'].includes(schema.type ?? '')) typed.push(path.join('.'))
    }
    walk(crd.spec.versions[0]?.schema.openAPIV3Schema.properties?.spec ?? {}, [])
    equal(typed.sort(), [...TYPED_FIELDS].sort())
    equal(any, [...UNTYPED_FIELDS])
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
      [{ metadata: { name: 'A ${env}' }, spec: {} }, 'TemplateInvalid', /makes "A dev" of it, which is no name/],
      [{ metadata: { name: '${env:=}x'.repeat(100) }, spec: {} }, 'TemplateInvalid', /which is no name/],
      [
        { metadata: { name: '${env}', annotations: { 'gitops.berth.dev/variables': 'disabled' } }, spec: {} },
        'TemplateInvalid',
        /annotations: gitops\.berth\.dev\/variables means nothing here/,
      ],
    ]
    for (const [template, reason, why] of cases) {
      const failure = await failureOf(() => desiredOf(setOf(template), elements))
      equal([failure.code, failure.reason], ['invalid', reason])
      match(failure.message, why)
    }
  })
})

interface Schema {
  type?: string
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema
  'x-kubernetes-preserve-unknown-fields'?: boolean
}

describe('the rollout of a GitOpsDeploymentSet', (it) => {
  /** `new`: not as the template has it; `up`: it is, and not healthy yet; `ok`; and what else there may be. */
  const members = (...states: string[]): Member[] =>
    states.map((state, at) => ({
      name: `${at}`,
      labels: { tier: state.split('-')[0] ?? '' },
      isUpdated: /-(?:up|ok|manual)$/.test(state),
      isDrifted: state.endsWith('drift'),
      isReady: state.endsWith('ok'),
      isManual: state.endsWith('manual'),
      isBlocked: state.endsWith('blocked'),
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

  it('puts back what was changed by hand, whatever it waits for', () => {
    equal(planOf(members('dev-up', 'prod-drift', 'prod-new'), { steps }), { write: ['1'], step: 0, unready: ['0'] })
    equal(planOf(members('dev-ok', 'prod-drift', 'prod-ok'), { steps }), { write: ['1'], step: undefined, unready: [] })
  })

  it('passes over those that cannot be written now, and does not wait for those that are synchronised by hand', () => {
    equal(planOf(members('dev-ok', 'prod-blocked', 'prod-new', 'x-new'), { steps }), { write: ['2'], step: 1, unready: [] })
    equal(planOf(members('dev-ok', 'prod-blocked', 'prod-ok', 'x-new'), { steps }), { write: [], step: 1, unready: [] })
    equal(planOf(members('dev-manual', 'prod-new'), { steps }), { write: ['1'], step: 1, unready: [] })
    equal(planOf(members('dev-blocked', 'dev-new'), undefined), { write: ['1'], step: undefined, unready: [] })
  })
})
