import * as assert from 'uvu/assert'
import { createKube } from '../../../src/adapters/kube/client.ts'
import { loadKubeConfig, openConnection } from '../../../src/adapters/kube/connection.ts'
import { createCaches, type Kube, type ReadOptions } from '../../../src/adapters/kube/index.ts'
import { type ConfigMap, ConfigMaps, Namespaces } from '../../../src/api/index.ts'
import { type Clock, Failure, hours, isFailure, minutes, silentLog, systemClock } from '../../../src/std/index.ts'
import { type SteppedClock, steppedClock } from '../../support/clock.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

type Stream = (path: string, options?: ReadOptions) => Promise<AsyncIterable<string>>

/** Says nothing until it is hung up on. */
async function* silence(signal: AbortSignal | undefined): AsyncIterable<string> {
  const { promise, reject } = Promise.withResolvers<never>()
  signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
  yield await promise
}

/** One line, and the end. */
async function* saying(line: string): AsyncIterable<string> {
  yield line
}

describe('the list and watch of a cache', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let namespace = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('watch')
  })
  it.after(() => cluster.close())

  const make = (name: string) =>
    kube.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } } satisfies ConfigMap)
  const remove = (name: string) => kube.delete(ConfigMaps, { name, namespace })
  const versionNow = async () =>
    (await kube.read<{ metadata: { resourceVersion: string } }>(`/api/v1/namespaces/${namespace}/configmaps?limit=1`)).metadata
      .resourceVersion

  /** A cache whose watches are these, in turn, and then the server's own. What goes over the line is counted and kept. */
  const follow = async (streams: Stream[], { clock = systemClock, via = kube }: { clock?: Clock; via?: Kube } = {}) => {
    const lists: string[] = []
    const watches: string[] = []
    const scripted: Kube = {
      ...via,
      read(path, options) {
        lists.push(path)
        return via.read(path, options)
      },
      stream(path, options) {
        const turn = streams[watches.length]
        watches.push(path)
        return (turn ?? via.stream)(path, options)
      },
    }
    const caches = createCaches({ kube: scripted, clock, log: silentLog, scope: namespace })
    const cache = caches.of(ConfigMaps)
    const gone: string[] = []
    cache.onChange((now, before) => {
      if (!now && before) gone.push(before.metadata.name)
    })
    await caches.ready()
    return { caches, cache, gone, lists, watches, has: (name: string) => cache.get({ name, namespace }) !== undefined }
  }
  const failing =
    (failure: Failure): Stream =>
    () =>
      Promise.reject(failure)
  const quiet: Stream = (_path, options) => Promise.resolve(silence(options?.signal))

  it('begins its list anew when the pages expire on the way, and shows nothing of the half that it had', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await make(name)
    let expired = 0
    const small: Kube = {
      ...kube,
      async read(path, options) {
        if (path.includes('continue=') && expired === 0) {
          expired++
          await remove('a')
          throw new Failure('expired', 'The provided continue parameter is too old')
        }
        return kube.read(path.replace(/limit=\d+/, 'limit=2'), options)
      },
    }
    const { caches, has, gone, lists } = await follow([], { via: small })
    assert.is(expired, 1)
    assert.ok(lists.filter((path) => !path.includes('continue=')).length === 2, lists.join('\n'))
    assert.equal([has('a'), has('b'), has('e')], [false, true, true])
    assert.equal(gone, [])
    await caches.stop()
  })

  it('begins its list anew, and reports what is gone, when the pages expire after a 410 of the watch', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await make(name)
    let armed = false
    const small: Kube = {
      ...kube,
      read(path, options) {
        if (path.includes('continue=') && armed) {
          armed = false
          return Promise.reject(new Failure('expired', 'The provided continue parameter is too old'))
        }
        return kube.read(path.replace(/limit=\d+/, 'limit=2'), options)
      },
    }
    const end = Promise.withResolvers<void>()
    const tooOld: Stream = async () => {
      await end.promise
      return saying('{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}')
    }
    const { caches, has, gone } = await follow([tooOld], { via: small })
    await remove('a')
    await remove('e')
    armed = true
    end.resolve()
    await eventually(() => gone.length === 2)
    assert.equal([armed, ...gone.sort(), has('b')], [false, 'a', 'e', true])
    await caches.stop()
  })

  it('does so too for a list that is no cache', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await make(name)
    const connection = openConnection(loadKubeConfig({ file: cluster.kubeconfig }), { clock: systemClock })
    const expiring = { left: 1 }
    const small = createKube({
      ...connection,
      async json<T>(call: Parameters<typeof connection.json>[0]) {
        if (call.path.includes('continue=') && expiring.left-- > 0) throw new Failure('expired', 'too old')
        return connection.json<T>({ ...call, path: call.path.replace(/limit=\d+/, 'limit=2') })
      },
    })
    const names = (await small.list(ConfigMaps, { namespace })).map(({ metadata }) => metadata.name)
    assert.equal(
      names.filter((name) => name.length === 1),
      ['a', 'b', 'c', 'd', 'e'],
    )
    // Once only: a server whose every page is too old has another trouble.
    expiring.left = 2
    const failure = await small.list(ConfigMaps, { namespace }).catch((thrown: unknown) => thrown)
    assert.ok(isFailure(failure, 'expired'))
    await connection.close()
  })

  const broken: { why: string; line: string }[] = [
    { why: 'an event that is cut off', line: '{"type":"DELETED","object":{"kind":"ConfigMap","metadata":{"name":"a"' },
    { why: 'an ERROR without a code', line: '{"type":"ERROR","object":{"kind":"Status","message":"etcdserver: no leader"}}' },
    { why: 'an ERROR without anything', line: '{"type":"ERROR"}' },
    { why: 'a bookmark without a version', line: '{"type":"BOOKMARK","object":{"metadata":{}}}' },
    { why: 'an event without an object', line: '{"type":"ADDED","object":null}' },
    { why: 'no event at all', line: 'null' },
  ]
  for (const { why, line } of broken) {
    it(`takes ${why} for a broken line: resumes from where it was, lists nothing again and misses nothing`, async () => {
      await make('a')
      const end = Promise.withResolvers<void>()
      const first: Stream = async () => {
        await end.promise
        return saying(line)
      }
      const { caches, gone, has, lists, watches } = await follow([first])
      await remove('a')
      await make('b')
      end.resolve()
      await eventually(() => has('b'))
      assert.equal(gone, ['a'])
      assert.is(lists.length, 1)
      assert.is(versionIn(watches[1]), versionIn(watches[0]))
      await caches.stop()
    })
  }

  it('lists again when resuming fails time and again, as it does when a server lost its data', async () => {
    await make('a')
    const clock = steppedClock(Date.now())
    const nothing: Stream[] = Array.from({ length: 7 }, () => failing(new Failure('unavailable', 'etcdserver: no leader')))
    const { caches, lists } = await follow([...nothing, quiet], { clock })
    await eventually(async () => {
      await clock.step(minutes(1))
      return lists.length === 2
    })
    await caches.stop()
  })

  /** Steps on in small strides, so that what the wire brings in between is heard. */
  const stepThrough = async (clock: SteppedClock, ms: number, each: () => Promise<unknown> = () => Promise.resolve()) => {
    for (let gone = 0; gone < ms; gone += minutes(1)) {
      await clock.step(Math.min(minutes(1), ms - gone))
      await each()
    }
  }

  it('lives through an hour of nothing but bookmarks, and resumes from the last of them', async () => {
    await make('a')
    const clock = steppedClock(Date.now())
    const lines = new TransformStream<string, string>()
    const writer = lines.writable.getWriter()
    const { caches, gone, lists, watches } = await follow([() => Promise.resolve(lines.readable)], { clock })
    let version = ''
    await stepThrough(clock, hours(1), async () => {
      await kube.patch(Namespaces, { name: namespace }, { metadata: { annotations: { tick: String(clock.now()) } } })
      version = await versionNow()
      await writer.write(JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: version } } }))
    })
    assert.equal([watches.length, lists.length], [1, 1])
    await remove('a')
    await writer.close()
    await eventually(() => gone.includes('a'))
    assert.equal([watches.length, lists.length], [2, 1])
    assert.is(versionIn(watches[1]), version)
    assert.is.not(versionIn(watches[1]), versionIn(watches[0]))
    await caches.stop()
  })

  it('hangs up on a watch that is silent for more than two and a half minutes, and not sooner', async () => {
    await make('a')
    const clock = steppedClock(Date.now())
    const { caches, gone, lists, watches } = await follow([quiet], { clock })
    await eventually(() => watches.length === 1)
    await clock.step(minutes(2.4))
    assert.is(watches.length, 1)
    await remove('a')
    await clock.step(minutes(0.1))
    await eventually(async () => {
      await clock.step(1000)
      return gone.includes('a')
    })
    assert.is(lists.length, 1)
    await caches.stop()
  })

  it('waits as long as a busy server asks, but not for a year', async () => {
    await make('a')
    const clock = steppedClock(Date.now())
    const busy = failing(new Failure('unavailable', 'too many requests', { retryAfter: hours(24 * 365) }))
    const { caches, watches } = await follow([busy, quiet], { clock })
    await eventually(() => watches.length === 1 && clock.waiting() > 0)
    await clock.step(minutes(1) - 1)
    assert.is(watches.length, 1)
    await clock.step(1)
    await eventually(() => watches.length === 2)
    await caches.stop()
  })
})

const versionIn = (path: string | undefined): string | null =>
  new URL(path ?? '', 'https://api').searchParams.get('resourceVersion')
