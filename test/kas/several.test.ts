import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { equal, is, match, ok } from 'uvu/assert'
import { freePort } from '../../src/adapters/control-plane/ports.ts'
import { dial } from '../../src/adapters/grpc/index.ts'
import { Agents } from '../../src/api/index.ts'
import { serveTunnels, type TunnelHandler } from '../../src/engines/tunnel/index.ts'
import type { KasAddresses } from '../../src/kas/index.ts'
import { encodeResponse, requestFrames } from '../../src/rpc/index.ts'
import { Failure, Secret, seconds, silentLog, systemClock } from '../../src/std/index.ts'
import { type Berth, startBerth } from '../cli/berth.ts'
import { type Balancer, balancer } from '../support/balancer.ts'
import { developer } from '../support/builders/credentials.ts'
import { testCluster } from '../support/control-plane.ts'
import { type GitHost, gitHost } from '../support/git-host.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { byHand } from './kubernetes-api/upstream.ts'
import { rawAgent } from './raw-agent.ts'
import { METHOD, secretFile } from './routing/kas-stage.ts'
import { createAgent, createProject, openToOwnJobs } from './running-kas.ts'

interface Kas {
  berth: Berth
  addresses: KasAddresses
}

/** What a visitor got: a status, or that the connection was cut. */
type Outcome = { status: number; reason?: unknown; message?: unknown } | 'cut'

describe('several kas, each a process', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  const all: Kas[] = []
  const closing: (() => unknown)[] = []
  let [namespace, folder, person, token] = ['', '', '', '']
  let secret: Awaited<ReturnType<typeof secretFile>>
  let host: GitHost
  let service: Balancer
  let ports: number[] = []
  /** Requests that the agent has, and is asked to answer when the test says so. */
  const held: PromiseWithResolvers<void>[] = []
  let leaveAgent: () => Promise<void> = async () => undefined

  const handler: TunnelHandler = async function* (requests, { signal }) {
    let path = ''
    for await (const frame of requestFrames(requests)) {
      if (frame.kind === 'head') path = frame.head.path
      if (frame.kind === 'trailer') break
    }
    const head = encodeResponse({ kind: 'head', head: { status: 200, reason: '', headers: { 'Content-Type': ['text/plain'] } } })
    if (path === '/session') yield head
    if (path !== '/quick') {
      const turn = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => turn.resolve())
      held.push(turn)
      await turn.promise
    }
    if (path !== '/session') yield head
    yield encodeResponse({ kind: 'data', data: Buffer.from('done') })
    yield encodeResponse({ kind: 'trailer' })
  }

  async function startKas(n: number): Promise<Kas> {
    const flags = {
      kubeconfig,
      namespace,
      'lease-namespace': namespace,
      'data-dir': join(folder, `${n}-${all.length}`),
      listen: '127.0.0.1:0',
      operations: '127.0.0.1:0',
      webhooks: '127.0.0.1:0',
      'kubernetes-api': '127.0.0.1:0',
      'git-credentials': '127.0.0.1:0',
      'private-api': `127.0.0.1:${ports[n]}`,
      'private-api-secret': secret.file,
      peers: ports.map((port) => `grpc://127.0.0.1:${port}`).join(),
      'session-grace': '8',
      'agent-wait': '30',
    }
    const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])
    const berth = startBerth(['kas', ...words], { env: { PATH: host.environment.PATH } })
    closing.push(async () => {
      berth.process.kill('SIGKILL')
      await berth.ended
    })
    const line = () => {
      const { stdout, stderr } = berth.printed()
      const found = stdout.split('\n').find((one) => one.includes('kas started'))
      if (found === undefined) throw new Failure('unavailable', `kas has not started: ${stderr}${stdout}`)
      return found
    }
    const started = await eventually(line, { within: seconds(180) })
    return { berth, addresses: JSON.parse(started) }
  }

  it.before(async () => {
    namespace = await cluster.namespace('several')
    folder = await mkdtemp(join(tmpdir(), 'berth-several-'))
    secret = await secretFile()
    host = await gitHost()
    service = await balancer()
    const config = await host.repository('config')
    await config.commit({ '.berth/agents/dev/config.yaml': JSON.stringify(openToOwnJobs(namespace)) })
    await createProject(kube, namespace, 'config', { url: config.url })
    token = await createAgent(kube, namespace, 'dev')
    person = (await developer(kube, namespace, 'job')).token
    ports = [await freePort(), await freePort(), await freePort()]
    all.push(...(await Promise.all(ports.map((_, n) => startKas(n)))))
  })
  it.after(async () => {
    await leaveAgent()
    for (const close of closing.reverse()) await close()
    await service.close()
    await secret.remove()
    await host.close()
    await rm(folder, { recursive: true, force: true })
    await cluster.close()
  })

  const kas = (n: number): Kas => {
    const one = all[n]
    ok(one)
    return one
  }
  const prefer = (...order: number[]) => service.prefer(order.map((n) => kas(n).addresses.listen))
  const urlOf = (n: number) => `http://${kas(n).addresses.kubernetesApi}`
  const target = '/k8s/namespaces/'
  const visit = async (n: number, path: string): Promise<Outcome> => {
    try {
      const url = `${urlOf(n)}${target}${namespace}/agents/dev${path}`
      const answer = await fetch(url, { headers: { authorization: `Bearer ${person}` } })
      const text = await answer.text()
      return answer.status === 200 ? { status: 200 } : { ...JSON.parse(text), status: answer.status }
    } catch {
      return 'cut'
    }
  }
  const shownPods = async () =>
    (await kube.get(Agents, { name: 'dev', namespace }))?.status?.connectedPods?.map(({ name }) => name) ?? []
  const killKas = async (n: number) => {
    kas(n).berth.process.kill('SIGKILL')
    await kas(n).berth.ended
  }
  /** So many requests that the agent has and does not answer. */
  const openVisits = async (n: number, count: number) => {
    held.length = 0
    const asked = Array.from({ length: count }, () => visit(n, '/slow'))
    await eventually(() => held.length === count)
    return asked
  }
  /** The agent's tunnels, through the Service. */
  const connectAgent = () => {
    const leaving = new AbortController()
    const connection = dial({ address: service.address, token: async () => new Secret(token) })
    const services = new Map([[METHOD, handler]])
    const done = serveTunnels({ connection, services, clock: systemClock, log: silentLog, signal: leaving.signal })
    return async () => {
      leaving.abort()
      await done
      connection.close()
    }
  }

  it('serve people whichever they ask, by the rules that the agent was given at another one, or at none', async () => {
    prefer(1)
    leaveAgent = connectAgent()
    for (const n of [0, 1, 2]) equal(await visit(n, '/quick'), { status: 200 })
  })

  it('show the pods of all of them', async () => {
    for (const [n, podName] of ['a', 'b', 'c'].entries()) {
      const agent = rawAgent(kas(n).addresses.listen, token)
      closing.push(() => agent.close())
      await eventually(() => agent.register({ agentMeta: { podName }, podId: BigInt(n + 1) }).then(() => true))
    }
    await eventually(async () => isDeepStrictEqual(await shownPods(), ['a', 'b', 'c']))
    // One that is not asked for anything until the last claim.
    await killKas(2)
  })

  it('end 200 open requests with a stated error when the kas that has the agent is killed, and go on with another one', async () => {
    const asked = await openVisits(0, 200)
    prefer(0)
    await killKas(1)
    for (const outcome of await Promise.all(asked)) {
      ok(outcome !== 'cut')
      is(outcome.status, 503)
      match(String(outcome.message), /^Berth: the kas that has the agent failed: /)
    }
    equal(await visit(0, '/quick'), { status: 200 })
    all[1] = await startKas(1)
    await eventually(async () => isDeepStrictEqual(await visit(1, '/quick'), { status: 200 }))
  })

  it('cut what people had open at a kas that is killed, and answer them elsewhere', async () => {
    const asked = await openVisits(1, 100)
    await killKas(1)
    equal(new Set(await Promise.all(asked)), new Set(['cut']))
    equal(await visit(0, '/quick'), { status: 200 })
    all[1] = await startKas(1)
    await eventually(async () => isDeepStrictEqual(await visit(1, '/quick'), { status: 200 }))
  })

  it('send agents elsewhere at once when one is to end, let requests go on, and end sessions when their time is over', async () => {
    await leaveAgent()
    prefer(1)
    leaveAgent = connectAgent()
    const session = byHand(urlOf(1), [
      `GET ${target}${namespace}/agents/dev/session HTTP/1.1`,
      'Host: kas',
      `Authorization: Bearer ${person}`,
    ])
    held.length = 0
    await eventually(() => session.text.startsWith('HTTP/1.1 200') && held.length === 1)
    // One of them is answered within the time, and the session is not.
    const waiting = [visit(1, '/slow'), visit(1, '/slow'), visit(0, '/slow')]
    await eventually(() => held.length === 4)
    prefer(0)
    kas(1).berth.process.kill('SIGTERM')
    // Elsewhere at once, while the old one still has requests.
    equal(await visit(0, '/quick'), { status: 200 })
    is(session.hasEnded, false)
    held[1]?.resolve()
    equal(await Promise.race(waiting), { status: 200 })
    is((await kas(1).berth.ended).code, 0)
    await eventually(() => session.hasEnded)
    const outcomes = (await Promise.all(waiting)).map((one) => (one === 'cut' ? 'cut' : one.status))
    equal(outcomes.sort(), [200, 503, 503])
    match(kas(1).berth.printed().stdout, /Visits are ended/)
    equal(await visit(0, '/quick'), { status: 200 })
  })

  it('take out the pods that only those had which were killed, and no other', async () => {
    // A Lease lasts 35 s, a pod has 15 s more to be claimed, and for a minute after its start a kas takes nothing out.
    await eventually(async () => isDeepStrictEqual(await shownPods(), ['a']))
  })
})
