import type { ServerResponse } from 'node:http'
import { equal, is, match, ok } from 'uvu/assert'
import { createAnswers, type Kube, keepFed, kubeFromSecret, type TargetOptions } from '../../../src/adapters/kube/index.ts'
import { type ConfigMap, ConfigMaps } from '../../../src/api/index.ts'
import { isFailure, Secret, silentLog, systemClock } from '../../../src/std/index.ts'
import { answeringServer } from '../../support/builders/strange-server.ts'
import { describe } from '../../support/suite.ts'
import { kubeconfigFor } from '../../support/targets.ts'
import { eventually } from '../../support/verbs.ts'

const KIBIBYTE = 2 ** 10
const TOTAL = 100

describe('what strangers answer, all of it together', (it) => {
  const closing: (() => Promise<void>)[] = []
  it.afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })

  const serverThat = async (answers: (response: ServerResponse, url: URL) => void): Promise<string> => {
    const server = await answeringServer(({ url = '' }, response) => answers(response, new URL(url, 'https://localhost')))
    closing.push(() => server.close())
    return server.url
  }
  const clientOf = (url: string, options: Partial<TargetOptions>): Kube => {
    const kubeconfig = new Secret(kubeconfigFor(url))
    const kube = kubeFromSecret(kubeconfig, { server: url, insecureSkipTLSVerify: true, reach: undefined, ...options })
    closing.push(() => kube.close())
    return kube
  }

  it('is not held up by one tenant, however many of his answers do not end', async () => {
    const open: ServerResponse[] = []
    const halting = await serverThat((response) => {
      response.write('"'.padEnd(200 * KIBIBYTE))
      open.push(response)
    })
    const telling = await serverThat((response) => response.end(JSON.stringify('x'.repeat(2000 * KIBIBYTE))))
    const reach = { refuseLocal: false, answers: createAnswers() }
    const ends = Array.from({ length: 20 }, () =>
      clientOf(halting, { reach, tenant: 'evil' })
        .read('/')
        .catch((thrown: unknown) => thrown),
    )
    await eventually(() => open.length === 20)
    const text = await clientOf(telling, { reach, tenant: 'team-a' }).read<string>('/')
    is(text.length, 2000 * KIBIBYTE)
    // Those that wait for a place get theirs when others end.
    for (const response of open) response.end('"')
    equal(
      (await Promise.all(ends)).map((end) => typeof end),
      ends.map(() => 'string'),
    )
  })

  it('has to end in time, however slowly it comes', async () => {
    const dripping = await serverThat((response) => {
      const drip = (): unknown => !response.destroyed && response.write(' ', () => setImmediate(drip))
      drip()
    })
    const failure = await clientOf(dripping, { timeout: 200 })
      .read('/')
      .catch((thrown: unknown) => thrown)
    ok(isFailure(failure, 'timeout'))
  })

  /** A hundred objects of 200 KiB, which are never more than it is asked for. */
  const largeObjects = () => {
    const limits: number[] = []
    const serve = (response: ServerResponse, { searchParams }: URL) => {
      const limit = Number(searchParams.get('limit'))
      const from = Number(searchParams.get('continue') ?? 0)
      limits.push(limit)
      const names = Array.from({ length: Math.min(limit, TOTAL - from) }, (_, at) => `object-${from + at}`)
      const next = from + names.length < TOTAL ? { continue: String(from + names.length) } : {}
      const items = names.map((name) => ({
        metadata: { name, namespace: 'a', resourceVersion: '1' },
        data: { x: 'x'.repeat(200 * KIBIBYTE) },
      }))
      response.end(JSON.stringify({ metadata: { resourceVersion: '1', ...next }, items }))
    }
    return { limits, serve }
  }

  it('comes in shorter pages where the objects of a list are large', async () => {
    const { limits, serve } = largeObjects()
    const kube = clientOf(await serverThat(serve), {})
    const found: string[] = []
    for await (const page of kube.pages(ConfigMaps)) found.push(...page.map(({ metadata }) => metadata.name))
    equal(
      found,
      Array.from({ length: TOTAL }, (_, at) => `object-${at}`),
    )
    equal(limits.slice(0, 4), [500, 63, 8, 8])
  })

  it('is not parsed where it is small and much work, and says so', async () => {
    const many = `[${'{},'.repeat(2.6 * 2 ** 20)}{}]`
    const watched = `${JSON.stringify({ type: 'ADDED' })}\n${many}\n`
    const kube = clientOf(await serverThat((response, { pathname }) => response.end(pathname === '/watch' ? watched : many)), {})
    const failure = await kube.read('/').catch((thrown: unknown) => thrown)
    ok(isFailure(failure, 'too-large'))
    match(failure.message, '/: the answer has more than 524288 objects, lists and elements')
    const lines: string[] = []
    const end = await (async () => {
      for await (const line of await kube.stream('/watch')) lines.push(line)
    })().catch((thrown: unknown) => thrown)
    ok(isFailure(end, 'too-large'))
    equal(lines, [JSON.stringify({ type: 'ADDED' })])
  })

  it('is parsed where it is a page of large Deployments', async () => {
    const env = Array.from({ length: 40 }, (_, at) => ({ name: `SETTING_${at}`, value: 'x'.repeat(20) }))
    const fields = Object.fromEntries(env.map(({ name }) => [`k:{"name":"${name}"}`, { '.': {}, 'f:name': {}, 'f:value': {} }]))
    const items = Array.from({ length: 500 }, (_, at) => ({
      metadata: { name: `web-${at}`, namespace: 'a', resourceVersion: '1', managedFields: [{ manager: 'us', fieldsV1: fields }] },
      spec: { template: { spec: { containers: [{ name: 'web', image: 'example.com/web:1', env }] } } },
    }))
    const kube = clientOf(await serverThat((response) => response.end(JSON.stringify({ metadata: {}, items }))), {})
    const pages: number[] = []
    for await (const page of kube.pages(ConfigMaps)) pages.push(page.length)
    equal(pages, [500])
  })

  it('is not parsed where it is a refusal with very many objects', async () => {
    const many = `{"kind":"Status","reason":"Expired","a":[${'{},'.repeat(20_000)}{}]}`
    const kube = clientOf(await serverThat((response) => response.writeHead(403).end(many)), {})
    const failure = await kube.read('/').catch((thrown: unknown) => thrown)
    // The reason is in what is not parsed.
    ok(isFailure(failure, 'forbidden'))
  })

  it('is not collected to a list that has no bounds', async () => {
    const kube = clientOf(
      await serverThat((response) => largeObjects().serve(response, new URL('https://localhost?limit=100'))),
      {},
    )
    const failure = await kube.list(ConfigMaps).catch((thrown: unknown) => thrown)
    ok(isFailure(failure, 'too-large'))
    match(failure.message, 'configmaps: the answer has more than 8388608 bytes')
  })

  it('reaches who watches a page at a time', async () => {
    const kube = clientOf(await serverThat(largeObjects().serve), {})
    const ending = new AbortController()
    const pages: number[] = []
    const nothing = () => undefined
    const store = {
      put: nothing,
      remove: nothing,
      saw: nothing,
      list: () => ({ page: (objects: readonly ConfigMap[]) => void pages.push(objects.length), end: () => ending.abort() }),
    }
    const feed = { kube, kind: ConfigMaps, scope: {}, store, clock: systemClock, log: silentLog }
    await keepFed({ ...feed, listed: nothing, failed: nothing }, ending.signal)
    equal(
      pages,
      Array.from({ length: 8 }, (_, at) => (at < 7 ? 13 : 9)),
    )
  })
})
