import { randomBytes } from 'node:crypto'
import * as assert from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import { type AnyObject, ConfigMaps } from '../../../src/api/index.ts'
import { Failure, isRecord, systemClock } from '../../../src/std/index.ts'
import { type Applier, createApplier, named, said, whyOf } from '../../support/builders/applier.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

describe('applying a set', (it) => {
  const { kube, ...cluster } = testCluster()
  let namespace = ''
  let applier: Applier
  it.beforeEach(async () => {
    namespace = await cluster.namespace('apply')
    applier = createApplier(kube, namespace)
  })
  it.after(() => cluster.close())

  const read = (path: string) => kube.read<AnyObject>(path)
  const version = async (name: string) => (await kube.get(ConfigMaps, { name, namespace }))?.metadata.resourceVersion
  const group = () => `x${randomBytes(4).toString('hex')}.example.com`
  const remove = async (object: { apiVersion: string; kind: string; metadata: { name: string } }) => {
    const kind = await kube.resolve(object.apiVersion, object.kind)
    if (kind) await kube.delete(kind, { name: object.metadata.name })
  }

  it('creates namespaces and CRDs first, webhooks last, whatever the order of the manifests', async () => {
    const own = group()
    const name = `${namespace}-made`
    const set = [
      webhook(`hook.${own}`),
      widget(own, 'w'),
      configMap('in-it', {}, name),
      definition(own),
      named('Namespace', name),
    ]
    const entries = await applier.apply(set)
    assert.equal(said(entries), [
      `CustomResourceDefinition widgets.${own} created`,
      `Namespace ${name} created`,
      'ConfigMap in-it created',
      'Widget w created',
      `ValidatingWebhookConfiguration hook.${own} created`,
    ])
    for (const object of [webhook(`hook.${own}`), definition(own), named('Namespace', name)]) await remove(object)
  })

  it('changes no resourceVersion when nothing changed, and one when one object changed', async () => {
    const set = (x: string) => ['a', 'b', 'c'].map((name) => configMap(name, { x: name === 'b' ? x : '1' }))
    await applier.apply(set('1'))
    const before = await Promise.all(['a', 'b', 'c'].map(version))
    assert.equal(said(await applier.apply(set('1'))), ['ConfigMap a unchanged', 'ConfigMap b unchanged', 'ConfigMap c unchanged'])
    assert.equal(await Promise.all(['a', 'b', 'c'].map(version)), before)
    assert.equal(said(await applier.apply(set('2'))), [
      'ConfigMap a unchanged',
      'ConfigMap b configured',
      'ConfigMap c unchanged',
    ])
    assert.equal([await version('a'), await version('c')], [before[0], before[2]])
  })

  it('removes a key that left the manifest', async () => {
    await applier.apply([configMap('a', { x: '1', y: '1' })])
    await applier.apply([configMap('a', { x: '1' })])
    assert.equal((await kube.get(ConfigMaps, { name: 'a', namespace }))?.data, { x: '1' })
  })

  it('applies ports without protocol twice without a change', async () => {
    const service = named('Service', 's', { spec: { ports: [{ port: 80 }], selector: { app: 'a' } } })
    await applier.apply([service])
    assert.equal(said(await applier.apply([service])), ['Service s unchanged'])
  })

  it('keeps addresses that the server gave to a Service', async () => {
    const service = (more: object) => named('Service', 's', { spec: { type: 'NodePort', ports: [{ port: 80 }], ...more } })
    await applier.apply([service({})])
    const given = (await read(`/api/v1/namespaces/${namespace}/services/s`)).spec
    await applier.apply([service({ clusterIP: '', selector: { app: 'b' } })])
    const { spec } = await read(`/api/v1/namespaces/${namespace}/services/s`)
    assert.ok(isRecord(spec) && isRecord(given))
    assert.equal([spec.clusterIP, spec.ports], [given.clusterIP, given.ports])
    assert.equal(spec.selector, { app: 'b' })
  })

  it('leaves the rules of an aggregated ClusterRole to the controller that fills them', async () => {
    const name = `aggregated-${namespace}`
    const labels = { [`to-${namespace}`]: 'true' }
    const rbac = 'rbac.authorization.k8s.io/v1'
    const part = {
      ...named('ClusterRole', `${name}-part`, {}, rbac),
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    }
    const whole = {
      ...named('ClusterRole', name, {}, rbac),
      rules: [],
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] },
    }
    const set = [{ ...part, metadata: { ...part.metadata, labels } }, whole]
    await applier.apply(set)
    const path = `/apis/${rbac}/clusterroles/${name}`
    const filled = await eventually(async () => {
      const { rules } = await read(path)
      return Array.isArray(rules) && rules.length > 0 && rules
    })
    assert.is((await applier.apply(set)).at(-1)?.change, 'unchanged')
    assert.equal((await read(path)).rules, filled)
    // The whole first: its controller would make it again when a part goes.
    for (const object of [whole, part]) await remove(object)
  })

  it('drops a CA bundle that is none from the conversion of a CRD, and keeps a good one', async () => {
    const own = group()
    const with_ = (caBundle: string) => {
      const conversion = {
        strategy: 'Webhook',
        webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:9/convert', caBundle } },
      }
      return definition(own, { conversion })
    }
    const bundleIn = async () => {
      const { spec } = await read(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${own}`)
      return JSON.stringify(isRecord(spec) ? spec.conversion : {}).includes('caBundle')
    }
    assert.equal(said(await applier.apply([with_('Cg==')])), [`CustomResourceDefinition widgets.${own} created`])
    assert.not(await bundleIn())
    assert.is((await applier.apply([with_(await certificate(kube))]))[0]?.change, 'configured')
    assert.ok(await bundleIn())
    await remove(definition(own))
  })

  it('applies a CRD larger than annotations may be', async () => {
    const own = group()
    const crd = definition(own, {}, 'x'.repeat(300_000))
    assert.equal(said(await applier.apply([crd])), [`CustomResourceDefinition widgets.${own} created`])
    await eventually(async () => (await applier.apply([crd]))[0]?.change === 'unchanged')
    await remove(crd)
  })

  it('applies 300 resources with their CRD in one go, and new fields with the CRD that allows them', async () => {
    const own = group()
    const names = Array.from({ length: 300 }, (_, index) => `w-${index}`)
    const first = await applier.apply([...names.map((name) => widget(own, name)), definition(own)])
    assert.equal(
      first.filter(({ change }) => change !== 'created'),
      [],
    )
    const grown = definition(own, {}, 'w', { later: { type: 'string' } })
    const second = await applier.apply([...names.map((name) => widget(own, name, { later: 'x' })), grown])
    assert.equal(
      second.filter(({ change }) => change !== 'configured'),
      [],
    )
    await remove(definition(own))
  })

  it('names the object and the namespace that is missing', async () => {
    const entries = await applier.apply([configMap('a', {}, 'berth-nowhere'), configMap('b')])
    assert.equal(said(entries), ['ConfigMap a failed', 'ConfigMap b created'])
    assert.match(whyOf(entries, 'a'), /namespaces "berth-nowhere" not found/)
  })

  it('goes on with other kinds when an aggregated API does not answer', async () => {
    const own = group()
    const service = named('APIService', `v1.${own}`, { spec: apiServiceSpec(own, namespace) }, 'apiregistration.k8s.io/v1')
    const set = [named('Gadget', 'g', {}, `${own}/v1`), service, configMap('a')]
    const entries = await applier.apply(set)
    assert.equal(said(entries).sort(), [`APIService v1.${own} created`, 'ConfigMap a created', 'Gadget g waiting'])
    const again = await applier.apply([named('Gadget', 'g', {}, `${own}/v1`), configMap('a')])
    assert.equal(said(again), ['Gadget g failed', 'ConfigMap a unchanged'])
    await remove(service)
  })

  it('tries again when the server asks for patience, and gives up within bounds', async () => {
    let asked = 0
    const busy = (times: number): Partial<Kube> => ({
      apply: (kind, object, how) => {
        if (asked++ < times) return Promise.reject(new Failure('unavailable', 'too many requests', { retryAfter: 100 }))
        return kube.apply(kind, object, how)
      },
    })
    assert.equal(said(await applier.apply([configMap('a')], { kube: { ...kube, ...busy(2) } })), ['ConfigMap a created'])
    assert.is(asked, 3)
    asked = 0
    const entries = await applier.apply([configMap('b')], { kube: { ...kube, ...busy(1000) } })
    assert.equal(said(entries), ['ConfigMap b failed'])
    assert.is(asked, 5)
  })

  it('gives each failing object its own entry and goes on with the others', async () => {
    const codes = ['conflict', 'invalid', 'unavailable', 'timeout', 'forbidden', 'internal'] as const
    const failing: Partial<Kube> = {
      apply: (kind, object, how) => {
        const code = codes.find((word) => word === object.metadata.name)
        return code ? Promise.reject(new Failure(code, `answers ${code}`)) : kube.apply(kind, object, how)
      },
    }
    const entries = await applier.apply([...codes.map((name) => configMap(name)), configMap('good')], {
      kube: { ...kube, ...failing },
    })
    assert.equal(said(entries), [...codes.map((name) => `ConfigMap ${name} failed`), 'ConfigMap good created'])
  })

  it('goes on when a webhook that nobody serves keeps objects of one kind away', async () => {
    const name = `nobody.${namespace}`
    const hook = {
      name: 'nobody.example.com',
      clientConfig: { url: 'https://127.0.0.1:1/' },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      timeoutSeconds: 1,
    }
    await applier.apply([{ ...webhook(name), webhooks: [hook] }])
    const other = createApplier(kube, namespace)
    const entries = await eventually(async () => {
      const seen = await other.apply([configMap(`c-${randomBytes(3).toString('hex')}`), named('Secret', 's')])
      return seen[0]?.change === 'failed' && seen
    })
    assert.match(entries[0]?.why ?? '', 'failed calling webhook')
    assert.is.not(entries[1]?.change, 'failed')
    await remove(webhook(name))
  })

  it('stops asking a server that does not answer', async () => {
    let now = 0
    let asked = 0
    const dead: Partial<Kube> = {
      apply: () => {
        asked++
        now += 30_000
        return Promise.reject(new Failure('timeout', 'did not answer'))
      },
    }
    const set = Array.from({ length: 200 }, (_, index) => configMap(`c-${index}`))
    const entries = await applier.apply(set, { clock: { now: () => now, after: systemClock.after }, kube: { ...kube, ...dead } })
    assert.ok(asked <= 20, `${asked} requests`)
    assert.ok(entries.every(({ change }) => change === 'failed'))
    assert.match(entries.at(-1)?.why ?? '', /was not tried/)
  })

  it('ends at once when it is told to, in the midst of a large set and of a pause', async () => {
    const stop = new AbortController()
    let asked = 0
    const set = Array.from({ length: 200 }, (_, index) => configMap(`c-${index}`))
    const counting: Partial<Kube> = {
      apply: (kind, object, how) => {
        if (++asked === 20) stop.abort()
        return kube.apply(kind, object, how)
      },
    }
    const ended = await applier
      .apply(set, { signal: stop.signal, kube: { ...kube, ...counting } })
      .catch((thrown: unknown) => thrown)
    assert.is(Failure.from(ended).code, 'cancelled')
    assert.ok(asked < 60, `${asked} requests`)
    const again = new AbortController()
    const busy: Partial<Kube> = {
      apply: () => {
        setImmediate(() => again.abort())
        return Promise.reject(new Failure('unavailable', 'too many requests', { retryAfter: 9000 }))
      },
    }
    const began = systemClock.now()
    await applier.apply([configMap('a')], { signal: again.signal, kube: { ...kube, ...busy } }).catch(() => undefined)
    assert.ok(systemClock.now() - began < 8000)
  })

  it('refuses a word of ours that means nothing', async () => {
    const object = configMap('a')
    const annotations = { 'gitops.berth.dev/apply': 'maybe' }
    const entries = await applier.apply([{ ...object, metadata: { ...object.metadata, annotations } }])
    assert.match(whyOf(entries, 'a'), /write merge or if-not-present or ignore/)
  })

  it('waits with an object that is being deleted', async () => {
    const held = { ...configMap('a', { x: '1' }), metadata: { name: 'a', finalizers: ['example.com/wait'] } }
    await applier.apply([held])
    await kube.delete(ConfigMaps, { name: 'a', namespace })
    const entries = await applier.apply([held])
    assert.equal(said(entries), ['ConfigMap a waiting'])
    assert.match(whyOf(entries, 'a'), /is being deleted since .*example\.com\/wait/)
    await kube.patch(ConfigMaps, { name: 'a', namespace }, { metadata: { finalizers: null } })
    assert.equal(said(await applier.apply([configMap('a')])), ['ConfigMap a created'])
  })
})

function definition(group: string, spec: object = {}, description = 'w', more: object = {}) {
  const properties = { size: { type: 'integer' }, ...more }
  const openAPIV3Schema = { type: 'object', description, properties: { spec: { type: 'object', properties } } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Widget', plural: 'widgets' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
      ...spec,
    },
  }
}

const widget = (group: string, name: string, spec: object = {}) =>
  named('Widget', name, { spec: { size: 1, ...spec } }, `${group}/v1`)

const webhook = (name: string) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name },
  webhooks: [],
})

const apiServiceSpec = (group: string, namespace: string) => ({
  group,
  version: 'v1',
  groupPriorityMinimum: 1000,
  versionPriority: 10,
  insecureSkipTLSVerify: true,
  service: { name: 'nobody', namespace },
})

/** A CA as the cluster itself hands it out. */
async function certificate(kube: Kube): Promise<string> {
  const root = await kube.get(ConfigMaps, { name: 'kube-root-ca.crt', namespace: 'default' })
  return Buffer.from(root?.data?.['ca.crt'] ?? '').toString('base64')
}
