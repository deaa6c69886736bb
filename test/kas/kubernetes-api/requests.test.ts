import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Agent, request } from 'undici'
import { equal, is, match, ok } from 'uvu/assert'
import { ConfigMaps } from '../../../src/api/index.ts'
import { numberOf } from '../../../src/kas/projects/number.ts'
import { minutes } from '../../../src/std/index.ts'
import { developer } from '../../support/builders/credentials.ts'
import { kubectl } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { createProject, openToOwnJobs } from '../running-kas.ts'
import { openFixture } from './fixture.ts'

const run = promisify(execFile)

describe('kas: requests to the Kubernetes API of an agent', (it) => {
  const cluster = testCluster()
  let fixture: Awaited<ReturnType<typeof openFixture>>
  let namespace = ''
  let token = ''
  let agentId = 0n
  let folder = ''

  it.before(async () => {
    namespace = await cluster.namespace('k8s')
    fixture = await openFixture({ kube: cluster.kube, namespace, kubeconfig: cluster.kubeconfig })
    await createProject(cluster.kube, namespace, 'config', { url: 'https://git.example.com/config' })
    const agent = await fixture.agent('dev', openToOwnJobs(namespace))
    agentId = numberOf(agent.metadata.uid ?? '')
    token = (await developer(cluster.kube, namespace, 'job')).token
    folder = await mkdtemp(join(tmpdir(), 'berth-kubectl-'))
    await until()
  })
  it.after(async () => {
    await fixture.stop()
    await rm(folder, { recursive: true })
    await cluster.close()
  })

  const until = async () => {
    await fixture.hearsOf('dev', 'config')
  }
  const base = () => `${fixture.url}/k8s/namespaces/${namespace}/agents/dev`
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${base()}${path}`, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } })

  it('brings an answer of the cluster', async () => {
    const answer = await ask(`/api/v1/namespaces/${namespace}`)
    is(answer.status, 200)
    match(await answer.text(), new RegExp(`"name":\\s*"${namespace}"`))
    match(answer.headers.get('via') ?? '', /berth-agent\/test/)
  })

  it("understands GitLab's form of a token", async () => {
    const answer = await fetch(`${fixture.url}/version`, { headers: { authorization: `Bearer ci:${agentId}:${token}` } })
    is(answer.status, 200)
    match(await answer.text(), /gitVersion/)
  })

  it('sends bodies, with and without a length', async () => {
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const body = (name: string) =>
      JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'ü'.repeat(100_000) } })
    const headers = { 'content-type': 'application/json' }
    is((await ask(path, { method: 'POST', headers, body: body('long') })).status, 201)
    const stream = new Blob([body('chunked')]).stream()
    const chunked = { method: 'POST', headers, body: stream, duplex: 'half' as const }
    is((await ask(path, chunked)).status, 201)
    is((await ask(`${path}/long`, { method: 'DELETE' })).status, 200)
    is((await cluster.kube.get(ConfigMaps, { name: 'chunked', namespace }))?.data?.a?.length, 100_000)
  })

  it('gives errors of the cluster as they are', async () => {
    const answer = await ask(`/api/v1/namespaces/${namespace}/configmaps/none`)
    is(answer.status, 404)
    match(await answer.text(), /configmaps \\?"none\\?" not found/)
    is(answer.headers.get('berth-unauthorized'), null)
  })

  it('says with a Status and a trace id who may not pass', async () => {
    const answer = await fetch(`${base()}/version`)
    is(answer.status, 401)
    is(answer.headers.get('berth-unauthorized'), 'true')
    match(await answer.text(), /^\{"kind":"Status".*"message":"Berth: [^"]*\. Trace ID: [0-9a-f]{32}"/)
  })

  it('serves kubectl: get, apply, watch, delete', async () => {
    const program = await kubectl()
    const kubeconfig = join(folder, 'kubeconfig')
    await writeFile(
      kubeconfig,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'x',
        clusters: [
          { name: 'x', cluster: { server: base().replace(fixture.url, fixture.secureUrl), 'insecure-skip-tls-verify': true } },
        ],
        users: [{ name: 'x', user: { token } }],
        contexts: [{ name: 'x', context: { cluster: 'x', user: 'x', namespace } }],
      }),
    )
    const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: folder }
    const call = async (...words: string[]) => (await run(program, words, { env })).stdout
    const file = join(folder, 'map.yaml')
    await writeFile(file, 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: applied }\ndata: { a: b }\n')
    match(await call('apply', '--server-side', '-f', file), /applied serverside-applied/)
    match(await call('get', 'configmap', 'applied', '-o', 'name'), /configmap\/applied/)
    match(await call('wait', '--for=jsonpath={.data.a}=b', 'configmap/applied', '--timeout=20s'), /condition met/)
    match(await call('delete', 'configmap', 'applied'), /deleted/)
  })

  it('answers a thousand requests at once', async () => {
    // Five on each connection: more connections of this process with itself are not all read before the server takes them for silent.
    const dispatcher = new Agent({ connections: 200, pipelining: 5, connect: { timeout: minutes(2) } })
    const once = async () => {
      const { statusCode, body } = await request(`${base()}/version`, {
        dispatcher,
        headers: { authorization: `Bearer ${token}` },
      })
      await body.json()
      return statusCode
    }
    equal(new Set(await Promise.all(Array.from({ length: 1000 }, once))), new Set([200]))
    await dispatcher.close()
  })

  it('answers 429 to who asks too fast, as an API server would, and to nobody else', async () => {
    const slow = await openFixture({ kube: cluster.kube, namespace, kubeconfig: cluster.kubeconfig, perSecond: 1 })
    slow.write({ name: 'dev', namespace }, openToOwnJobs(namespace))
    await slow.hearsOf('dev', 'config')
    const get = (shown: string) =>
      fetch(`${base().replace(fixture.url, slow.url)}/version`, { headers: { authorization: `Bearer ${shown}` } })
    const other = (await developer(cluster.kube, namespace, 'other')).token
    const began = performance.now()
    const answers = await Promise.all(Array.from({ length: 30 }, () => get(token)))
    // One more may pass for each second that it took.
    const least = 15 - Math.floor((performance.now() - began) / 1000)
    const refused = answers.filter(({ status }) => status === 429)
    ok(refused.length >= least && answers.some(({ status }) => status === 200), `${refused.length} refused`)
    match(refused[0]?.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    match((await refused[0]?.text()) ?? '', /"reason":"TooManyRequests","details":\{"retryAfterSeconds":\d+\},"code":429/)
    is((await get(other)).status, 200)
    match(await slow.metrics.render(), /berth_kas_kubernetes_api_limited_total\{limit="person"\} \d+/)
    await slow.stop()
  })

  it('counts requests by the rule that let them pass, and how long agents took to be found', async () => {
    await ask('/version')
    const text = await fixture.metrics.render()
    match(text, /berth_kas_kubernetes_api_requests_total\{access="ci_access",status="200"\} \d+/)
    match(text, /k8s_api_proxy_routing_duration_seconds_count\{status="success"\} \d+/)
  })
})
