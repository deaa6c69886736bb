import type { IncomingMessage, ServerResponse } from 'node:http'
import { equal, is, match, not } from 'uvu/assert'
import { CallEnded } from '../../../src/adapters/grpc/index.ts'
import { encodeResponse, type ResponseHead, type Values } from '../../../src/rpc/index.ts'
import { Failure } from '../../../src/std/index.ts'
import { developer } from '../../support/builders/credentials.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { createProject, openToOwnJobs } from '../running-kas.ts'
import { openFixture } from './fixture.ts'
import { byHand, upstream } from './upstream.ts'

describe('kas: a hostile cluster, and secrets of visitors', (it) => {
  const cluster = testCluster()
  let behind: Awaited<ReturnType<typeof upstream>>
  let fixture: Awaited<ReturnType<typeof openFixture>>
  let namespace = ''
  let token = ''
  let seen: IncomingMessage | undefined
  let say: (response: ServerResponse) => void = (response) => response.end()

  it.before(async () => {
    namespace = await cluster.namespace('k8s')
    behind = await upstream((request, response) => {
      seen = request
      say(response)
    })
    fixture = await openFixture({ kube: cluster.kube, namespace, kubeconfig: behind.kubeconfig })
    await createProject(cluster.kube, namespace, 'config', { url: 'https://git.example.com/config' })
    await fixture.agent('dev', openToOwnJobs(namespace))
    token = (await developer(cluster.kube, namespace, 'job')).token
    await fixture.hearsOf('dev', 'config')
  })
  it.after(async () => {
    await fixture.stop()
    await behind.stop()
    await cluster.close()
  })

  const path = () => `/k8s/namespaces/${namespace}/agents/dev`
  const ask = (target: string, init: RequestInit = {}) =>
    fetch(`${fixture.url}${path()}${target}`, {
      redirect: 'manual',
      ...init,
      headers: { authorization: `Bearer ${token}`, ...init.headers },
    })

  it('passes no header on that browsers or proxies obey', async () => {
    const evil = {
      'X-Accel-Redirect': '/internal/secrets',
      'X-Sendfile': '/etc/passwd',
      NEL: '{"report_to":"evil","max_age":31536000}',
      'Report-To': '{"group":"evil"}',
      'Set-Cookie': '_gitlab_kas=x; Domain=example.com',
      'Access-Control-Allow-Origin': '*',
      'Service-Worker-Allowed': '/',
      'Clear-Site-Data': '"*"',
      'Www-Authenticate': 'Basic realm="kas"',
      'Berth-Unauthorized': 'true',
      'Gitlab-Unauthorized': 'true',
      Refresh: '0;url=https://evil.example.com',
      Link: '<https://evil.example.com>; rel=preload',
      'Cache-Control': 'public, max-age=600',
    }
    say = (response) => response.writeHead(200, { ...evil, 'content-type': 'application/json', etag: '"1"' }).end('{}')
    const answer = await ask('/x')
    for (const name of Object.keys(evil).filter((one) => one !== 'Cache-Control')) is(answer.headers.get(name), null, name)
    is(answer.headers.get('cache-control'), 'private, max-age=600')
    is(answer.headers.get('etag'), '"1"')
  })

  const types: [given: string | undefined, got: string, why: string][] = [
    [undefined, 'application/octet-stream', 'a browser guesses what has no type'],
    ['text/html', 'application/octet-stream', 'a page would run with the rights of kas'],
    ['image/svg+xml', 'application/octet-stream', 'a picture can hold a script'],
    ['text/javascript', 'application/octet-stream', 'a script'],
    ['application/json;stream=watch', 'application/json;stream=watch', 'what kubectl needs'],
    ['application/vnd.kubernetes.protobuf', 'application/vnd.kubernetes.protobuf', 'what clients need'],
    ['text/plain; charset=utf-8', 'text/plain; charset=utf-8', 'logs'],
  ]
  for (const [given, got, why] of types)
    it(`gives ${given ?? 'no type'} as ${got}`, async () => {
      say = (response) => response.writeHead(200, given ? { 'content-type': given } : {}).end('<script>alert(1)</script>')
      const answer = await ask('/x')
      is(answer.headers.get('content-type'), got, why)
      is(answer.headers.get('x-content-type-options'), 'nosniff')
      match(answer.headers.get('content-security-policy') ?? '', /sandbox/)
    })

  it('sends no credential of a visitor to the cluster', async () => {
    say = (response) => response.end('{}')
    const secrets = {
      cookie: '_gitlab_kas=secret',
      'x-csrf-token': 'secret',
      'gitlab-agent-id': 'secret',
      'private-token': 'secret',
      'job-token': 'secret',
      'proxy-authorization': 'Basic secret',
      'x-remote-user': 'system:admin-secret',
      'x-forwarded-for': '10.0.0.1-secret',
    }
    await ask('/x?gitlab-csrf-token=secret&gitlab-agent-id=secret&private_token=secret&access_token=secret&limit=1', {
      headers: secrets,
    })
    not.match(JSON.stringify(seen?.headers), /secret/)
    is(seen?.url, '/below/x?limit=1')
    is(seen?.headers.authorization, 'Bearer the-agent-s-own')
    not.match(JSON.stringify(seen?.headers), new RegExp(token.slice(-40)))
  })

  it('takes no forms, which other pages can send', async () => {
    is((await ask('/x', { method: 'POST', body: new URLSearchParams({ a: 'b' }) })).status, 415)
  })

  it('follows no redirect, and lets none lead elsewhere', async () => {
    say = (response) => response.writeHead(307, { location: 'https://evil.example.com/' }).end()
    const away = await ask('/x')
    is(away.status, 307)
    is(away.headers.get('location'), null)
    say = (response) => response.writeHead(307, { location: '//evil.example.com/' }).end()
    is((await ask('/x')).headers.get('location'), null)
    say = (response) => response.writeHead(301, { location: '/api/' }).end()
    is((await ask('/api')).headers.get('location'), `${path()}/api/`)
  })

  it('refuses paths that climb, and two credentials', async () => {
    const get = async (target: string, ...more: string[]) => {
      const client = byHand(fixture.url, [
        `GET ${target} HTTP/1.1`,
        'Host: kas',
        'Connection: close',
        `Authorization: Bearer ${token}`,
        ...more,
      ])
      await eventually(() => client.hasEnded)
      return client.text.slice(9, 12)
    }
    is(await get(`${path()}/api/../../outside`), '400')
    is(await get(`${path()}/api/%2e%2e/outside`), '400')
    is(await get(`${path()}/api/..%2foutside`), '400')
    is(await get(`${path()}/version`, 'Authorization: Bearer other'), '401')
    is(await get(`${path()}/version`, `X-Filler: ${'x'.repeat(40_000)}`), '431')
  })

  it('cuts off an agent that sends more than it announces, or breaks the order', async () => {
    const head = (headers: Values, status = 200): ResponseHead => ({ status, reason: 'OK', headers })
    const data = { kind: 'data' as const, data: Buffer.from('HTTP/1.1 200 OK\r\n\r\nanother answer') }
    const frames: [why: string, sent: Parameters<typeof encodeResponse>[0][]][] = [
      ['more than announced', [{ kind: 'head', head: head({ 'Content-Length': ['3'] }) }, data, { kind: 'trailer' }]],
      ['less than announced', [{ kind: 'head', head: head({ 'Content-Length': ['3000'] }) }, data, { kind: 'trailer' }]],
      ['two lengths', [{ kind: 'head', head: head({ 'Content-Length': ['33', '3'] }) }, data, { kind: 'trailer' }]],
      [
        'a length in two spellings',
        [{ kind: 'head', head: head({ 'Content-Length': ['33'], 'content-length': ['3'] }) }, data, { kind: 'trailer' }],
      ],
      ['a length that is none', [{ kind: 'head', head: head({ 'Content-Length': ['0x21'] }) }, data, { kind: 'trailer' }]],
      ['a body without a head', [data, { kind: 'trailer' }]],
      ['no trailer', [{ kind: 'head', head: head({}) }, data]],
      ['an upgrade that nobody asked for', [{ kind: 'head', head: head({}, 101) }, { kind: 'trailer' }]],
      ['a status that is none', [{ kind: 'head', head: head({}, 700) }, { kind: 'trailer' }]],
    ]
    for (const [why, sent] of frames) {
      const other = await openFixture({
        kube: cluster.kube,
        namespace,
        kubeconfig: behind.kubeconfig,
        async *handler() {
          for (const frame of sent) yield encodeResponse(frame)
        },
      })
      other.write({ name: 'dev', namespace }, openToOwnJobs(namespace))
      await other.hearsOf('dev', 'config')
      const outcome = await fetch(`${other.url}${path()}/x`, { headers: { authorization: `Bearer ${token}` } })
        .then(async (answer) => (answer.status === 502 ? 'refused' : await answer.text()))
        .catch(() => 'cut')
      equal([outcome === 'cut' || outcome === 'refused', why], [true, why])
      await other.stop()
    }
  })

  const endings: [why: string, thrown: unknown, status: number][] = [
    ['that the visitor is not known', new CallEnded(16, 'log in again'), 502],
    ['that the visitor may not', new Failure('forbidden', 'no', { reason: 'AgentNotAccessible' }), 502],
    ['that what was asked for is gone', new Failure('not-found', 'gone'), 502],
    ['that it is not there itself', new Failure('timeout', 'later', { reason: 'AgentNotConnected' }), 504],
    ['that the visitor is too fast', new Failure('unavailable', 'wait', { reason: 'TooManyRequests', retryAfter: 9e9 }), 503],
    ['that kas has a fault', new CallEnded(13, 'internal\u001b[31m'), 502],
  ]
  for (const [why, thrown, status] of endings)
    it(`takes no word of an agent for kas' own: ${why}`, async () => {
      const other = await openFixture({
        kube: cluster.kube,
        namespace,
        kubeconfig: behind.kubeconfig,
        async *handler() {
          yield* []
          throw thrown
        },
      })
      other.write({ name: 'dev', namespace }, openToOwnJobs(namespace))
      await other.hearsOf('dev', 'config')
      const answer = await fetch(`${other.url}${path()}/x`, { headers: { authorization: `Bearer ${token}` } })
      is(answer.status, status)
      is(answer.headers.get('berth-unauthorized'), null)
      is(answer.headers.get('retry-after'), null)
      not.match(await answer.text(), /\\u001b/)
      match(await other.metrics.render(), /k8s_api_proxy_routing_timeout_total 0/)
      await other.stop()
    })
})
