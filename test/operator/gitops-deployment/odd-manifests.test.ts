import * as assert from 'uvu/assert'
import {
  ConfigMaps,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  conditionOf,
  type FieldSchema,
} from '../../../src/api/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const LONG = 'x'.repeat(60_000)

/** Each as the file deploy/odd.yaml, and a part of what is said of it. */
const ODD: [yaml: string, why: RegExp][] = [
  ['{apiVersion: v1, kind: ConfigMap, metadata: {name: odd, namespace: 5}}', /odd\.yaml:1\) has metadata\.namespace 5/],
  ['{apiVersion: v1, kind: ConfigMap, metadata: {name: odd, labels: [a]}}', /odd\.yaml:1\) has metadata\.labels \["a"\]/],
  ['{apiVersion: v1, kind: ConfigMap}', /ConfigMap \S+\/\(no name\) \(deploy\/odd\.yaml:1\) has no metadata/],
  ['{apiVersion: v1, kind: ConfigMap, metadata: {name: [odd]}}', /odd\.yaml:1\) has a metadata\.name that is no text: \["odd"\]/],
  [
    '{apiVersion: v1, kind: Secret, metadata: {name: odd}, stringData: {a: 5}}',
    /odd\.yaml:1\) has a stringData\.a that is a number/,
  ],
  ['{apiVersion: v1, kind: Secret, metadata: {name: odd}, sops: {mac: x}}', /odd\.yaml:1\) is encrypted with SOPS/],
  ['{apiVersion: v1 x, kind: ConfigMap, metadata: {name: odd}}', /odd\.yaml:1\) has apiVersion "v1 x"/],
  [
    '{apiVersion: v1, kind: ConfigMap, metadata: {name: odd, annotations: {gitops.berth.dev/depends-on: 5}}}',
    /odd\.yaml:1\) has metadata\.annotations gitops\.berth\.dev\/depends-on: 5/,
  ],
  [
    '{apiVersion: v1, kind: ConfigMap, metadata: {name: odd, annotations: {gitops.berth.dev/prun: confirm}}}',
    /odd\.yaml:1\) is annotated gitops\.berth\.dev\/prun, which asks for nothing; did you mean gitops\.berth\.dev\/prune\?/,
  ],
  [`{apiVersion: v1, kind: ConfigMap, metadata: {name: ${LONG}}}`, /odd\.yaml:1\) has metadata\.name "x+…, which names nothing/],
  [`{apiVersion: v1, kind: ${LONG}, metadata: {name: odd}}`, /odd\.yaml:1\) has kind "x+…, which names nothing/],
  [
    `{apiVersion: v1, kind: ConfigMap, metadata: {name: odd, annotations: {gitops.berth.dev/prune: ${LONG}}}}`,
    /odd\.yaml:1\) is annotated gitops\.berth\.dev\/prune: "x+…"; write disabled or confirm/,
  ],
]

describe('what Git may hold', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage

  it.beforeEach(async () => {
    stage = await openStage(cluster, { role: 'cluster-admin' })
    await stage.deploy()
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  it('is in effect but for an odd object, which is told; what is in effect is kept so', async () => {
    for (const [index, [yaml, why]] of ODD.entries()) {
      await stage.git.push({ 'deploy/odd.yaml': yaml, 'deploy/good.yaml': configMap('good', { n: String(index) }) })
      await eventually(async () => (await stage.configMap('good'))?.data?.n === String(index))
      await eventually(async () => {
        const { conditions } = await stage.status()
        const { reason, message = '' } = conditionOf(conditions, 'Ready') ?? {}
        assert.is(reason, 'SyncFailed')
        assert.match(message, why)
        return true
      })
    }
    await kube.patch(ConfigMaps, { name: 'good', namespace: stage.namespace }, { data: { n: 'edited' } })
    await eventually(async () => (await stage.configMap('good'))?.data?.n === String(ODD.length - 1))
    await stage.synced(await stage.git.push({ 'deploy/good.yaml': configMap('good', { n: 'mended' }) }))
  })

  it('is refused by its id where it cannot be read; the one before stays in effect meanwhile', async () => {
    const good = configMap('good', { n: '1' })
    const first = await stage.git.push({ 'deploy/good.yaml': good })
    await stage.synced(first)
    const unreadable = [
      ['{apiVersion: v1, metadata: {name: odd}}', 'RenderFailed', /deploy\/odd\.yaml:1: document 1 has no kind/],
      [`# ${'x'.repeat(5 * 2 ** 20)}`, 'FileTooLarge', /deploy\/odd\.yaml: is larger than \d+ bytes\. /],
    ] as const
    for (const [text, reason, why] of unreadable) {
      const commit = await stage.git.push({ 'deploy/odd.yaml': text, 'deploy/good.yaml': configMap('good', { n: '2' }) })
      const { message } = await stage.complains(reason)
      assert.match(message, `commit ${commit.slice(0, 12)}: `)
      assert.match(message, why)
      await kube.patch(ConfigMaps, { name: 'good', namespace: stage.namespace }, { data: { n: 'edited' } })
      await eventually(async () => (await stage.configMap('good'))?.data?.n === '1')
      await stage.complains(reason)
    }
    await stage.synced(await stage.git.push({ 'deploy/good.yaml': good }))
  })

  it('is wholly in effect where templates left nothing behind the name of a field', async () => {
    const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: bare\n  annotations:\n  labels:\n'
    await stage.synced(await stage.git.push({ 'deploy/bare.yaml': yaml }))
    assert.ok(await stage.configMap('bare'))
  })

  it('keeps an object whose manifest moves to another group that serves it, too', async () => {
    const said = { reason: 'Tested', type: 'Normal', eventTime: '2030-01-01T00:00:00.000000Z', action: 'Test' }
    const about = { kind: 'Pod', name: 'p', namespace: stage.namespace, apiVersion: 'v1' }
    const from = { reportingComponent: 'example.com/test', reportingInstance: 'a' }
    const core = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e' },
      involvedObject: about,
      message: 'm',
      ...from,
      ...said,
    }
    const events = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'e' },
      regarding: about,
      note: 'm',
      reportingController: from.reportingComponent,
      reportingInstance: 'a',
      ...said,
    }
    const others = Object.fromEntries(['a', 'b', 'c'].map((name) => [`deploy/${name}.yaml`, configMap(name)]))
    const uid = async () => {
      const path = `/api/v1/namespaces/${stage.namespace}/events/e`
      return (await kube.read<{ metadata: { uid: string } }>(path)).metadata.uid
    }
    await stage.synced(await stage.git.push({ 'deploy/e.json': core, ...others }))
    const before = await uid()
    await stage.synced(await stage.git.push({ 'deploy/e.json': events, ...others }))
    assert.is(await uid(), before)
    assert.match((await stage.events('Kept')).join(), `Event ${stage.namespace}/e is the same object as Event.events.k8s.io`)
    // It is ours under its new name, and goes with its manifest.
    await stage.synced(await stage.git.push(others))
    await eventually(() =>
      uid().then(
        () => false,
        () => true,
      ),
    )
  })

  it('gives an object fields that only the newer version of its kind has', async () => {
    const group = `${stage.namespace}.example.com`
    const schema = (properties: Record<string, FieldSchema>): { openAPIV3Schema: FieldSchema } => ({
      openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
    })
    const text = { type: 'string' }
    const definition: CustomResourceDefinition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `gadgets.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget' },
        versions: [
          { name: 'v1alpha1', served: true, storage: false, schema: schema({ a: text }) },
          { name: 'v1', served: true, storage: true, schema: schema({ a: text, b: text }) },
        ],
      },
    }
    const gadget = (version: string, fields: object) => ({
      'deploy/gadget.json': { apiVersion: `${group}/${version}`, kind: 'Gadget', metadata: { name: 'x' }, spec: fields },
    })
    const spec = async () => (await kube.read<{ spec: object }>(`/apis/${group}/v1/namespaces/${stage.namespace}/gadgets/x`)).spec
    await kube.create(CustomResourceDefinitions, definition)
    await stage.synced(await stage.git.push(gadget('v1alpha1', { a: '1' })))
    await stage.synced(await stage.git.push(gadget('v1', { a: '1', b: '2' })))
    assert.equal(await spec(), { a: '1', b: '2' })
    await stage.synced(await stage.git.push(gadget('v1', { b: '2' })))
    assert.equal(await spec(), { b: '2' })
    await kube.delete(CustomResourceDefinitions, { name: definition.metadata.name })
  })
})
