import { equal, is, ok } from 'uvu/assert'
import type { Batch } from '../../src/rpc/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { type GitHost, gitHost } from '../support/git-host.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { createAgent, createProject, type RunningKas, runKas } from './running-kas.ts'

const PATHS = 500
const FILES = 100

/** 500 folders of 100 files; the third number is written into the first file of one of them. */
function* files(changed = -1, value = 0): Iterable<[path: string, content: string]> {
  for (let app = 0; app < PATHS; app++)
    for (let at = 0; at < FILES; at++)
      yield [`apps/${app}/${at}.yaml`, `app: ${app}\nat: ${at}\nvalue: ${app === changed && at === 0 ? value : 0}\n`]
}

describe('kas: 500 streams on 500 paths of a repository with 50,000 files', (it) => {
  const cluster = testCluster()
  let host: GitHost
  let kas: RunningKas
  let namespace = ''
  const ending = new AbortController()
  let following: Promise<unknown> = Promise.resolve()
  const batches: Batch[][] = Array.from({ length: PATHS }, () => [])

  it.before(async () => {
    namespace = await cluster.namespace('kas')
    host = await gitHost()
    kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace, flags: { logLevel: 'warn' } })
  })
  it.after(async () => {
    ending.abort()
    await following
    await kas.stop()
    await host.close()
    await cluster.close()
  })

  /** What a metric says now; labels included in the name. */
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`http://${kas.addresses.operations}/metrics`)).text()
    return Number(new RegExp(`^${name.replace(/[{}]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
  }

  it('fetches once, and sends each stream its own files', async () => {
    const repository = await host.repository('large')
    const commit = await repository.fill(files())
    const token = await createAgent(cluster.kube, namespace, 'home')
    await createProject(cluster.kube, namespace, 'large', { url: repository.url, pollInterval: '2s' })
    const stream = kas.stream(token)
    following = Promise.all(
      batches.map((list, app) =>
        stream.follow(
          { projectId: `${namespace}/large`, ref: { kind: 'default' }, globs: [`apps/${app}/**`] },
          { onBatch: (batch) => void list.push(batch), backoff: { base: 100, max: 500 }, signal: ending.signal },
        ),
      ),
    )
    await eventually(() => batches.every((list) => list.length === 1), { within: 120_000 })
    const wrong = batches.flatMap(([first], app) => {
      const expected = [commit, FILES, `apps/${app}/0.yaml`]
      const got = [first?.commitId, first?.files.length, first?.files[0]?.source]
      return JSON.stringify(got) === JSON.stringify(expected) ? [] : [{ app, got }]
    })
    equal(wrong, [])
    is(await metric('berth_kas_fetches_total{outcome="ok"}'), 1)
    is(await metric('berth_kas_batches_total'), PATHS)
  })

  it('fetches once when a commit touches one path, and sends files to that stream alone', async () => {
    const before = await metric('berth_kas_fetched_bytes_total')
    const commit = await (await host.repository('large')).fill(files(123, 1))
    await eventually(() => batches.every((list) => list.at(-1)?.commitId === commit), { within: 120_000 })
    is(await metric('berth_kas_fetches_total{outcome="ok"}'), 2)
    is(await metric('berth_kas_batches_total'), PATHS + 1)
    is(await metric('berth_kas_unchanged_total'), PATHS - 1)
    const grown = (await metric('berth_kas_fetched_bytes_total')) - before
    ok(grown < 100_000, `the second commit cost ${grown} bytes`)
    const changed = batches.flatMap(([first, second], app) => (second?.files === first?.files ? [] : [app]))
    equal(changed, [123])
    is(Buffer.from(batches[123]?.[1]?.files[0]?.data ?? []).toString(), 'app: 123\nat: 0\nvalue: 1\n')
  })
})
