import * as assert from 'uvu/assert'
import type { AnyObject } from '../../../src/api/index.ts'
import {
  type IgnoreRule,
  ignoreRules,
  ourFields,
  withLiveIgnored,
  withoutIgnored,
} from '../../../src/engines/gitops/fields/ignore.ts'
import { managerOf } from '../../../src/engines/gitops/objects/place.ts'
import { type Applier, createApplier, said } from '../../support/builders/applier.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const REPLICAS: IgnoreRule = { paths: ['/spec/replicas'] }
const Deployments = { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', namespaced: true }

const deployment = (replicas: number, image = 'registry.example.com/a:1', metadata: object = {}): AnyObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', labels: { tier: 'front' }, ...metadata },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image }] } },
  },
})

const TARGETS: [why: string, target: IgnoreRule['target'], meant: boolean][] = [
  ['no target means all', undefined, true],
  ['an empty target means all', {}, true],
  ['by kind', { kind: 'Deployment' }, true],
  ['by another kind', { kind: 'StatefulSet' }, false],
  ['by group', { group: 'apps' }, true],
  ['the core group is a group', { group: '' }, false],
  ['by name', { name: 'web' }, true],
  ['by another name', { name: 'we' }, false],
  ['by namespace', { namespace: 'shop' }, true],
  ['by another namespace', { namespace: 'other' }, false],
  ['by label', { labelSelector: 'tier in (front,back)' }, true],
  ['by a label that it lacks', { labelSelector: 'tier,!tier' }, false],
  ['all must be true', { kind: 'Deployment', name: 'other' }, false],
]

describe('ignore rules', (it) => {
  it('mean the objects that their target selects', () => {
    const object = deployment(1, '', { namespace: 'shop' })
    for (const [why, target, meant] of TARGETS)
      assert.equal(
        ignoreRules([{ ...REPLICAS, ...(target && { target }) }]).pathsOf(object),
        meant ? ['/spec/replicas'] : [],
        why,
      )
  })

  it('take their paths out of what is compared, and nothing where there is nothing', () => {
    const rules = [
      { paths: ['/spec/replicas', '/metadata/labels/tier', '/spec/template/spec/containers/0/image', '/spec/none/at/all'] },
    ]
    const left = withoutIgnored(deployment(3), ignoreRules(rules))
    assert.equal(left.metadata.labels, {})
    assert.match(JSON.stringify(left.spec), '"containers":[{"name":"c"}]')
    assert.not.match(JSON.stringify(left.spec), 'replicas')
    assert.equal(withoutIgnored(deployment(3), undefined), deployment(3))
  })

  it('read escaped names', () => {
    const object = deployment(1, '', { annotations: { 'example.com/a~b': '1' } })
    assert.equal(
      withoutIgnored(object, ignoreRules([{ paths: ['/metadata/annotations/example.com~1a~0b'] }])).metadata.annotations,
      {},
    )
  })

  it('give a field to whoever else set it, and send the live value where nobody did', () => {
    const live = (manager: string) => ({
      ...deployment(5),
      metadata: { name: 'web', managedFields: [{ manager, operation: 'Update', fieldsV1: { 'f:spec': { 'f:replicas': {} } } }] },
    })
    const replicasIn = (object: AnyObject) => JSON.stringify(object.spec).match(/"replicas":\d/)?.[0]
    assert.is(replicasIn(withLiveIgnored(deployment(2), live('hpa'), ignoreRules([REPLICAS]), 'us')), undefined)
    assert.is(replicasIn(withLiveIgnored(deployment(2), live('us'), ignoreRules([REPLICAS]), 'us')), '"replicas":5')
    assert.is(replicasIn(withLiveIgnored(deployment(2), live('hpa'), ignoreRules([]), 'us')), '"replicas":2')
  })

  it('find an element of a list by its name, wherever others have moved it', () => {
    const rule = { paths: ['/spec/template/spec/containers/0/image'] }
    const live = deployment(1, 'theirs')
    const moved = JSON.parse(JSON.stringify(live).replace('[{"name":"c"', '[{"name":"sidecar","image":"s"},{"name":"c"'))
    assert.match(
      JSON.stringify(withLiveIgnored(deployment(1, 'ours'), moved, ignoreRules([rule]), 'us').spec),
      '"name":"c","image":"theirs"',
    )
  })

  it('say which fields are ours', () => {
    const owner = { labels: { 'gitops.berth.dev/sync': 'u' } }
    const managedFields = [
      {
        manager: managerOf('u'),
        fieldsV1: { 'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"c"}': { 'f:image': {} } } } } } },
      },
      { manager: 'autoscaler', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
    ]
    const live = { ...deployment(5), metadata: { name: 'web', managedFields } }
    assert.is(ourFields(deployment(1, '', owner), live)('/spec/replicas'), false)
    assert.is(ourFields(deployment(1, '', owner), live)('/spec/template/spec/containers/0/image'), true)
    assert.is(ourFields(deployment(1), live)('/spec/template/spec/containers/0/image'), false)
  })
})

describe('fields that others may change', (it) => {
  const { kube, ...cluster } = testCluster()
  let namespace = ''
  let applier: Applier
  it.beforeEach(async () => {
    namespace = await cluster.namespace('ignore')
    applier = createApplier(kube, namespace)
  })
  it.after(() => cluster.close())
  const live = () =>
    kube.read<{ spec: { replicas: number }; metadata: AnyObject['metadata'] }>(
      `/apis/apps/v1/namespaces/${namespace}/deployments/web`,
    )
  const scale = (replicas: number) =>
    kube.patch(Deployments, { name: 'web', namespace }, { spec: { replicas } }, { manager: 'autoscaler' })
  const owners = async () => {
    const { metadata } = await live()
    const entries = 'managedFields' in metadata && Array.isArray(metadata.managedFields) ? metadata.managedFields : []
    return entries
      .filter((entry) => JSON.stringify(entry).includes('f:replicas":{}') && !JSON.stringify(entry).includes('f:status'))
      .map(({ manager }) => manager)
  }

  it('get the value of the repository when the object is made', async () => {
    await applier.apply([deployment(3)], { ignore: ignoreRules([REPLICAS]) })
    assert.is((await live()).spec.replicas, 3)
  })

  it('keep the value of whoever set it, who owns it from then on', async () => {
    await applier.apply([deployment(3)], { ignore: ignoreRules([REPLICAS]) })
    await scale(7)
    const entries = await applier.apply([deployment(3, 'registry.example.com/a:2')], { ignore: ignoreRules([REPLICAS]) })
    assert.equal(said(entries), ['Deployment web configured'])
    assert.is((await live()).spec.replicas, 7)
    assert.match(JSON.stringify((await live()).spec), 'registry.example.com/a:2')
    assert.equal(await owners(), ['autoscaler'])
  })

  it('keep their value while nobody else set it', async () => {
    await applier.apply([deployment(3)], { ignore: ignoreRules([REPLICAS]) })
    await applier.apply([deployment(4)], { ignore: ignoreRules([REPLICAS]) })
    assert.is((await live()).spec.replicas, 3)
    assert.equal(await owners(), [managerOf(applier.owner.id)])
  })

  for (const manager of ['helm', 'kubectl'])
    it(`keep their value where they are taken over from ${manager}`, async () => {
      await kube.apply(Deployments, { ...deployment(5), metadata: { name: 'web', namespace } }, { manager })
      const rules = { ignore: ignoreRules([REPLICAS]) }
      for (const image of ['registry.example.com/a:2', 'registry.example.com/a:3']) {
        // Whoever writes at the same moment, such as the controller of Deployments, wins; then it is the next sync.
        await eventually(async () => {
          const [entry] = await applier.apply([deployment(3, image)], rules)
          assert.is(entry?.change === 'failed' ? entry.why : undefined, undefined)
          return true
        })
        assert.is((await live()).spec.replicas, 5)
        assert.equal(await owners(), [managerOf(applier.owner.id)])
      }
    })

  it('are set back without a rule', async () => {
    await applier.apply([deployment(3)])
    await scale(7)
    await applier.apply([deployment(3)])
    assert.is((await live()).spec.replicas, 3)
  })

  it('may be fields that an object must have', async () => {
    const rule = { paths: ['/spec/template/spec/containers/0/image', '/spec/template/spec/containers'] }
    await applier.apply([deployment(1)], { ignore: ignoreRules([rule]) })
    const containers = [{ name: 'c', image: 'registry.example.com/theirs:9' }]
    await kube.patch(
      Deployments,
      { name: 'web', namespace },
      { spec: { template: { spec: { containers } } } },
      { manager: 'updater' },
    )
    const entries = await applier.apply([deployment(2, 'registry.example.com/a:2')], { ignore: ignoreRules([rule]) })
    assert.equal(said(entries), ['Deployment web configured'])
    assert.match(JSON.stringify((await live()).spec), 'registry.example.com/theirs:9')
    assert.is((await live()).spec.replicas, 2)
  })

  it('are those of the objects that the rule selects only', async () => {
    const rule = { ...REPLICAS, target: { name: 'other' } }
    await applier.apply([deployment(3)], { ignore: ignoreRules([rule]) })
    await scale(7)
    await applier.apply([deployment(3)], { ignore: ignoreRules([rule]) })
    assert.is((await live()).spec.replicas, 3)
  })
})
