import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { connect, createCaches, type Kube, requestToken } from '../../../src/adapters/kube/index.ts'
import { type ConfigMap, ConfigMaps, CustomResourceDefinitions, type KubeObject } from '../../../src/api/index.ts'
import { Failure, isFailure, silentLog, systemClock } from '../../../src/std/index.ts'
import { answeringServer } from '../../support/builders/strange-server.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { kubeconfigFor } from '../../support/targets.ts'
import { eventually } from '../../support/verbs.ts'

const configMap = (namespace: string, name: string, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
})

async function* nothing(): AsyncIterable<string> {
  // A watch that is over.
}

describe('the API client and its caches', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let namespace = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('client')
  })
  it.after(() => cluster.close())

  const failureOf = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (thrown: unknown) => (isFailure(thrown) ? thrown : undefined),
    )

  it('names the object and tells refusals apart', async () => {
    await kube.create(ConfigMaps, configMap(namespace, 'a'))
    assert.is(await kube.get(ConfigMaps, { name: 'nobody', namespace }), undefined)
    const again = await failureOf(kube.create(ConfigMaps, configMap(namespace, 'a')))
    assert.is(again?.code, 'already-exists')
    assert.match(again?.message ?? '', `ConfigMap ${namespace}/a`)
    const stale = kube.patch(ConfigMaps, { name: 'a', namespace }, { metadata: { resourceVersion: '1' }, data: { x: 'y' } })
    assert.is((await failureOf(stale))?.code, 'conflict')
    assert.is((await failureOf(kube.delete(ConfigMaps, { name: 'a', namespace }, { uid: 'another' })))?.code, 'conflict')
    assert.is((await failureOf(kube.as({ user: 'nobody' }).get(ConfigMaps, { name: 'a', namespace })))?.code, 'forbidden')
    assert.is(await kube.delete(ConfigMaps, { name: 'nobody', namespace }), 'absent')
  })

  it('takes nothing for an object that no object can be called: not what would be all of them, nor what would be another resource', async () => {
    await kube.create(ConfigMaps, configMap(namespace, 'a'))
    for (const name of ['', '.', '..', 'a/b', '../a', '%61', '../../configmaps/a']) {
      assert.is(await kube.get(ConfigMaps, { name, namespace }), undefined)
      assert.is(await kube.delete(ConfigMaps, { name, namespace }), 'absent')
      const changed = [
        kube.patch(ConfigMaps, { name, namespace }, { data: { x: 'y' } }),
        kube.apply(ConfigMaps, configMap(namespace, name), { manager: 'test' }),
        requestToken(kube, { name, namespace }, { seconds: 600 }),
      ]
      for (const each of changed) {
        const failure = await failureOf(each)
        assert.is(failure?.code, 'not-found')
        assert.match(failure?.message ?? '', `nothing can be called ${JSON.stringify(name)}`)
      }
    }
    assert.ok(await kube.get(ConfigMaps, { name: 'a', namespace }))
    for (const work of [kube.list(ConfigMaps, { namespace: '..' }), kube.create(ConfigMaps, configMap('..', 'a'))])
      assert.is((await failureOf(work))?.code, 'not-found')
  })

  it('takes nothing for a version that none can be called, whatever stands there in the API', async () => {
    const another = `v1%2fnamespaces%2f${namespace}%2fconfigmaps`
    for (const apiVersion of [
      '',
      '.',
      '..',
      './v1',
      'v1?',
      'v1%3f',
      another,
      another.replaceAll('%2f', '/'),
      'Apps/v1',
      'apps//v1',
    ])
      for (const kind of ['ConfigMap', 'Deployment']) assert.is(await kube.resolve(apiVersion, kind), undefined, apiVersion)
    assert.is((await kube.resolve('apps/v1', 'Deployment'))?.plural, 'deployments')
  })

  it("takes nothing for a kind that a stranger's server only seems to name", async () => {
    const resources = [{ kind: 'Widget', name: 'widgets', namespaced: true }, { kind: 'Gadget' }, { name: 'gadgets' }, null, 7]
    const answers = [{ resources }, {}, { resources: null }, { resources: 'none' }]
    const server = await answeringServer((_, response) => response.end(JSON.stringify(answers.shift())))
    const folder = await mkdtemp(join(tmpdir(), 'berth-strange-'))
    const kubeconfig = join(folder, 'kubeconfig')
    const config = JSON.parse(kubeconfigFor(server.url))
    config.clusters[0].cluster['insecure-skip-tls-verify'] = true
    await writeFile(kubeconfig, JSON.stringify(config))
    const strange = connect({ kubeconfig })
    assert.is((await strange.resolve('example.com/v1', 'Widget'))?.plural, 'widgets')
    for (let at = 1; at < 4; at++) assert.is(await strange.resolve(`example.com/v${at + 1}`, 'Gadget'), undefined)
    await strange.close()
    await server.close()
    await rm(folder, { recursive: true })
  })

  it('acts as nobody rather than with its own rights where a user has no name', () => {
    for (const user of ['', ' ', '\t']) assert.throws(() => kube.as({ user }), /without a name/)
    assert.throws(() => kube.as({ user: 'a', groups: [''] }), /without a name/)
    for (const user of [' ada', 'ada\t']) assert.throws(() => kube.as({ user }), /blanks around/)
  })

  it('acts as whom it names, whatever their letters', async () => {
    interface Review {
      status: { userInfo: { username: string; groups: string[]; uid: string } }
    }
    const somebody = { user: 'jürgen-ł', groups: ['Команда', 'system:authenticated'], uid: 'ü-1' }
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const { status } = await kube.as(somebody).post<Review>('/apis/authentication.k8s.io/v1/selfsubjectreviews', review)
    const { username, groups, uid } = status.userInfo
    assert.equal({ user: username, groups, uid }, somebody)
    for (const shared of [false, true]) {
      const refused = await failureOf(kube.as(somebody).stream('/api/v1/secrets?watch=true', { shared }))
      assert.match(refused?.message ?? '', 'User "jürgen-ł"')
    }
  })

  it('tells whether a deletion is done or only begun', async () => {
    const ref = { name: 'a', namespace }
    const waiting: ConfigMap = { ...configMap(namespace, 'a'), metadata: { ...ref, finalizers: ['example.com/wait'] } }
    await kube.create(ConfigMaps, waiting)
    assert.is(await kube.delete(ConfigMaps, ref), 'terminating')
    await kube.patch(ConfigMaps, ref, { metadata: { finalizers: null } })
    await kube.create(ConfigMaps, configMap(namespace, 'b'))
    assert.is(await kube.delete(ConfigMaps, { name: 'b', namespace }), 'deleted')
  })

  it('lists no more than metadata where that is asked for', async () => {
    await kube.create(ConfigMaps, {
      ...configMap(namespace, 'a', { x: 'y' }),
      metadata: { name: 'a', namespace, labels: { l: '1' } },
    })
    const [only] = await kube.list(ConfigMaps, { namespace, labels: 'l', metadataOnly: true })
    assert.equal([only?.kind, only?.metadata.name, only?.data], ['ConfigMap', 'a', undefined])
  })

  it('lists in pages as short as is asked for', async () => {
    for (const name of ['p', 'q', 'r']) await kube.create(ConfigMaps, configMap(namespace, name, { x: 'x'.repeat(400_000) }))
    const lengths: number[] = []
    for await (const page of kube.pages(ConfigMaps, { namespace, mostBytes: 500_000 })) lengths.push(page.length)
    assert.ok(lengths.length >= 3 && Math.max(...lengths.slice(-3)) === 1, lengths.join())
  })

  it('follows CRDs that come, change and go', async () => {
    const group = `${namespace}.example.com`
    const name = `trials.${group}`
    const schema = { openAPIV3Schema: { type: 'object' } }
    const definition = (scope: 'Cluster' | 'Namespaced') => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: {
        group,
        scope,
        names: { plural: 'trials', singular: 'trial', kind: 'Trial', listKind: 'TrialList' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    })
    const apply = (scope: 'Cluster' | 'Namespaced') =>
      kube.apply(CustomResourceDefinitions, definition(scope), { manager: 'test' })
    assert.is(await kube.resolve(`${group}/v1`, 'Trial'), undefined)
    await apply('Cluster')
    const first = await eventually(() => kube.resolve(`${group}/v1`, 'Trial'))
    assert.is(first.namespaced, false)
    await kube.delete(CustomResourceDefinitions, { name })
    const refused = await eventually(async () => {
      const failure = await failureOf(kube.get(first, { name: 'x' }))
      return failure?.reason === 'KindNotServed' ? failure : undefined
    })
    assert.is(refused.message, 'Trial x: the cluster does not serve this kind')
    await eventually(async () => (await kube.get(CustomResourceDefinitions, { name })) === undefined)
    await apply('Namespaced')
    await eventually(async () => {
      await failureOf(kube.list(first))
      return (await kube.resolve(`${group}/v1`, 'Trial'))?.namespaced
    })
    await kube.delete(CustomResourceDefinitions, { name })
  })

  const watching = async (via: Kube, options: { labels?: string; metadataOnly?: boolean } = {}) => {
    const caches = createCaches({ kube: via, clock: systemClock, log: silentLog, scope: namespace })
    const cache = caches.of(ConfigMaps, options)
    const gone: string[] = []
    cache.onChange((now, before) => {
      if (!now && before) gone.push(before.metadata.name)
    })
    await caches.ready()
    return { caches, cache, gone }
  }
  const seen = (cache: { get: (ref: { name: string; namespace: string }) => KubeObject | undefined }, name: string) =>
    eventually(() => cache.get({ name, namespace }))

  it('lists in pages and keeps only metadata where that is enough', async () => {
    await kube.create(ConfigMaps, configMap(namespace, 'a', { big: 'x'.repeat(1000) }))
    const { caches, cache } = await watching(kube, { metadataOnly: true })
    const found = await seen(cache, 'a')
    assert.equal(Object.keys(found).sort(), ['apiVersion', 'kind', 'metadata'])
    assert.is('managedFields' in found.metadata, false)
    await caches.stop()
  })

  it('shares one watch among all who ask for the same', async () => {
    let watches = 0
    const counting: Kube = {
      ...kube,
      stream(path, options) {
        watches++
        return kube.stream(path, options)
      },
    }
    const { caches, cache } = await watching(counting)
    assert.is(caches.of(ConfigMaps), cache)
    await caches.ready()
    assert.is(watches, 1)
    await caches.stop()
  })

  /** The first watch ends when it is told to; what happens then, nobody hears of. */
  const interrupted = (end: Promise<Failure | undefined>, reopened: Promise<void>): Kube => {
    let count = 0
    return {
      ...kube,
      async stream(path, options) {
        if (count++ > 0) {
          await reopened
          return kube.stream(path, options)
        }
        const failure = await end
        if (failure) throw failure
        return nothing()
      },
    }
  }

  for (const [how, failure] of [
    ['ended', undefined],
    ['was too old (410)', new Failure('expired', 'too old resource version')],
    ['broke off', new Failure('unavailable', 'connection reset')],
  ] as const) {
    it(`hears of what was made and deleted while its watch ${how}`, async () => {
      await kube.create(ConfigMaps, configMap(namespace, 'before'))
      const end = Promise.withResolvers<Failure | undefined>()
      const reopened = Promise.withResolvers<void>()
      const { caches, cache, gone } = await watching(interrupted(end.promise, reopened.promise))
      await seen(cache, 'before')
      await kube.delete(ConfigMaps, { name: 'before', namespace })
      await kube.create(ConfigMaps, configMap(namespace, 'after'))
      end.resolve(failure)
      reopened.resolve()
      await seen(cache, 'after')
      await eventually(() => gone.includes('before'))
      await caches.stop()
    })
  }

  it('shows an own write at once, and only where the selector matches', async () => {
    const { caches } = await watching(kube)
    const labelled = caches.of(ConfigMaps, { labels: 'team=a' })
    await caches.ready()
    const make = (name: string, team: string) =>
      caches.kube.create(ConfigMaps, { ...configMap(namespace, name), metadata: { name, namespace, labels: { team } } })
    await make('mine', 'a')
    await make('theirs', 'b')
    assert.ok(caches.of(ConfigMaps).get({ name: 'theirs', namespace }))
    assert.ok(labelled.get({ name: 'mine', namespace }))
    assert.is(labelled.get({ name: 'theirs', namespace }), undefined)
    await caches.stop()
  })

  it('writes nothing in a dry run, and shows nothing of it', async () => {
    const { caches } = await watching(kube)
    const shown = caches.of(ConfigMaps)
    await caches.ready()
    const ref = { name: 'a', namespace }
    await caches.kube.create(ConfigMaps, configMap(namespace, 'a', { x: '1' }))
    const how = { manager: 'test', dryRun: true }
    const answers = [
      await caches.kube.patch(ConfigMaps, ref, { data: { x: '2' } }, how),
      await caches.kube.patch(ConfigMaps, ref, [{ op: 'replace', path: '/data/x', value: '2' }], how),
      await caches.kube.apply(ConfigMaps, configMap(namespace, 'a', { x: '2' }), { ...how, force: true }),
    ]
    for (const { data } of answers) assert.equal(data, { x: '2' })
    assert.equal([shown.get(ref)?.data, (await kube.get(ConfigMaps, ref))?.data], [{ x: '1' }, { x: '1' }])
    await caches.stop()
  })
})
