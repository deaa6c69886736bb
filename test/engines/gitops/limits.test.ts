import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { type AnyObject, Namespaces } from '../../../src/api/index.ts'
import { isWithin, type Limits, objectionToNamespace, trespass } from '../../../src/engines/gitops/objects/limits.ts'
import { type Applier, createApplier, named, said, whyOf } from '../../support/builders/applier.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'

const object = (apiVersion: string, kind: string, metadata: Partial<AnyObject['metadata']> = {}): AnyObject => ({
  apiVersion,
  kind,
  metadata: { name: 'x', ...metadata },
})
const ENFORCE = 'pod-security.kubernetes.io/enforce'
const open = object('v1', 'Namespace', { labels: { [ENFORCE]: 'privileged' } })

const TABLE: [why: string, it: AnyObject, namespaced: boolean, limits: Limits, said: RegExp | undefined][] = [
  ['no limits allow every kind', object('apps/v1', 'Deployment'), true, {}, undefined],
  ['an empty list allows every kind', object('apps/v1', 'Deployment'), true, { allowedKinds: [] }, undefined],
  ['a kind by its name', object('v1', 'Secret'), true, { allowedKinds: [{ group: '', kind: 'Secret' }] }, undefined],
  [
    'the same kind of another group is another kind',
    object('evil.example.com/v1', 'Secret'),
    true,
    { allowedKinds: [{ group: '', kind: 'Secret' }] },
    /allows Secret; add its kind to allowedKinds/,
  ],
  ['every kind of a group', object('apps/v1', 'Deployment'), true, { allowedKinds: [{ group: 'apps', kind: '*' }] }, undefined],
  ['a kind of every group', object('a.b/v1', 'Secret'), true, { allowedKinds: [{ group: '*', kind: 'Secret' }] }, undefined],
  [
    '`*` is no pattern: it stands for all or is nothing',
    object('apps.example.com/v1', 'Deployment'),
    true,
    { allowedKinds: [{ group: 'apps*', kind: '*' }] },
    /may not be deployed there/,
  ],
  ['a kind that is not listed', object('v1', 'Pod'), true, { allowedKinds: [{ group: 'apps', kind: '*' }] }, /allows \*\.apps/],
  [
    'another namespace',
    object('v1', 'Pod', { namespace: 'b' }),
    true,
    { namespaces: ['a'] },
    /^is of namespace b, which is outside the destination, which allows a; set metadata.namespace to that one, or/,
  ],
  ['no namespace at all', object('v1', 'Node'), false, { namespaces: ['a'] }, /cluster-scoped/],
  ['no namespace, and that is allowed', object('v1', 'Node'), false, { namespaces: ['a'], clusterResources: true }, undefined],
  ['a label that decides about pods, without any limit', open, false, {}, /carries the label .*enforce.*podSecurityLabels/],
  ['such a label where it is allowed', open, false, { podSecurityLabels: true }, undefined],
  ['such a label on something else', object('v1', 'Pod', { labels: { [ENFORCE]: 'x' } }), true, {}, undefined],
]

describe('the limits of a destination', (it) => {
  for (const [why, what, namespaced, limits, expected] of TABLE)
    it(`decide about ${why}`, () => {
      const answer = trespass(what, namespaced, limits)
      if (expected) assert.match(answer ?? '', expected)
      else assert.is(answer, undefined)
    })

  for (const label of ['security.openshift.io/scc.podSecurityLabelSync', 'openshift.io/run-level'])
    it(`count ${label} among the labels that decide about pods`, () => {
      const space = object('v1', 'Namespace', { labels: { [label]: '0' } })
      assert.match(trespass(space, false, {}) ?? '', /carries the label .*podSecurityLabels/)
      assert.is(trespass(space, false, { podSecurityLabels: true }), undefined)
    })

  it('decide what may be deleted: nothing in a namespace that was taken from it', () => {
    const id = { group: '', kind: 'Pod', name: 'x' }
    assert.is(isWithin({ ...id, namespace: 'a' }, {}), true)
    assert.is(isWithin({ ...id, namespace: 'a' }, { namespaces: ['b'], clusterResources: true }), false)
    assert.is(isWithin(id, { namespaces: ['b'] }), false)
    assert.is(isWithin(id, { namespaces: ['b'], clusterResources: true }), true)
  })

  it('decide whether its namespace may be made', () => {
    assert.is(objectionToNamespace('a', {}), undefined)
    assert.is(objectionToNamespace('a', { namespaces: ['a'] }), undefined)
    assert.match(objectionToNamespace('b', { namespaces: ['a'] }) ?? '', /outside the destination/)
    assert.match(objectionToNamespace('a', { allowedKinds: [{ group: 'apps', kind: '*' }] }) ?? '', /may not be deployed/)
  })
})

describe('labels that decide what pods may do', (it) => {
  const { kube, ...cluster } = testCluster()
  let applier: Applier
  let name = ''
  it.beforeEach(async () => {
    applier = createApplier(kube, await cluster.namespace('limits'))
    name = `berth-pss-${randomUUID().slice(0, 8)}`
  })
  it.afterEach(async () => {
    await kube.delete(Namespaces, { name })
  })
  it.after(() => cluster.close())

  const labels = async () => (await kube.get(Namespaces, { name }))?.metadata.labels ?? {}
  const namespace = (given: Record<string, string>) => named('Namespace', name, { metadata: { name, labels: given } })
  const byHand = (given: Record<string, string>) =>
    kube.apply(
      Namespaces,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: given } },
      { manager: 'kubectl-client-side-apply' },
    )

  it('are not taken from a namespace that people made, and the others go on', async () => {
    await byHand({ [ENFORCE]: 'restricted' })
    const entries = await applier.apply([namespace({ team: 'a' }), named('ConfigMap', `${name}-other`)])
    assert.equal(said(entries), [`Namespace ${name} failed`, `ConfigMap ${name}-other created`])
    assert.match(whyOf(entries, name), /carries the label pod-security\.kubernetes\.io\/enforce in the cluster/)
    assert.is((await labels())[ENFORCE], 'restricted')
    const allowed = await applier.apply([namespace({ team: 'a' })], { podSecurityLabels: true })
    assert.equal(said(allowed), [`Namespace ${name} configured`])
  })

  it('of others stay, and hinder nobody', async () => {
    await applier.apply([namespace({ team: 'a' })])
    await kube.patch(Namespaces, { name }, { metadata: { labels: { [ENFORCE]: 'restricted' } } }, { manager: 'platform' })
    assert.equal(said(await applier.apply([namespace({ team: 'b' })])), [`Namespace ${name} configured`])
    const now = await labels()
    assert.equal([now[ENFORCE], now.team], ['restricted', 'b'])
  })
})
