import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { is, ok } from 'uvu/assert'
import { type RunningAgent, runAgent } from '../../agent/running-agent.ts'
import { developer } from '../../support/builders/credentials.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type GitHost, gitHost } from '../../support/git-host.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { createAgent, createProject, openToOwnJobs, type RunningKas, runKas } from '../running-kas.ts'
import { upstream } from './upstream.ts'

const MIB = 2 ** 20
const MUCH = 100 * MIB
/** After so much a reader takes nothing until nothing moves any more. */
const STEP = 20 * MIB
const PIECE = Buffer.alloc(64 * 1024)
/** What may have left its writer and not reached its reader: mostly the kernel's buffers of three connections. */
const UNDER_WAY = 40 * MIB
/** By how much all programs on the way may grow, which are one process here. */
const GROWTH = 16 * MIB
/** What lay beside the heap of JavaScript is given back a while after it was collected: after so many looks nothing more will. */
const LOOKS = 10

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Bytes that are in use, in and beside the heap of JavaScript. */
async function held(): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  let looks = 0
  await eventually(() => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    const now = heapUsed + external
    looks = now > least - MIB ? looks + 1 : 0
    least = Math.min(least, now)
    return looks >= LOOKS
  })
  return least
}

/** 100 MiB that are counted as they are asked for. */
function createSource() {
  const source = {
    made: 0,
    *pieces() {
      for (source.made = 0; source.made < MUCH; source.made += PIECE.length) yield PIECE
    },
  }
  return source
}

describe('kas and tunnel: slow readers', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  const [log, upload] = [createSource(), createSource()]
  let received: PromiseWithResolvers<IncomingMessage> = Promise.withResolvers()
  let far: Awaited<ReturnType<typeof upstream>>
  let host: GitHost
  let kas: RunningKas
  let agent: RunningAgent
  let namespace = ''
  let token = ''

  it.before(async () => {
    namespace = await cluster.namespace('slow')
    far = await upstream((incoming, response) => {
      if (incoming.method === 'PUT') {
        received.resolve(incoming)
        incoming.once('end', () => response.end('{}'))
      } else if (incoming.url?.endsWith('/log')) pipeline(Readable.from(log.pieces()), response).catch(() => undefined)
      else response.writeHead(incoming.url?.endsWith('/version') ? 200 : 404).end('{}')
    })
    host = await gitHost()
    const config = await host.repository('config')
    await config.commit({ '.berth/agents/dev/config.yaml': JSON.stringify(openToOwnJobs(namespace)) })
    await createProject(kube, namespace, 'config', { url: config.url })
    kas = await runKas({ kubeconfig, namespace, flags: { logLevel: 'warn' } })
    const secret = await createAgent(kube, namespace, 'dev')
    agent = await runAgent({ kas: `grpc://${kas.addresses.listen}`, kubeconfig: far.kubeconfig, namespace, token: secret })
    token = (await developer(kube, namespace, 'job')).token
  })
  // Until kas knows the Agent, and so that what is loaded and made once is no growth; and again, since a machine that is busy lets
  // pings of the tunnel wait while rubbish is collected, and the agent comes back.
  it.beforeEach(() =>
    eventually(async () => {
      const answer = await answerTo(ask('GET', '/version'))
      answer.resume()
      return answer.statusCode === 200
    }),
  )
  it.after(async () => {
    await agent.stop()
    await kas.stop()
    await host.close()
    await far.stop()
    await cluster.close()
  })

  const ask = (method: string, path: string): ClientRequest =>
    request(`http://${kas.addresses.kubernetesApi}/k8s/namespaces/${namespace}/agents/dev${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })

  const answerTo = async (asked: ClientRequest): Promise<IncomingMessage> => {
    if (asked.method === 'GET') asked.end()
    const [answer]: IncomingMessage[] = await once(asked, 'response')
    ok(answer)
    return answer
  }

  /** Reads with pauses; tells how much was under way in them, and by how much memory had grown. */
  async function readSlowly(from: AsyncIterable<Uint8Array>, source: { made: number }) {
    const before = await held()
    const most = { got: 0, underWay: 0, growth: 0 }
    for await (const chunk of from) {
      const steps = Math.floor(most.got / STEP)
      most.got += chunk.length
      if (Math.floor(most.got / STEP) === steps) continue
      await atRest(() => source.made)
      most.underWay = Math.max(most.underWay, source.made - most.got)
      most.growth = Math.max(most.growth, (await held()) - before)
    }
    return most
  }

  /** Waits until this number stands still. */
  async function atRest(read: () => number): Promise<void> {
    let last = -1
    await eventually(() => {
      const now = read()
      const isSame = now === last
      last = now
      return isSame
    })
  }

  const expectBounds = ({ got, underWay, growth }: Awaited<ReturnType<typeof readSlowly>>): void => {
    is(got, MUCH)
    ok(underWay < UNDER_WAY, `${underWay} bytes were under way`)
    ok(growth < GROWTH, `memory grew by ${growth} bytes`)
  }

  it('keep an answer from piling up anywhere', async () => {
    expectBounds(await readSlowly(await answerTo(ask('GET', '/log')), log))
  })

  it('keep a request from piling up anywhere', async () => {
    received = Promise.withResolvers()
    const asked = ask('PUT', '/upload')
    const answered = answerTo(asked)
    const sent = pipeline(Readable.from(upload.pieces()), asked).catch(() => undefined)
    const early = answered.then(({ statusCode }) => {
      throw new Error(`the answer ${statusCode} came before the request was read`)
    })
    expectBounds(await readSlowly(await Promise.race([received.promise, early]), upload))
    await sent
    is((await answered).statusCode, 200)
  })
})
