import * as assert from 'uvu/assert'
import type { AnyObject } from '../../../src/api/index.ts'
import { type IgnoreRules, ignoreRules } from '../../../src/engines/gitops/fields/ignore.ts'
import { place } from '../../../src/engines/gitops/objects/place.ts'
import { differencesOf, type FieldChange, fieldChanges } from '../../../src/engines/gitops/preview/diff.ts'
import { systemClock } from '../../../src/std/index.ts'
import { type Applier, createApplier, named } from '../../support/builders/applier.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'

const object = (rest: object = {}, metadata: object = {}): AnyObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ...metadata },
  ...rest,
})
const secret = (rest: object, metadata: object = {}): AnyObject => ({ ...object(rest, metadata), kind: 'Secret' })

const LAST = 'kubectl.kubernetes.io/last-applied-configuration'

const TABLE: [why: string, from: AnyObject | undefined, to: AnyObject | undefined, changes: [string, unknown, unknown][]][] = [
  ['nothing differs', object({ data: { x: '1' } }), object({ data: { x: '1' } }), []],
  ['a value', object({ data: { x: '1' } }), object({ data: { x: '2' } }), [['/data/x', '1', '2']]],
  ['a field that comes', object(), object({ data: { x: '1' } }), [['/data/x', undefined, '1']]],
  ['a field that goes', object({ data: { x: '1', y: '1' } }), object({ data: { x: '1' } }), [['/data/y', '1', undefined]]],
  ['names are escaped', object(), object({ data: { 'a/b~c': '1' } }), [['/data/a~1b~0c', undefined, '1']]],
  [
    'names of what every object has',
    object({ data: { a: 'b' } }),
    object({ data: JSON.parse('{"a": "b", "constructor": "x", "__proto__": "y"}') }),
    [
      ['/data/constructor', undefined, 'x'],
      ['/data/__proto__', undefined, 'y'],
    ],
  ],
  [
    'an object that comes',
    undefined,
    object({ data: { x: '1' } }),
    [
      ['/metadata/name', undefined, 'a'],
      ['/data/x', undefined, '1'],
    ],
  ],
  ['an object that goes', object(), undefined, [['/metadata/name', 'a', undefined]]],
  [
    'the server keeps account',
    object({}, { resourceVersion: '1', uid: 'a', generation: 1 }),
    object({}, { resourceVersion: '2' }),
    [],
  ],
  ['the status is not ours', object({ status: { a: 1 } }), object({ status: { a: 2 } }), []],
  [
    'our own marks',
    object(),
    object({}, { labels: { 'gitops.berth.dev/sync': 'u' }, annotations: { 'gitops.berth.dev/owner': 'x' } }),
    [],
  ],
  [
    'a label beside ours',
    object(),
    object({}, { labels: { 'gitops.berth.dev/sync': 'u', a: 'b' } }),
    [['/metadata/labels/a', undefined, 'b']],
  ],
  [
    'elements are told by their names',
    object({
      spec: [
        { name: 'a', image: '1' },
        { name: 'gone', image: '1' },
      ],
    }),
    object({
      spec: [
        { name: 'new', image: '1' },
        { name: 'a', image: '2' },
      ],
    }),
    [
      ['/spec/0/name', undefined, 'new'],
      ['/spec/0/image', undefined, '1'],
      ['/spec/1/image', '1', '2'],
      ['/spec/1/name', 'gone', undefined],
      ['/spec/1/image', '1', undefined],
    ],
  ],
  [
    'elements without names by their places',
    object({ spec: ['a', 'b'] }),
    object({ spec: ['a', 'c', 'd'] }),
    [
      ['/spec/1', 'b', 'c'],
      ['/spec/2', undefined, 'd'],
    ],
  ],
  ['another sort of value', object({ spec: { a: 1 } }), object({ spec: 'x' }), [['/spec', { a: 1 }, 'x']]],
  ['an empty mapping', object(), object({ spec: {} }), [['/spec', undefined, {}]]],
  ['values of a Secret are masked', secret({ data: { k: 'one' } }), secret({ data: { k: 'two' } }), [['/data/k', '***', '***']]],
  [
    'those that come and go as well',
    secret({ data: { k: 'one' } }),
    secret({ stringData: { l: 'two' } }),
    [
      ['/data/k', '***', undefined],
      ['/stringData/l', undefined, '***'],
    ],
  ],
  [
    'also with the whole Secret',
    undefined,
    secret({ data: { k: 'one' }, type: 'Opaque' }),
    [
      ['/metadata/name', undefined, 'a'],
      ['/data/k', undefined, '***'],
      ['/type', undefined, 'Opaque'],
    ],
  ],
  ['labels of a Secret are not secret', secret({}), secret({}, { labels: { a: 'b' } }), [['/metadata/labels/a', undefined, 'b']]],
  [
    'a copy of the object in an annotation',
    object({}, { annotations: { [LAST]: 'canary' } }),
    object(),
    [[`/metadata/annotations/${LAST.replace('/', '~1')}`, '***', undefined]],
  ],
]

describe('the difference between two objects', (it) => {
  it('is told field by field', () => {
    for (const [why, from, to, changes] of TABLE)
      assert.equal(
        fieldChanges(from, to),
        changes.map(([path, was, will]): FieldChange => ({ path, from: was, to: will })),
        why,
      )
  })

  it('never shows what may be secret', () => {
    const values = [
      secret({ data: { k: 'canary' } }),
      secret({ data: 'canary' }),
      secret({ stringData: { k: { deep: 'canary' } } }),
      undefined,
    ]
    for (const from of values) for (const to of values) assert.not.match(JSON.stringify(fieldChanges(from, to)), 'canary')
  })
})

describe('what a sync would do', (it) => {
  const { kube, ...cluster } = testCluster()
  let namespace = ''
  let applier: Applier
  it.beforeEach(async () => {
    namespace = await cluster.namespace('diff')
    applier = createApplier(kube, namespace)
  })
  it.after(() => cluster.close())

  const would = async (objects: AnyObject[], more: { ignore?: IgnoreRules } = {}) => {
    const manifests = objects.map((each, index) => ({ object: each, source: `${index}.yaml:1` }))
    const { desired } = await place(manifests, { kube, namespace }, applier.owner)
    const uidOf = (key: string) => applier.held.find((held) => held.key === key)?.uid
    return differencesOf(desired, { kube, owner: applier.owner.id, clock: systemClock, uidOf, ...more })
  }
  const told = async (...args: Parameters<typeof would>) =>
    (await would(...args)).map(({ id, would: word, fields }) => [
      id.name,
      word,
      ...fields.map(({ path, from, to }) => `${path}: ${from} -> ${to}`),
    ])

  it('is told by a dry run that changes nothing', async () => {
    await applier.apply([configMap('a', { x: '1', y: '1' }), configMap('b')])
    const before = await kube.read(`/api/v1/namespaces/${namespace}/configmaps/a`)
    const set = [configMap('a', { x: '2' }), configMap('b'), configMap('c', { z: '1' })]
    assert.equal(await told(set), [
      ['a', 'change', '/data/x: 1 -> 2', '/data/y: 1 -> undefined'],
      ['b', 'nothing'],
      [
        'c',
        'create',
        '/metadata/name: undefined -> c',
        `/metadata/namespace: undefined -> ${namespace}`,
        '/data/z: undefined -> 1',
      ],
    ])
    assert.equal(await kube.read(`/api/v1/namespaces/${namespace}/configmaps/a`), before)
  })

  it('masks Secrets, whatever the server says', async () => {
    const value = (text: string) => ({ ...named('Secret', 's'), data: { k: Buffer.from(text).toString('base64') } })
    await applier.apply([value('one')])
    assert.equal(await told([value('two')]), [['s', 'change', '/data/k: *** -> ***']])
    const [broken] = await would([{ ...value('x'), data: { k: 'canary!' } }])
    assert.is(broken?.would, 'refused')
    assert.not.match(JSON.stringify(broken), 'canary')
  })

  it('tells what the server would refuse', async () => {
    const [difference] = await would([{ ...configMap('a'), surprise: true }])
    assert.is(difference?.would, 'refused')
    assert.match(difference?.why ?? '', 'surprise')
  })

  it('leaves out what others may change', async () => {
    await applier.apply([configMap('a', { x: '1', y: '1' })])
    assert.equal(await told([configMap('a', { x: '2', y: '1' })], { ignore: ignoreRules([{ paths: ['/data/x'] }]) }), [
      ['a', 'nothing'],
    ])
  })

  it('knows what is made with its namespace', async () => {
    const set = [named('Namespace', `${namespace}-new`), configMap('a', { x: '1' }, `${namespace}-new`)]
    assert.equal(
      (await would(set)).map(({ would: word }) => word),
      ['create', 'create'],
    )
  })
})
