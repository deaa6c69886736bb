import * as assert from 'uvu/assert'
import { connect, type JsonPatchStep } from '../../../src/adapters/kube/index.ts'
import { type AnyObject, Deployments, type Kind, Secrets, Services } from '../../../src/api/index.ts'
import { type IgnoreRules, ignoreRules } from '../../../src/engines/gitops/fields/ignore.ts'
import { kindOfAny } from '../../../src/engines/gitops/objects/context.ts'
import { fieldChanges } from '../../../src/engines/gitops/preview/diff.ts'
import { createApplier } from '../../support/builders/applier.ts'
import { createGadgets, deployment, takeOverStage, told, WEB } from '../../support/builders/take-over.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const { kind: GADGETS, gadget, serve, forget } = createGadgets()
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const RESTARTED = { 'kubectl.kubernetes.io/restartedAt': '2026-08-01T10:00:00Z' }

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
  const DEPLOYMENTS = kindOfAny(Deployments)
  const stage = takeOverStage(it, 'diff-take-over', { serve, forget })
  const { kube, live, make, would, done } = stage

  for (const { why, kind = DEPLOYMENTS, was, by, others, edit, git, told: expected, ignore } of TABLE)
    it(`is told as it is done then: ${why}`, async () => {
      await make(kind, was, by)
      if (others) await make(kind, others, 'other')
      if (edit) await kube.patch(kind, { name: 'web', namespace: stage.namespace }, edit, { manager: 'other' })
      const before = await live(kind)
      const difference = await would(git, { ignore })
      assert.equal(told(difference?.fields), expected.toSorted())
      assert.is(difference?.would, 'change')
      assert.equal(told(fieldChanges(before, await live(kind))), [], 'nothing was written')
      assert.equal(told(await done(kind, git, { ignore })), expected.toSorted())
    })

  it('asks the server once more only where something goes', async () => {
    await make(DEPLOYMENTS, deployment(), 'kustomize-controller')
    await eventually(async () => (await live(DEPLOYMENTS))?.metadata.annotations?.['deployment.kubernetes.io/revision'])
    const verbs: string[] = []
    const counted = connect({ kubeconfig: stage.kubeconfig, meter: ({ verb }) => void verbs.push(verb) })
    await counted.resolve('apps/v1', 'Deployment')
    const asked = async (git: AnyObject) => {
      verbs.length = 0
      return [told((await would(git, { kube: counted }))?.fields), ...verbs]
    }
    assert.equal(await asked(deployment()), [[], 'get', 'patch'])
    assert.equal(await asked(deployment({ replicas: 2 })), [['/spec/replicas: 1 -> 2'], 'get', 'patch'])
    await make(DEPLOYMENTS, deployment({ minReadySeconds: 5 }), 'kustomize-controller')
    assert.equal(await asked(deployment()), [['/spec/minReadySeconds: 5 -> undefined'], 'get', 'patch', 'patch'])
    await counted.close()
  })

  it('is nothing where the manifest asks to merge', async () => {
    await make(DEPLOYMENTS, deployment({ minReadySeconds: 5 }), 'kustomize-controller')
    const git = deployment({}, {}, {}, { annotations: { 'gitops.berth.dev/apply': 'merge' } })
    const expected = ['/metadata/annotations/gitops.berth.dev~1apply: undefined -> merge']
    assert.equal(told((await would(git))?.fields), expected)
    assert.equal(told(await done(DEPLOYMENTS, git)), expected)
  })

  it('is nothing of an object that is ours already, whoever has edited it', async () => {
    await stage.applier.apply([deployment()])
    const ref = { name: 'web', namespace: stage.namespace }
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
    await createApplier(kube, stage.namespace, 'Test team-b/web').apply([deployment({ minReadySeconds: 5 })])
    const expected = ['/metadata/annotations/gitops.berth.dev~1adopt: undefined -> true', '/spec/minReadySeconds: 5 -> undefined']
    const difference = await would(git)
    assert.match(difference?.why ?? '', 'is kept by Test team-b/web now')
    assert.equal(told(difference?.fields), expected)
    assert.equal(told(await done(DEPLOYMENTS, git)), expected)

    await kube.delete(DEPLOYMENTS, { name: 'web', namespace: stage.namespace })
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
