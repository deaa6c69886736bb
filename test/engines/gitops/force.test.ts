import * as assert from 'uvu/assert'
import type { AnyObject } from '../../../src/api/index.ts'
import { immutableFieldsIn } from '../../../src/engines/gitops/apply/recreate.ts'
import { Failure } from '../../../src/std/index.ts'
import { type Applier, createApplier, named, said, whyOf } from '../../support/builders/applier.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const FORCE = { annotations: { 'gitops.berth.dev/force': 'true' } }

const secret = (value: string, metadata: object = {}) => ({
  ...named('Secret', 's'),
  metadata: { name: 's', ...metadata },
  immutable: true,
  data: { key: Buffer.from(value).toString('base64') },
})

const ANSWERS: [why: string, code: 'invalid' | 'conflict', reason: string, cause: object, proven: boolean][] = [
  [
    'a selector',
    'invalid',
    'Invalid',
    { reason: 'FieldValueInvalid', message: 'Invalid value: {"a":"b"}: field is immutable' },
    true,
  ],
  ['a role', 'invalid', 'Invalid', { reason: 'FieldValueInvalid', message: 'Invalid value: {}: cannot change roleRef' }, true],
  [
    'a StatefulSet',
    'invalid',
    'Invalid',
    {
      reason: 'FieldValueForbidden',
      message: "Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden",
    },
    true,
  ],
  [
    'an address',
    'invalid',
    'Invalid',
    { reason: 'FieldValueInvalid', message: 'Invalid value: "1": may not change once set' },
    true,
  ],
  ['a wrong value', 'invalid', 'Invalid', { reason: 'FieldValueNotSupported', message: 'Unsupported value: "immutable"' }, false],
  [
    'the user wrote the word himself',
    'invalid',
    'Invalid',
    { reason: 'FieldValueInvalid', message: 'Invalid value: "field is immutable": must be a number' },
    false,
  ],
  ['a missing field', 'invalid', 'Invalid', { reason: 'FieldValueRequired', message: 'Required value: immutable' }, false],
  ['a bad request', 'invalid', 'BadRequest', { reason: 'FieldValueInvalid', message: 'field is immutable' }, false],
  ['a conflict', 'conflict', 'Invalid', { reason: 'FieldValueInvalid', message: 'field is immutable' }, false],
]

describe('the proof that a field cannot be changed', (it) => {
  it('is a 422 whose causes say so, and nothing else', () => {
    for (const [why, code, reason, cause, proven] of ANSWERS) {
      const failure = new Failure(code, 'refused', { reason, cause: { details: { causes: [{ field: 'spec.x', ...cause }] } } })
      assert.equal(immutableFieldsIn(failure), proven ? ['spec.x'] : undefined, why)
    }
  })
})

describe('force', (it) => {
  const { kube, ...cluster } = testCluster()
  let namespace = ''
  let applier: Applier
  it.beforeEach(async () => {
    namespace = await cluster.namespace('force')
    applier = createApplier(kube, namespace)
  })
  it.after(() => cluster.close())
  const read = (path: string, root = '/api/v1') => kube.read<AnyObject>(`${root}/namespaces/${namespace}/${path}`)
  const uidOf = async (path: string, root?: string) => (await read(path, root)).metadata.uid

  it('names the field that cannot be changed, and what to do, when it is not asked for', async () => {
    await applier.apply([secret('one')])
    const uid = await uidOf('secrets/s')
    const entries = await applier.apply([secret('two'), configMap('other')])
    assert.equal(said(entries), ['ConfigMap other created', 'Secret s failed'])
    assert.match(whyOf(entries, 's'), /ImmutableField.*data.*gitops\.berth\.dev\/force: "true"/)
    assert.not.match(whyOf(entries, 's'), Buffer.from('two').toString('base64'))
    assert.is(await uidOf('secrets/s'), uid)
  })

  it('makes an immutable Secret anew', async () => {
    await applier.apply([secret('one')])
    const uid = await uidOf('secrets/s')
    const entries = await applier.apply([secret('two')], { force: true })
    assert.equal(said(entries), ['Secret s configured'])
    assert.match(whyOf(entries, 's'), 'made anew, for data cannot be changed')
    assert.is.not(await uidOf('secrets/s'), uid)
    assert.equal((await read('secrets/s')).data, secret('two').data)
    assert.is(entries[0]?.uid, await uidOf('secrets/s'))
  })

  it('makes a RoleBinding anew whose role changed', async () => {
    const rbac = 'rbac.authorization.k8s.io'
    const binding = (role: string) => ({
      ...named('RoleBinding', 'b', {}, `${rbac}/v1`),
      roleRef: { apiGroup: rbac, kind: 'Role', name: role },
      subjects: [],
    })
    await applier.apply([binding('one')])
    assert.match(
      whyOf(await applier.apply([binding('two')]), 'b'),
      'roleRef cannot be changed once the object exists (immutable)',
    )
    assert.equal(said(await applier.apply([binding('two')], { force: true })), ['RoleBinding b configured'])
    assert.equal((await read('rolebindings/b', `/apis/${rbac}/v1`)).roleRef, binding('two').roleRef)
  })

  it('makes a StatefulSet anew', async () => {
    const set = (serviceName: string) => ({
      ...named('StatefulSet', 's', {}, 'apps/v1'),
      spec: {
        serviceName,
        replicas: 0,
        selector: { matchLabels: { app: 's' } },
        template: {
          metadata: { labels: { app: 's' } },
          spec: { containers: [{ name: 'c', image: 'registry.example.com/none:1' }] },
        },
      },
    })
    await applier.apply([set('one')])
    assert.equal(said(await applier.apply([set('two')], { force: true })), ['StatefulSet s configured'])
  })

  it('leaves the object alone when the new content is simply wrong', async () => {
    const service = (type: string) => named('Service', 'web', { spec: { type, ports: [{ port: 80 }] } })
    await applier.apply([service('ClusterIP')])
    const uid = await uidOf('services/web')
    const entries = await applier.apply([service('ClusterIPSS')], { force: true })
    assert.equal(said(entries), ['Service web failed'])
    assert.is(await uidOf('services/web'), uid)
  })

  it('leaves the object alone when the new one would be refused', async () => {
    await applier.apply([secret('one')])
    const uid = await uidOf('secrets/s')
    const entries = await applier.apply([{ ...secret('two'), type: 'kubernetes.io/tls' }], { force: true })
    assert.equal(said(entries), ['Secret s failed'])
    assert.is(await uidOf('secrets/s'), uid)
  })

  it('makes a Service anew that keeps its port on the nodes', async () => {
    const service = (more: object) => named('Service', 'web', { spec: { type: 'NodePort', ports: [{ port: 80 }], ...more } })
    await applier.apply([service({})])
    const { spec } = await read('services/web')
    const { clusterIP, ports } = JSON.parse(JSON.stringify(spec))
    const other = clusterIP.replace(/\d+$/, (last: string) => String((Number(last) + 101) % 250))
    const entries = await applier.apply([service({ clusterIP: other, ports })], { force: true })
    assert.equal(said(entries), ['Service web configured'])
    assert.match(JSON.stringify((await read('services/web')).spec), `"clusterIP":"${other}"`)
  })

  it('reaches only the object that is annotated', async () => {
    const both = (x: string) => [secret(x, FORCE), { ...secret(x), metadata: { name: 't' } }]
    await applier.apply(both('one'))
    const [s, t] = [await uidOf('secrets/s'), await uidOf('secrets/t')]
    assert.equal(said(await applier.apply(both('two'))), ['Secret s configured', 'Secret t failed'])
    assert.is.not(await uidOf('secrets/s'), s)
    assert.is(await uidOf('secrets/t'), t)
  })

  it('needs the word of a volume claim itself, for a claim holds data', async () => {
    const claim = (mode: string, metadata: object = {}) => ({
      ...named('PersistentVolumeClaim', 'c'),
      metadata: { name: 'c', ...metadata },
      spec: { accessModes: [mode], storageClassName: 'none', resources: { requests: { storage: '1Gi' } } },
    })
    await applier.apply([claim('ReadWriteOnce')])
    const uid = await uidOf('persistentvolumeclaims/c')
    assert.equal(said(await applier.apply([claim('ReadWriteMany')], { force: true })), ['PersistentVolumeClaim c failed'])
    assert.is(await uidOf('persistentvolumeclaims/c'), uid)
    const [entry] = await applier.apply([claim('ReadWriteMany', FORCE)])
    assert.ok(entry?.change === 'configured' || entry?.change === 'waiting', entry?.why)
  })

  it('never makes a CRD anew, for its resources would go with it', async () => {
    const group = `x${namespace.slice(-8)}.example.com`
    const crd = (scope: string) => ({
      ...named('CustomResourceDefinition', `things.${group}`, {}, 'apiextensions.k8s.io/v1'),
      metadata: { name: `things.${group}`, ...FORCE },
      spec: {
        group,
        scope,
        names: { kind: 'Thing', plural: 'things' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    })
    await applier.apply([crd('Namespaced')])
    await eventually(() => kube.resolve(`${group}/v1`, 'Thing'))
    const entries = await applier.apply([crd('Cluster')], { force: true })
    assert.equal(said(entries), [`CustomResourceDefinition things.${group} failed`])
    assert.match(whyOf(entries, `things.${group}`), /spec\.scope cannot be changed.*Set the field back\. It is never deleted/)
    const kind = await kube.resolve('apiextensions.k8s.io/v1', 'CustomResourceDefinition')
    if (kind) await kube.delete(kind, { name: `things.${group}` })
  })

  it('never takes an object from another sync', async () => {
    await applier.apply([secret('one')])
    const uid = await uidOf('secrets/s')
    const entries = await createApplier(kube, namespace, 'Test team-b/web').apply([secret('two', FORCE)], { force: true })
    assert.match(whyOf(entries, 's'), /is kept by Test team-a.shop.*gitops\.berth\.dev\/adopt/)
    assert.is(await uidOf('secrets/s'), uid)
  })

  it('waits without holding on when the old object takes its time to go', async () => {
    const slow = (value: string) => secret(value, { finalizers: ['example.com/wait'] })
    await applier.apply([slow('one')])
    const first = await applier.apply([slow('two')], { force: true })
    assert.equal(said(first), ['Secret s waiting'])
    assert.match(whyOf(await applier.apply([slow('two')], { force: true }), 's'), /is being deleted since .*example\.com\/wait/)
    await kube.patch(
      { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true },
      { name: 's', namespace },
      { metadata: { finalizers: null } },
    )
    assert.equal(said(await applier.apply([secret('two')], { force: true })), ['Secret s created'])
  })
})
