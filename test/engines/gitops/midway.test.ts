import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { type Kube, kubeFromSecret } from '../../../src/adapters/kube/index.ts'
import { ConfigMaps, CustomResourceDefinitions } from '../../../src/api/index.ts'
import { type Entry, type Inventory, type InventoryStore, type SyncRequest, sync } from '../../../src/engines/gitops/index.ts'
import { createRenderer, type Render } from '../../../src/engines/render/index.ts'
import { Failure, isFailure, Secret, systemClock } from '../../../src/std/index.ts'
import { deployer } from '../../support/builders/credentials.ts'
import { configMap, kubectl, snapshot } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually, expectGone } from '../../support/verbs.ts'

const said = (entries: readonly Entry[]) => entries.map(({ id, change }) => `${id.kind} ${id.name} ${change}`).sort()
const codes = (entries: readonly Entry[]) => [...new Set(entries.flatMap(({ failure }) => failure?.code ?? []))]

describe('what is taken away in the midst of a sync', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let render: Render
  let namespace = ''
  let last: Inventory | undefined
  let owner = { id: '', title: 'Test team-a/shop' }
  const inventory: InventoryStore = {
    load: () => Promise.resolve(last),
    save: (saved) => {
      last = saved
      return Promise.resolve()
    },
  }

  it.before(async () => {
    render = createRenderer({ kubectl: await kubectl() })
  })
  it.beforeEach(async () => {
    namespace = await cluster.namespace('midway')
    owner = { ...owner, id: randomUUID() }
    last = undefined
  })
  it.after(() => cluster.close())

  const run = (files: Record<string, object>, through: Kube, more: Partial<SyncRequest> = {}) =>
    sync(
      { snapshot: snapshot(files), path: '.', destination: { kube: through, namespace }, owner, inventory, ...more },
      { render, clock: systemClock },
    )

  it('the definition of some objects: they fail, the others go on, and the next sync brings all of it back', async () => {
    const group = `x${owner.id.slice(0, 8)}.example.com`
    const name = `widgets.${group}`
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    }
    const widget = (which: string, x: string) => ({ apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: which }, x })
    const files = (x: string) => ({
      'crd.yaml': definition,
      'a.yaml': widget('a', x),
      'b.yaml': widget('b', x),
      'z.yaml': configMap('z', { x }),
    })
    await run({ ...files('1'), 'old.yaml': configMap('old') }, kube)
    let gone: Promise<void> | undefined
    const takeAway = async () => {
      await kube.delete(CustomResourceDefinitions, { name })
      await expectGone(kube, CustomResourceDefinitions, { name })
      // What served the resources hears of it a moment later.
      await eventually(async () => {
        const served = await kube.read(`/apis/${group}/v1/namespaces/${namespace}/widgets`).catch(Failure.from)
        return isFailure(served, 'not-found')
      })
    }
    const losing: Kube = {
      ...kube,
      async apply(kind, object, how) {
        if (kind.kind === 'Widget') gone ??= takeAway()
        await gone
        return kube.apply(kind, object, how)
      },
    }
    const { entries } = await run(files('2'), losing)
    const [unchanged, ...rest] = said(entries)
    assert.equal(
      [unchanged, ...rest],
      ['ConfigMap z configured', `CustomResourceDefinition ${name} unchanged`, 'Widget a failed', 'Widget b failed'],
    )
    // Nothing is pruned while something is not in effect.
    assert.ok(await kube.get(ConfigMaps, { name: 'old', namespace }))
    const after = await run(files('2'), kube, { compare: 'all' })
    assert.equal(said(after.entries), [
      'ConfigMap old pruned',
      'ConfigMap z unchanged',
      `CustomResourceDefinition ${name} created`,
      'Widget a created',
      'Widget b created',
    ])
    await kube.delete(CustomResourceDefinitions, { name })
  })

  it('the credentials: what came after is told, nothing is forgotten or deleted, and the next sync goes on from there', async () => {
    const { kubeconfig, token } = await deployer(kube, namespace, { role: 'admin' })
    const open = (text: string) => kubeFromSecret(new Secret(text), { server: kube.server, reach: undefined })
    const [valid, expired] = [open(kubeconfig), open(kubeconfig.replace(token, 'expired'))]
    await run({ 'old.yaml': configMap('old') }, valid)
    let writes = 0
    const expiring: Kube = {
      ...valid,
      apply: (kind, object, how) => (writes++ === 0 ? valid : expired).apply(kind, object, how),
      get: (kind, ref, signal) => (writes === 0 ? valid : expired).get(kind, ref, signal),
      delete: (kind, ref, how) => (writes === 0 ? valid : expired).delete(kind, ref, how),
    }
    const files = { 'a.yaml': configMap('a'), 'b.yaml': configMap('b'), 'c.yaml': configMap('c') }
    const { entries } = await run(files, expiring)
    assert.equal(entries.map(({ change }) => change).sort(), ['created', 'failed', 'failed'])
    assert.equal(codes(entries), ['unauthorized'])
    assert.equal(last?.held.map(({ id }) => id.name).sort(), ['a', 'b', 'c', 'old'])
    assert.ok(await kube.get(ConfigMaps, { name: 'old', namespace }))
    const after = await run(files, valid)
    assert.equal(after.entries.map(({ change }) => change).sort(), ['created', 'created', 'pruned', 'unchanged'])
    await Promise.all([valid.close(), expired.close()])
  })
})
