import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { type AnyObject, ConfigMaps, Deployments, Namespaces } from '../../../src/api/index.ts'
import { ignoreRules } from '../../../src/engines/gitops/fields/ignore.ts'
import { kindOfAny } from '../../../src/engines/gitops/objects/context.ts'
import { Failure } from '../../../src/std/index.ts'
import { createApplier, named } from '../../support/builders/applier.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { createGadgets, deployment, takeOverStage, told } from '../../support/builders/take-over.ts'
import { describe } from '../../support/suite.ts'

const { kind: GADGETS, gadget, serve, forget } = createGadgets()
const DEPLOYMENTS = kindOfAny(Deployments)
const REF = { name: 'web' }

describe('a diff before a take-over', (it) => {
  const stage = takeOverStage(it, 'diff-as-done', { serve, forget })
  const { kube, make, would, done } = stage
  const edit = (change: object) => kube.patch(GADGETS, { ...REF, namespace: stage.namespace }, change, { manager: 'other' })

  it('leaves what others may change, where Git says nothing of it', async () => {
    const ignore = ignoreRules([{ paths: ['/spec/replicas', '/metadata/labels/theirs'] }])
    await make(DEPLOYMENTS, deployment({ replicas: 3 }, {}, {}, { labels: { a: '1', theirs: '1' } }), 'kustomize-controller')
    const expected = ['/metadata/labels/a: 1 -> undefined']
    assert.equal(told((await would(deployment(), { ignore }))?.fields), expected)
    assert.equal(told(await done(DEPLOYMENTS, deployment(), { ignore })), expected)
    assert.equal(told(await done(DEPLOYMENTS, deployment({ replicas: 1 }), { ignore })), [], 'nor where it says something later')
  })

  it('knows that a key which no schema names goes with what others have set in it', async () => {
    const [was, edited] = [{ x: { one: '1' }, y: { one: '1' } }, { x: { one: '2' } }]
    await make(GADGETS, gadget({ free: was, places: was }), 'kustomize-controller')
    await edit({ spec: { free: edited, places: edited } })
    const git = gadget({ free: { y: was.y, z: '1' }, places: { y: was.y } })
    const expected = ['/spec/free/x/one: 2 -> undefined', '/spec/free/z: undefined -> 1', '/spec/places/x/one: 2 -> undefined']
    assert.equal(told((await would(git))?.fields), expected)
    assert.equal(told(await done(GADGETS, git)), expected)
  })

  it('tells null from nothing', async () => {
    await make(GADGETS, gadget({ nul: 'x', size: 5 }), 'kustomize-controller')
    const git = gadget({ nul: null })
    const expected = ['/spec/nul: x -> null', '/spec/size: 5 -> 3']
    assert.equal(told((await would(git))?.fields), expected)
    assert.equal(told(await done(GADGETS, git)), expected)
  })

  it('refuses objects that are nested too deeply to be compared', async () => {
    const deep = (depth: number): object => (depth === 0 ? { end: '1' } : { a: deep(depth - 1) })
    await make(GADGETS, gadget({ free: deep(250), size: 5 }), 'kustomize-controller')
    const difference = await would(gadget({ free: deep(250) }))
    assert.is(difference?.would, 'refused')
    assert.match(difference?.why ?? '', 'is nested more than 200 levels deep')
  })

  it('refuses to take a label of pod security, as the sync does', async () => {
    const name = `berth-diff-${randomUUID().slice(0, 8)}`
    const enforce = { 'pod-security.kubernetes.io/enforce': 'restricted' }
    const space = (labels: object): AnyObject => named('Namespace', name, { metadata: { name, labels } })
    await kube.apply(kindOfAny(Namespaces), space(enforce), { manager: 'kustomize-controller' })
    const [refused, allowed] = [await would(space({})), await would(space({}), { podSecurityLabels: true })]
    const [entry] = await stage.applier.apply([space({})])
    assert.equal([refused?.would, entry?.change, refused?.why], ['refused', 'failed', entry?.why])
    assert.equal(told(allowed?.fields), ['/metadata/labels/pod-security.kubernetes.io~1enforce: restricted -> undefined'])
    await kube.delete(Namespaces, { name })
  })

  it('obeys the rules of a sync that follows another program', async () => {
    const web = { ...configMap('web', { x: '2' }), metadata: { name: 'web' } }
    await kube.create(
      ConfigMaps,
      { ...configMap('web', { x: '1' }), metadata: { ...REF, namespace: stage.namespace } },
      { manager: 'agentk' },
    )
    const strict = { managers: [], fromOthers: false, objection: () => new Failure('already-exists', 'is theirs') }
    const refused = await would(web, { takeOver: strict })
    const [entry] = await stage.applier.apply([web], { takeOver: strict })
    assert.equal([refused?.would, entry?.change, refused?.why], ['refused', 'failed', entry?.why])

    await createApplier(kube, stage.namespace, 'Test team-b/web').apply([web])
    const git = configMap('web', { x: '3' })
    const { why, fields } = (await would(git, { takeOver: { managers: [], fromOthers: true, objection: () => undefined } })) ?? {}
    assert.equal([why, told(fields)], [undefined, ['/data/x: 2 -> 3']])
  })

  it('takes over from a former owner even where the manifest asks to merge', async () => {
    const git = deployment({}, {}, {}, { annotations: { 'gitops.berth.dev/apply': 'merge', 'gitops.berth.dev/adopt': 'true' } })
    await createApplier(kube, stage.namespace, 'Test team-b/web').apply([deployment({ minReadySeconds: 5 })])
    const expected = [
      '/metadata/annotations/gitops.berth.dev~1adopt: undefined -> true',
      '/metadata/annotations/gitops.berth.dev~1apply: undefined -> merge',
      '/spec/minReadySeconds: 5 -> undefined',
    ]
    assert.equal(told((await would(git))?.fields), expected)
    assert.equal(told(await done(DEPLOYMENTS, git)), expected)
  })
})
