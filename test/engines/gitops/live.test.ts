import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { connect, isNewer, type Kube } from '../../../src/adapters/kube/index.ts'
import { ClusterRoles, ConfigMaps, Deployments } from '../../../src/api/index.ts'
import { createSyncMemories, type Entry, type SyncMemories, type SyncRequest, sync } from '../../../src/engines/gitops/index.ts'
import { createRenderer } from '../../../src/engines/render/index.ts'
import { pause, seconds, silentLog, systemClock } from '../../../src/std/index.ts'
import { grant } from '../../support/builders/credentials.ts'
import { inMemory } from '../../support/builders/inventory.ts'
import { configMap, kubectl, snapshot } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const web = (cpu: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'example.com/web:1', resources: { requests: { cpu } } }] },
    },
  },
})

describe('the watched states of a sync', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const asked: string[] = []
  let counted: Kube
  let memories: SyncMemories
  let namespace = ''
  let program = ''

  it.before(async () => {
    program = await kubectl()
  })
  it.beforeEach(async () => {
    namespace = await cluster.namespace('live')
    asked.length = 0
    const own = connect({ kubeconfig: cluster.kubeconfig })
    counted = noting(own, asked)
    memories = createSyncMemories({ clock: systemClock, log: silentLog })
  })
  it.afterEach(async () => {
    memories.close()
    await counted.close()
  })
  it.after(() => cluster.close())

  /** A sync that can be run again; `rings` counts how often its states had news. */
  const open = (files: Record<string, string | object>, more: Partial<SyncRequest> = {}, tenant = 'team') => {
    const owner = { id: randomUUID(), title: 'Test' }
    const state = { rings: 0 }
    const memory = memories.of(owner.id, { tenant, rules: '', ring: () => void state.rings++ })
    const inventory = inMemory()
    const render = createRenderer({ kubectl: program })
    const from = snapshot(files)
    const request: SyncRequest = {
      snapshot: from,
      path: '.',
      destination: { kube: counted, namespace },
      owner,
      inventory,
      memory,
      ...more,
    }
    const run = () => sync(request, { render, clock: systemClock })
    const line = (kind: string, name: string) => memory.states.current.get(`${kind}/${namespace}/${name}`)
    return { owner, memory, state, run, line, request, render }
  }
  const watching = () => eventually(() => asked.some((path) => path.includes('watch=true')))

  it('knows what was written without reading it, and watches from there on', async () => {
    const { run, memory, line } = open({ 'a.yaml': configMap('a'), 'b.yaml': configMap('b') })
    await run()
    assert.is(memory.states.isListing, false)
    const written = line('/ConfigMap', 'a')
    assert.equal(written?.presence === 'present' && [written.drift, written.health], [[], { status: 'Healthy' }])
    await watching()
    assert.equal(asked.filter((path) => path.startsWith('/')).length, 1, asked.join('\n'))
    assert.match(asked.join(), /configmaps\?.*watch=true.*resourceVersion=\d+/)
  })

  it('believes the watch, which told what became of a write before its answer was read', async () => {
    const state = { isLate: false }
    const late: Kube = {
      ...counted,
      async apply(kind, object, how) {
        const answer = await counted.apply(kind, object, how)
        if (state.isLate && kind.kind === 'Deployment') await eventually(() => isDone(answer.metadata.resourceVersion ?? ''))
        return answer
      },
    }
    const { run, line, request } = open({ 'web.yaml': web('1000m') }, { destination: { kube: late, namespace } })
    const deployment = () => line('apps/Deployment', 'web')
    const isDone = (version: string) => {
      const seen = deployment()
      return seen?.presence === 'present' && isNewer(seen.version, version) && seen.health.status === 'Healthy'
    }
    await run()
    await watching()
    await eventually(() => isDone(''))
    state.isLate = true
    request.snapshot = snapshot({ 'web.yaml': web('2000m') })
    await run()
    const seen = deployment()
    assert.equal(seen?.presence === 'present' && [seen.health.status, seen.drift], ['Healthy', []])
  })

  it('does not take what carries the mark of another sync for its own, and deletes nothing of it', async () => {
    const { run, line, request, render } = open({ 'a.yaml': configMap('a'), 'b.yaml': configMap('b'), 'c.yaml': configMap('c') })
    await run()
    await watching()
    await kube.patch(ConfigMaps, { name: 'b', namespace }, { metadata: { labels: { 'gitops.berth.dev/sync': 'anothers' } } })
    await eventually(() => {
      const seen = line('/ConfigMap', 'b')
      return seen?.presence === 'present' && seen.hasOtherOwner
    })
    const without = snapshot({ 'a.yaml': configMap('a') })
    const { changes, inventory } = await sync({ ...request, snapshot: without }, { render, clock: systemClock })
    assert.equal(changes.map(({ id, change }) => [id.name, change]).sort(), [
      ['b', 'skipped'],
      ['c', 'pruned'],
    ])
    assert.equal(
      inventory.held.map(({ id }) => id.name),
      ['a'],
    )
    assert.ok(await kube.get(ConfigMaps, { name: 'b', namespace }))
  })

  it('learns which field changed and by whom, and of nothing that others add', async () => {
    const { run, line, state } = open({ 'a.yaml': configMap('a', { x: '1' }) })
    await run()
    await kube.patch(ConfigMaps, { name: 'a', namespace }, { data: { other: 'field' } })
    await kube.patch(ConfigMaps, { name: 'a', namespace }, { data: { x: '2' } }, { manager: 'somebody' })
    const drifted = await eventually(() => {
      const seen = line('/ConfigMap', 'a')
      return seen?.presence === 'present' && seen.drift.length > 0 && seen
    })
    assert.equal([drifted.drift, drifted.by, state.rings], [['/data/x'], ['somebody'], 1])
    const { repairs } = await run()
    assert.equal(
      repairs.map(({ fields, by }) => [fields, by]),
      [[['/data/x'], ['somebody']]],
    )
  })

  it('learns of deletions, and makes the object again with one request', async () => {
    const { run, line } = open({ 'a.yaml': configMap('a') })
    await run()
    await kube.delete(ConfigMaps, { name: 'a', namespace })
    await eventually(() => line('/ConfigMap', 'a')?.presence === 'absent')
    asked.length = 0
    const { entries } = await run()
    assert.equal(
      entries.map(({ change }) => change),
      ['created'],
    )
    assert.equal(asked, ['apply ConfigMap a'])
  })

  it('takes no value for drift that the server writes in another way, until somebody changes it', async () => {
    const { run, line, state } = open({ 'web.yaml': web('1000m') })
    await run()
    await eventually(async () => {
      const seen = line('apps/Deployment', 'web')
      return seen?.presence === 'present' && seen.health.status === 'Healthy'
    })
    const calm = state.rings
    assert.equal((await run()).entries[0]?.change, 'unchanged')
    const cpu = '/spec/template/spec/containers/0/resources/requests/cpu'
    await kube.patch(Deployments, { name: 'web', namespace }, [{ op: 'replace', path: cpu, value: '2' }])
    await eventually(() => {
      const seen = line('apps/Deployment', 'web')
      return seen?.presence === 'present' && seen.drift.join() === cpu
    })
    assert.ok(state.rings > calm)
    assert.equal((await run()).entries[0]?.change, 'configured')
  })

  it('costs no request when all is as it was', async () => {
    const { run } = open({ 'a.yaml': configMap('a'), 'web.yaml': web('1') })
    await run()
    await eventually(() => asked.filter((path) => path.includes('watch=true')).length === 2)
    asked.length = 0
    for (let pass = 0; pass < 3; pass++) await run()
    assert.equal(asked, [])
  })

  it('shares a watch with the other syncs of the same identity, and ends it with the last', async () => {
    const first = open({ 'a.yaml': configMap('a') })
    const second = open({ 'b.yaml': configMap('b') })
    await first.run()
    await watching()
    await second.run()
    assert.is(memories.watches, 1)
    await kube.patch(ConfigMaps, { name: 'b', namespace }, { metadata: { labels: { x: 'y' } }, data: { z: '1' } })
    await kube.delete(ConfigMaps, { name: 'b', namespace })
    await eventually(() => second.line('/ConfigMap', 'b')?.presence === 'absent')
    assert.is(first.state.rings, 0)
    memories.end(first.owner.id)
    assert.is(memories.watches, 1)
    memories.end(second.owner.id)
    assert.is(memories.watches, 0)
  })

  it('is told everything that is there when it comes late to a watch', async () => {
    const first = open({ 'a.yaml': configMap('a') })
    const second = open({ 'b.yaml': configMap('b') })
    await second.run()
    memories.end(second.owner.id)
    await kube.delete(ConfigMaps, { name: 'b', namespace })
    await first.run()
    await watching()
    const rings = { count: 0 }
    const memory = memories.of(second.owner.id, { tenant: 'team', rules: '', ring: () => void rings.count++ })
    const run = () => sync({ ...second.request, memory }, { render: second.render, clock: systemClock })
    assert.is((await run()).isListing, true)
    await eventually(() => rings.count > 0)
    assert.equal(
      (await run()).entries.map(({ change }) => change),
      ['created'],
    )
    assert.is(memories.watches, 1)
  })

  it('reads each interval where the tenant may not watch', async () => {
    const name = `no-watch-${namespace}`
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'create', 'patch', 'update'] }]
    await kube.create(ClusterRoles, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name },
      rules,
    })
    await grant(kube, namespace, 'default', name)
    const tenant = counted.as({ user: `system:serviceaccount:${namespace}:default` })
    const { run, state, memory, request, render } = open(
      { 'a.yaml': configMap('a', { x: '1' }) },
      { destination: { kube: tenant, namespace } },
    )
    await eventually(async () => (await run()).entries[0]?.change === 'unchanged')
    await eventually(() => state.rings > 0)
    await eventually(() => memories.watches === 0)
    await kube.patch(ConfigMaps, { name: 'a', namespace }, { data: { x: '2' } })
    assert.equal((await run()).entries[0]?.change, 'unchanged')
    assert.is(memory.states.isListing, false)
    const { entries } = await sync({ ...request, compare: true }, { render, clock: systemClock })
    assert.equal(entries[0]?.change, 'configured')
    await kube.delete(ClusterRoles, { name })
  })

  it('watches as soon as a tenant that had no rights at first could write', async () => {
    const tenant = counted.as({ user: `system:serviceaccount:${namespace}:default` })
    const destination = { kube: tenant, namespace }
    const { run, state, line } = open({ 'a.yaml': configMap('a', { x: '1' }) }, { destination })
    assert.equal((await run()).entries[0]?.change, 'failed')
    await eventually(() => state.rings > 0)
    assert.is(memories.watches, 0)
    await grant(kube, namespace, 'default', 'edit')
    await eventually(async () => (await run()).entries[0]?.change === 'created')
    await kube.patch(ConfigMaps, { name: 'a', namespace }, { data: { x: '2' } })
    await eventually(() => {
      const seen = line('/ConfigMap', 'a')
      return seen?.presence === 'present' && seen.drift.join() === '/data/x'
    })
    assert.equal((await run()).entries[0]?.change, 'configured')
  })

  it('reads each interval beyond the cap on watches', async () => {
    memories.close()
    memories = createSyncMemories({ clock: systemClock, log: silentLog, mostWatches: 1 })
    const { run, memory, request, render } = open({ 'a.yaml': configMap('a'), 'web.yaml': web('1') })
    const { inventory } = await run()
    assert.is(memories.watches, 1)
    const unwatched = memory.states.unwatched(inventory.held)
    assert.is(unwatched.length, 1)
    const [one] = unwatched
    const kind = one?.id.kind === 'ConfigMap' ? ConfigMaps : Deployments
    await pause(systemClock, seconds(0.3))
    await kube.delete(kind, { name: one?.id.name ?? '', namespace })
    await pause(systemClock, seconds(0.5))
    assert.equal(
      (await run()).entries.map(({ change }) => change),
      ['unchanged', 'unchanged'],
    )
    const { entries } = await sync({ ...request, compare: true }, { render, clock: systemClock })
    assert.equal(entries.map(({ change }) => change).sort(), ['created', 'unchanged'])
  })

  it('sets back at a pace what is changed again and again, and says what has to wait', async () => {
    memories.close()
    memories = createSyncMemories({ clock: systemClock, log: silentLog, repairs: { burst: 2, perSecond: 1 } })
    const files = Object.fromEntries(['a', 'b', 'c'].map((name) => [`${name}.yaml`, configMap(name)]))
    const { run, line } = open(files)
    await run()
    await watching()
    for (const name of ['a', 'b', 'c']) await kube.delete(ConfigMaps, { name, namespace })
    await eventually(() => ['a', 'b', 'c'].every((name) => line('/ConfigMap', name)?.presence === 'absent'))
    const told = (changed: readonly Entry[]) => changed.map(({ id, change }) => `${id.name} ${change}`)
    const { entries, repairsLater } = await run()
    assert.equal(told(entries), ['a created', 'b created', 'c waiting'])
    assert.match(repairsLater[0]?.why ?? '', 'set back at a pace')
    await eventually(async () => told((await run()).changes).includes('c created'))
    assert.equal(told((await run()).changes), [])
  })

  it('sets back at once what somebody asks for', async () => {
    memories.close()
    memories = createSyncMemories({ clock: systemClock, log: silentLog, repairs: { burst: 1, perSecond: 1 } })
    const { run, line, request, render } = open({ 'a.yaml': configMap('a'), 'b.yaml': configMap('b') })
    await run()
    await watching()
    for (const name of ['a', 'b']) await kube.delete(ConfigMaps, { name, namespace })
    await eventually(() => ['a', 'b'].every((name) => line('/ConfigMap', name)?.presence === 'absent'))
    const { changes } = await sync({ ...request, asked: 'somebody' }, { render, clock: systemClock })
    assert.equal(
      changes.map(({ change }) => change),
      ['created', 'created'],
    )
  })

  it('keeps of the watches some for others, however many a tenant would have', async () => {
    memories.close()
    memories = createSyncMemories({ clock: systemClock, log: silentLog, mostWatches: 5 })
    const plain = (apiVersion: string, kind: string) => ({ apiVersion, kind, metadata: { name: 'a' } })
    const kinds = ['ConfigMap', 'ServiceAccount', 'Secret', 'LimitRange', 'Service', 'PodTemplate']
    const files = Object.fromEntries(kinds.map((kind) => [`${kind}.yaml`, { ...plain('v1', kind), ...MINIMAL[kind] }]))
    await open(files, {}, 'greedy').run()
    assert.is(memories.watches, 4)
    await open({ 'role.yaml': plain('rbac.authorization.k8s.io/v1', 'Role') }, {}, 'modest').run()
    assert.is(memories.watches, 5)
  })
})

/** What the server wants of a kind. */
const MINIMAL: Record<string, object> = {
  Service: { spec: { ports: [{ port: 80 }] } },
  PodTemplate: { template: { spec: { containers: [{ name: 'a', image: 'a' }] } } },
}

/** Each request by its path, or by what it is about. */
function noting(kube: Kube, asked: string[]): Kube {
  const note = <T>(what: string, call: T): T => {
    asked.push(what)
    return call
  }
  return {
    ...kube,
    get: (kind, ref, signal) => note(`get ${kind.kind} ${ref.name}`, kube.get(kind, ref, signal)),
    list: (kind, query, signal) => note(`list ${kind.kind}`, kube.list(kind, query, signal)),
    apply: (kind, object, how) => note(`apply ${kind.kind} ${object.metadata.name}`, kube.apply(kind, object, how)),
    read: (path, options) => note(path, kube.read(path, options)),
    stream: (path, options) => note(path, kube.stream(path, options)),
    as: (identity) => noting(kube.as(identity), asked),
  }
}
