import * as assert from 'uvu/assert'
import type { JsonPatchStep, Kube } from '../../../src/adapters/kube/index.ts'
import { type AnyObject, CustomResourceDefinitions, Deployments, type Kind, Secrets, Services } from '../../../src/api/index.ts'
import { type IgnoreRules, ignoreRules } from '../../../src/engines/gitops/fields/ignore.ts'
import { kindOfAny } from '../../../src/engines/gitops/objects/context.ts'
import { place } from '../../../src/engines/gitops/objects/place.ts'
import { type Difference, differencesOf, type FieldChange, fieldChanges } from '../../../src/engines/gitops/preview/diff.ts'
import { systemClock } from '../../../src/std/index.ts'
import { type Applier, applyAmongOthers, createApplier } from '../../support/builders/applier.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { apply, eventually } from '../../support/verbs.ts'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const RESTARTED = { 'kubectl.kubernetes.io/restartedAt': '2026-08-01T10:00:00Z' }

const deployment = (spec: object = {}, pod: object = {}, template: object = {}, metadata: object = {}): AnyObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', ...metadata },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' }, ...template }, spec: { containers: [WEB], ...pod } },
    ...spec,
  },
})
const WEB = { name: 'web', image: 'web:1' }
const SIDE = { name: 'side', image: 'side:1' }

const service = (ports: object[]): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: { selector: { app: 'web' }, ports },
})

const secret = (data: Record<string, string>): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'web' },
  data: Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')])),
})

/** With what the kinds of the API server have not: sets, and mappings of objects. */
const GROUP = 'take-over.example.com'
const GADGETS: Kind<AnyObject> = { group: GROUP, version: 'v1', kind: 'Gadget', plural: 'gadgets', namespaced: true }
const gadget = (spec: object): AnyObject => ({ apiVersion: `${GROUP}/v1`, kind: 'Gadget', metadata: { name: 'web' }, spec })
const texts = { type: 'object', additionalProperties: { type: 'string' } }
const gadgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `gadgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced' as const,
    names: { kind: 'Gadget', plural: 'gadgets' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  words: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
                  places: { type: 'object', additionalProperties: texts },
                  size: { type: 'integer', default: 3 },
                },
              },
            },
          },
        },
      },
    ],
  },
}

interface Case {
  why: string
  kind?: Kind<AnyObject>
  was: AnyObject
  /** `kubectl-create` by Update without it. */
  by?: string
  others?: AnyObject
  edit?: JsonPatchStep[]
  git: AnyObject
  told: string[]
  ignore?: IgnoreRules
}

const TABLE: Case[] = [
  {
    why: 'defaults come back',
    was: deployment({ replicas: 3, revisionHistoryLimit: 2, strategy: { type: 'Recreate' } }),
    git: deployment(),
    told: [
      '/spec/replicas: 3 -> 1',
      '/spec/revisionHistoryLimit: 2 -> 10',
      '/spec/strategy/rollingUpdate/maxSurge: undefined -> 25%',
      '/spec/strategy/rollingUpdate/maxUnavailable: undefined -> 25%',
      '/spec/strategy/type: Recreate -> RollingUpdate',
    ],
  },
  {
    why: 'elements of lists go by their keys',
    was: deployment(
      {},
      {
        containers: [
          {
            ...WEB,
            env: [
              { name: 'A', value: '1' },
              { name: 'B', value: '1' },
            ],
          },
        ],
        hostAliases: [{ ip: '10.0.0.1', hostnames: ['a'] }],
      },
    ),
    by: 'kustomize-controller',
    git: deployment({}, { containers: [{ ...WEB, env: [{ name: 'B', value: '2' }] }] }),
    told: [
      '/spec/template/spec/containers/0/env/0/name: A -> undefined',
      '/spec/template/spec/containers/0/env/0/value: 1 -> undefined',
      '/spec/template/spec/containers/0/env/0/value: 1 -> 2',
      '/spec/template/spec/hostAliases/0/hostnames/0: a -> undefined',
      '/spec/template/spec/hostAliases/0/ip: 10.0.0.1 -> undefined',
    ],
  },
  {
    why: 'and by keys of two fields, of which one has a default',
    kind: kindOfAny(Services),
    was: service([
      { name: 'a', port: 80 },
      { name: 'b', port: 81 },
    ]),
    by: 'argocd-controller',
    git: service([{ name: 'b', port: 81 }]),
    told: [
      '/spec/ports/0/name: a -> undefined',
      '/spec/ports/0/port: 80 -> undefined',
      '/spec/ports/0/protocol: TCP -> undefined',
      '/spec/ports/0/targetPort: 80 -> undefined',
    ],
  },
  {
    why: 'elements of sets go by their values',
    kind: GADGETS,
    was: gadget({ words: ['a', 'b', 'c'], places: { x: { one: '1', two: '2' }, y: { one: '1' } }, size: 5 }),
    by: 'kustomize-controller',
    others: gadget({ words: ['c'] }),
    git: gadget({ words: ['b'], places: { x: { one: '1' } } }),
    told: [
      '/spec/places/x/two: 2 -> undefined',
      '/spec/places/y/one: 1 -> undefined',
      '/spec/size: 5 -> 3',
      '/spec/words/0: a -> b',
      '/spec/words/1: b -> c',
      '/spec/words/2: c -> undefined',
    ],
  },
  {
    why: 'what others have set stays',
    was: deployment({}, { containers: [WEB, SIDE] }, {}, { labels: { a: '1', b: '1' } }),
    others: deployment({}, { containers: [WEB, { ...SIDE, image: 'side:2' }] }, {}, { labels: { b: '1' } }),
    git: deployment(),
    told: ['/metadata/labels/a: 1 -> undefined'],
  },
  {
    why: 'an element goes with what others have set in it',
    was: deployment({}, { containers: [{ ...WEB, args: ['a'] }, SIDE] }),
    edit: [
      { op: 'replace', path: '/spec/template/spec/containers/0/args', value: ['b'] },
      { op: 'replace', path: '/spec/template/spec/containers/1/image', value: 'side:2' },
    ],
    git: deployment(),
    told: [
      '/spec/template/spec/containers/1/image: side:2 -> undefined',
      '/spec/template/spec/containers/1/imagePullPolicy: IfNotPresent -> undefined',
      '/spec/template/spec/containers/1/name: side -> undefined',
      '/spec/template/spec/containers/1/resources: [object Object] -> undefined',
      '/spec/template/spec/containers/1/terminationMessagePath: /dev/termination-log -> undefined',
      '/spec/template/spec/containers/1/terminationMessagePolicy: File -> undefined',
    ],
  },
  {
    why: 'what restarted the pods stays',
    was: deployment({}, {}, { annotations: { ...RESTARTED, old: '1' } }),
    git: deployment(),
    told: ['/spec/template/metadata/annotations/old: 1 -> undefined'],
  },
  {
    why: 'values of Secrets are masked',
    kind: kindOfAny(Secrets),
    was: secret({ old: 'canary', new: 'canary' }),
    by: 'helm',
    git: secret({ new: 'canary' }),
    told: ['/data/old: *** -> undefined'],
  },
  {
    why: 'and so is the copy of kubectl',
    was: deployment({}, {}, {}, { annotations: { [LAST_APPLIED]: 'canary' } }),
    by: 'somebody',
    git: deployment(),
    told: [`/metadata/annotations/${LAST_APPLIED.replace('/', '~1')}: *** -> undefined`],
  },
  {
    why: 'what others may change stays',
    was: deployment({ replicas: 3, minReadySeconds: 5 }),
    git: deployment({ replicas: 1 }),
    told: ['/spec/minReadySeconds: 5 -> undefined'],
    ignore: ignoreRules([{ paths: ['/spec/replicas'] }]),
  },
]

describe('what a sync would take over', (it) => {
  const { kube, ...cluster } = testCluster()
  let namespace = ''
  let applier: Applier
  it.before(async () => {
    await apply(kube, gadgetDefinition)
    await eventually(() => kube.resolve(`${GROUP}/v1`, 'Gadget'))
  })
  it.beforeEach(async () => {
    namespace = await cluster.namespace('diff-take-over')
    applier = createApplier(kube, namespace)
  })
  it.after(async () => {
    await kube.delete(CustomResourceDefinitions, { name: `gadgets.${GROUP}` })
    await cluster.close()
  })

  const DEPLOYMENTS = kindOfAny(Deployments)
  const live = (kind: Kind<AnyObject>) => kube.get(kind, { name: 'web', namespace })
  const make = (kind: Kind<AnyObject>, object: AnyObject, manager?: string) => {
    const placed = { ...object, metadata: { ...object.metadata, namespace } }
    if (manager === undefined) return kube.create(kind, placed, { manager: 'kubectl-create' })
    return kube.apply(kind, placed, { manager, force: true })
  }
  type More = Partial<Parameters<typeof differencesOf>[1]>
  const would = async (git: AnyObject, more: More = {}): Promise<Difference | undefined> => {
    const { desired } = await place([{ object: git, source: 'a.yaml:1' }], { kube, namespace }, applier.owner)
    const uidOf = (key: string) => applier.held.find((held) => held.key === key)?.uid
    const [difference] = await differencesOf(desired, { kube, owner: applier.owner.id, clock: systemClock, uidOf, ...more })
    return difference
  }
  /** What the sync has changed then. */
  const done = async (kind: Kind<AnyObject>, git: AnyObject, ignore?: IgnoreRules) => {
    const before = await live(kind)
    const entries = await applyAmongOthers(applier, [git], { ignore })
    assert.equal(
      entries.map(({ why }) => why),
      [undefined],
    )
    return fieldChanges(before, await live(kind))
  }
  /** A controller numbers the revisions at its own pace. */
  const told = (changes: readonly FieldChange[] = []) =>
    changes
      .filter(({ path }) => path !== '/metadata/annotations/deployment.kubernetes.io~1revision')
      .map(({ path, from, to }) => `${path}: ${from} -> ${to}`)
      .sort()

  for (const { why, kind = DEPLOYMENTS, was, by, others, edit, git, told: expected, ignore } of TABLE)
    it(`is told as it is done then: ${why}`, async () => {
      await make(kind, was, by)
      if (others) await make(kind, others, 'other')
      if (edit) await kube.patch(kind, { name: 'web', namespace }, edit, { manager: 'other' })
      const before = await live(kind)
      const difference = await would(git, { ignore })
      assert.equal(told(difference?.fields), expected.toSorted())
      assert.is(difference?.would, 'change')
      assert.equal(told(fieldChanges(before, await live(kind))), [], 'nothing was written')
      assert.equal(told(await done(kind, git, ignore)), expected.toSorted())
    })

  it('asks the server once more only where something goes', async () => {
    await make(DEPLOYMENTS, deployment(), 'kustomize-controller')
    await eventually(async () => (await live(DEPLOYMENTS))?.metadata.annotations?.['deployment.kubernetes.io/revision'])
    const patches: unknown[] = []
    const patch: Kube['patch'] = (kind, ref, change, how) => {
      patches.push(change)
      return kube.patch(kind, ref, change, how)
    }
    const counted = { ...kube, patch }
    assert.equal(told((await would(deployment(), { kube: counted }))?.fields), [])
    assert.equal(told((await would(deployment({ replicas: 2 }), { kube: counted }))?.fields), ['/spec/replicas: 1 -> 2'])
    assert.equal(patches, [])
    await make(DEPLOYMENTS, deployment({ minReadySeconds: 5 }), 'kustomize-controller')
    await would(deployment(), { kube: counted })
    assert.equal(patches, [{ spec: { minReadySeconds: null } }])
  })

  it('is nothing where the manifest asks to merge', async () => {
    await make(DEPLOYMENTS, deployment({ minReadySeconds: 5 }), 'kustomize-controller')
    const git = deployment({}, {}, {}, { annotations: { 'gitops.berth.dev/apply': 'merge' } })
    const expected = ['/metadata/annotations/gitops.berth.dev~1apply: undefined -> merge']
    assert.equal(told((await would(git))?.fields), expected)
    assert.equal(told(await done(DEPLOYMENTS, git)), expected)
  })

  it('is nothing of an object that is ours already, whoever has edited it', async () => {
    await applier.apply([deployment()])
    const ref = { name: 'web', namespace }
    await kube.patch(DEPLOYMENTS, ref, { spec: { minReadySeconds: 5 } }, { manager: 'kubectl-edit' })
    await eventually(async () => (await would(deployment()))?.would === 'nothing')
    assert.equal(told(await done(DEPLOYMENTS, deployment())), [])
    await kube.delete(DEPLOYMENTS, ref)
    await make(DEPLOYMENTS, deployment({ minReadySeconds: 5 }))
    const anew = ['/spec/minReadySeconds: 5 -> undefined']
    assert.equal(told((await would(deployment()))?.fields), anew, 'but of one that was made anew')
    assert.equal(told(await done(DEPLOYMENTS, deployment())), anew)
  })

  it('is told of a former owner, too, and of the programs that an agent follows', async () => {
    const git = deployment({}, {}, {}, { annotations: { 'gitops.berth.dev/adopt': 'true' } })
    await createApplier(kube, namespace, 'Test team-b/web').apply([deployment({ minReadySeconds: 5 })])
    const expected = ['/metadata/annotations/gitops.berth.dev~1adopt: undefined -> true', '/spec/minReadySeconds: 5 -> undefined']
    const difference = await would(git)
    assert.match(difference?.why ?? '', 'is kept by Test team-b/web now')
    assert.equal(told(difference?.fields), expected)
    assert.equal(told(await done(DEPLOYMENTS, git)), expected)

    await kube.delete(DEPLOYMENTS, { name: 'web', namespace })
    await make(DEPLOYMENTS, deployment({ minReadySeconds: 5 }), 'agentk')
    assert.equal(told((await would(deployment()))?.fields), [])
    const takeOver = { managers: ['agentk'], fromOthers: false, objection: () => undefined }
    assert.equal(told((await would(deployment(), { takeOver }))?.fields), ['/spec/minReadySeconds: 5 -> undefined'])
  })

  it('says what the server would refuse', async () => {
    await make(
      DEPLOYMENTS,
      deployment({ paused: true, selector: { matchLabels: { app: 'web', old: '1' } } }, {}, { labels: { app: 'web', old: '1' } }),
    )
    const difference = await would(deployment())
    assert.is(difference?.would, 'refused')
    assert.match(difference?.why ?? '', 'spec.selector cannot be changed once the object exists')
  })
})
