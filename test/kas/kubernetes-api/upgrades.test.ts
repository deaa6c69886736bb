import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import { is, match } from 'uvu/assert'
import { GitProjects } from '../../../src/api/index.ts'
import { developer } from '../../support/builders/credentials.ts'
import { kubectl } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { createProject, openToOwnJobs } from '../running-kas.ts'
import { openFixture } from './fixture.ts'
import { byHand, upstream } from './upstream.ts'

const run = promisify(execFile)

describe('kas: other protocols through an agent', (it) => {
  const cluster = testCluster()
  let behind: Awaited<ReturnType<typeof upstream>>
  let fixture: Awaited<ReturnType<typeof openFixture>>
  let namespace = ''
  let token = ''
  let seen: IncomingMessage | undefined
  const open: Duplex[] = []

  it.before(async () => {
    namespace = await cluster.namespace('k8s')
    behind = await upstream(answerPod, (request, socket) => {
      seen = request
      open.push(socket)
      const { pathname } = new URL(request.url ?? '', 'http://x')
      if (pathname.endsWith('/refused'))
        socket.end('HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n\r\nnot today')
      else if (request.headers.upgrade === 'websocket') speakExec(request, socket)
      else echo(socket)
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

  const spdy = (path: string, ...more: string[]) =>
    byHand(fixture.url, [
      `POST /k8s/namespaces/${namespace}/agents/dev${path} HTTP/1.1`,
      'Host: kas',
      `Authorization: Bearer ${token}`,
      'Connection: Upgrade',
      'Upgrade: SPDY/3.1',
      'X-Stream-Protocol-Version: v4.channel.k8s.io',
      ...more,
    ])

  it('carries bytes both ways after an upgrade, and the end of either', async () => {
    const client = spdy('/exec?stdin=true')
    await eventually(() => client.text.includes('\r\n\r\n'))
    match(client.text, /^HTTP\/1\.1 101 /)
    match(client.text, /upgrade: SPDY\/3\.1/i)
    match(client.text, /x-stream-protocol-version: v4\.channel\.k8s\.io/i)
    is(seen?.url, '/below/exec?stdin=true')
    is(seen?.headers.authorization, 'Bearer the-agent-s-own')
    client.socket.write('\x00bytes\xff')
    await eventually(() => client.text.includes('bytes'))
    client.socket.end('last')
    await eventually(() => client.hasEnded && client.text.endsWith('last'))
  })

  it('carries megabytes both ways', async () => {
    const client = spdy('/exec')
    await eventually(() => client.text.includes('\r\n\r\n'))
    const head = client.bytes
    client.socket.write(Buffer.alloc(8 * 2 ** 20, 'x'))
    await eventually(() => client.bytes === head + 8 * 2 ** 20)
    client.socket.destroy()
    await eventually(() => open.every((socket) => socket.destroyed))
  })

  it('gives the answer to an upgrade that was refused', async () => {
    const client = spdy('/refused')
    await eventually(() => client.hasEnded)
    match(client.text, /^HTTP\/1\.1 403 /)
    match(client.text, /\r\n\r\n([0-9a-f]+\r\n)?not today/)
  })

  it('refuses pages of browsers, protocols that nobody needs, and sends no token that is hidden among protocols', async () => {
    const page = spdy('/exec', 'Origin: https://evil.example.com')
    await eventually(() => page.hasEnded)
    match(page.text, /^HTTP\/1\.1 400 /)
    const other = byHand(fixture.url, [
      `GET /k8s/namespaces/${namespace}/agents/dev/x HTTP/1.1`,
      'Host: kas',
      `Authorization: Bearer ${token}`,
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
    ])
    await eventually(() => other.hasEnded)
    match(other.text, /^HTTP\/1\.1 400 /)
    const hidden = spdy('/exec', 'Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.c2VjcmV0, v5.channel.k8s.io')
    await eventually(() => seen?.headers['sec-websocket-protocol'] === 'v5.channel.k8s.io')
    hidden.socket.destroy()
  })

  it('ends what is open when its visitor may no longer pass', async () => {
    const client = spdy('/exec')
    await eventually(() => client.text.includes(' 101 '))
    await cluster.kube.delete(GitProjects, { name: 'config', namespace })
    await eventually(() => client.hasEnded)
    await eventually(() => open.every((socket) => socket.destroyed))
    const late = spdy('/exec')
    await eventually(() => late.hasEnded)
    match(late.text, /^HTTP\/1\.1 403 /)
    await createProject(cluster.kube, namespace, 'config', { url: 'https://git.example.com/config' })
    await eventually(() => fixture.project({ name: 'config', namespace }) !== undefined)
  })

  it('serves kubectl exec, over a WebSocket', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'berth-exec-'))
    const kubeconfig = join(folder, 'kubeconfig')
    const server = `${fixture.secureUrl}/k8s/namespaces/${namespace}/agents/dev`
    await writeFile(
      kubeconfig,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'x',
        clusters: [{ name: 'x', cluster: { server, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'x', user: { token } }],
        contexts: [{ name: 'x', context: { cluster: 'x', user: 'x', namespace } }],
      }),
    )
    const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: folder }
    const { stdout } = await run(await kubectl(), ['exec', 'web', '--', 'true'], { env, timeout: 20_000 })
    is(stdout, 'from the pod\n')
    await rm(folder, { recursive: true })
  })

  it('lets an exec session go on while the server stops, for a time of grace', async () => {
    const client = spdy('/exec')
    await eventually(() => client.text.includes(' 101 '))
    const stopping = fixture.stopListening(60_000)
    client.socket.write('still here')
    await eventually(() => client.text.includes('still here'))
    client.socket.end()
    await stopping
    await eventually(() => client.hasEnded && open.every((socket) => socket.destroyed))
  })
})

function echo(socket: Duplex): void {
  socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\nx-stream-protocol-version: v4.channel.k8s.io\r\n\r\n',
  )
  socket.pipe(socket)
}

/** The little that kubectl exec asks for besides. */
const SERVED: Record<string, object> = {
  '/below/api': { kind: 'APIVersions', versions: ['v1'] },
  '/below/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
  '/below/api/v1': {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [{ name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: ['get', 'list'] }],
  },
}

function answerPod({ url }: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(url ?? '', 'http://x')
  const pod = { metadata: { name: 'web' }, spec: { containers: [{ name: 'main' }] }, status: { phase: 'Running' } }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(SERVED[pathname] ?? { apiVersion: 'v1', kind: 'Pod', ...pod }))
}

/** https://kubernetes.io/docs/reference/using-api/websockets: output is channel 1, the outcome channel 3. */
function speakExec({ headers }: IncomingMessage, socket: Duplex): void {
  const accept = createHash('sha1').update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  const [protocol] = (headers['sec-websocket-protocol'] ?? '').split(',')
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: ${accept}\r\nsec-websocket-protocol: ${protocol?.trim()}\r\n\r\n`,
  )
  const frame = (channel: number, text: string) => Buffer.concat([Buffer.of(0x82, text.length + 1, channel), Buffer.from(text)])
  socket.write(frame(1, 'from the pod\n'))
  socket.write(frame(3, '{"kind":"Status","status":"Success"}'))
  socket.write(Buffer.of(0x88, 2, 0x03, 0xe8))
  socket.on('data', () => socket.end())
}
