import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { connect, type Kube } from '../../../src/adapters/kube/index.ts'
import { ConfigMaps } from '../../../src/api/index.ts'
import { type Clock, isFailure, isRecord, parseYaml, systemClock } from '../../../src/std/index.ts'
import { blackHole } from '../../support/bad-line.ts'
import { tellingServer } from '../../support/builders/strange-server.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

/** Time runs this much faster, so that silence need not be waited for. */
const hasty: Clock = { now: systemClock.now, after: (ms, run) => systemClock.after(ms / 30, run) }

describe('streams that share a connection', (it) => {
  const cluster = testCluster()
  const folder = mkdtempSync(join(tmpdir(), 'berth-test-'))
  const open: Kube[] = []
  let namespace = ''

  it.before(async () => {
    namespace = await cluster.namespace('streams')
  })
  it.afterEach(() => Promise.all(open.splice(0).map((kube) => kube.close())))
  it.after(async () => {
    rmSync(folder, { recursive: true })
    await cluster.close()
  })

  const client = (options: Parameters<typeof connect>[0] = {}) => {
    const kube = connect({ kubeconfig: cluster.kubeconfig, ...options })
    open.push(kube)
    return kube
  }
  /** The test cluster's kubeconfig with another server in it, whose certificate nobody looks at. */
  const leadingTo = (url: string) => {
    const [config] = parseYaml(readFileSync(cluster.kubeconfig, 'utf8')).documents ?? []
    const elsewhere = { server: url, 'insecure-skip-tls-verify': true }
    const change = (key: string, value: unknown) => (key === 'cluster' && isRecord(value) ? elsewhere : value)
    const file = join(folder, url.replaceAll(/\W/g, '-'))
    writeFileSync(file, JSON.stringify(config?.value, change))
    return file
  }
  const watchPath = () => `/api/v1/namespaces/${namespace}/configmaps?watch=true&timeoutSeconds=60`
  const first = async (lines: AsyncIterable<string>) => (await lines[Symbol.asyncIterator]().next()).value

  it('tell of changes like any other, in every number', async () => {
    const kube = client()
    // More than a server allows on one connection.
    const streams = await Promise.all(Array.from({ length: 230 }, () => kube.stream(watchPath(), { shared: true })))
    const told = Promise.all(
      streams.map(async (lines) => {
        for await (const line of lines) if (line.includes('"name":"told"')) return 1
        return 0
      }),
    )
    await kube.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'told', namespace } })
    assert.is(
      (await told).reduce<number>((sum, one) => sum + one, 0),
      230,
    )
  })

  it('carry identities of their own', async () => {
    const kube = client()
    assert.ok(await first(await kube.stream(watchPath(), { shared: true })))
    try {
      await kube.as({ user: 'nobody' }).stream(watchPath(), { shared: true })
      assert.unreachable()
    } catch (failure) {
      assert.ok(isFailure(failure, 'forbidden'))
      assert.match(failure.message, /"nobody" cannot watch/)
    }
  })

  it('end alone when their reader goes, and all when the client closes', async () => {
    const kube = client()
    const leaving = new AbortController()
    const left = await kube.stream(watchPath(), { shared: true, signal: leaving.signal })
    const staying = await kube.stream(watchPath(), { shared: true })
    const ends: string[] = []
    const follow = async (name: string, lines: AsyncIterable<string>) => {
      try {
        for await (const _ of lines);
      } catch {
        ends.push(`${name} broke off`)
        return
      }
      ends.push(`${name} ended`)
    }
    const both = [follow('left', left), follow('staying', staying)]
    leaving.abort()
    await both[0]
    assert.is(ends.length, 1)
    await kube.close()
    await both[1]
    assert.is(ends.length, 2)
    try {
      await kube.stream(watchPath(), { shared: true })
      assert.unreachable()
    } catch (failure) {
      assert.ok(isFailure(failure, 'unavailable'))
    }
  })

  it('have connections of their own where the server speaks no HTTP/2', async () => {
    const server = await tellingServer('{"type":"BOOKMARK"}\n')
    const kube = client({ kubeconfig: leadingTo(server.url) })
    assert.is(await first(await kube.stream('/watch', { shared: true })), '{"type":"BOOKMARK"}')
    await server.close()
  })

  it('end when their connection has died without a word, so that they are opened anew', async () => {
    const hole = await blackHole(cluster.kube.server)
    const kube = client({ kubeconfig: leadingTo(hole.url), clock: hasty })
    // In its haste it may take a line that is only slow for a dead one.
    const lines = await eventually(() => kube.stream(watchPath(), { shared: true }))
    let end = ''
    const reading = (async () => {
      for await (const _ of lines);
    })().then(
      () => {
        end = 'ended'
      },
      (thrown: Error) => {
        end = thrown.message
      },
    )
    hole.swallow()
    await eventually(() => end !== '')
    await reading
    hole.forward()
    await eventually(async () => first(await kube.stream(watchPath(), { shared: true })))
    await kube.close()
    await hole.close()
  })
})
