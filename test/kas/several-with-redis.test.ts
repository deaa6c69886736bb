import { equal, is } from 'uvu/assert'
import { freePort } from '../../src/adapters/control-plane/ports.ts'
import { dial } from '../../src/adapters/grpc/index.ts'
import { Agents } from '../../src/api/index.ts'
import { serveTunnels, type TunnelHandler } from '../../src/engines/tunnel/index.ts'
import { numberOf } from '../../src/kas/projects/number.ts'
import { encodeResponse, requestFrames } from '../../src/rpc/index.ts'
import { Secret, silentLog, systemClock } from '../../src/std/index.ts'
import { developer } from '../support/builders/credentials.ts'
import { testCluster } from '../support/control-plane.ts'
import { type GitHost, gitHost } from '../support/git-host.ts'
import { lacksRedis, type RedisServer, startRedis } from '../support/redis-server.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { METHOD, secretFile } from './routing/kas-stage.ts'
import { createAgent, createProject, openToOwnJobs, type RunningKas, runKas } from './running-kas.ts'

/** Answers every request with what it is called. */
const handler: TunnelHandler = async function* (requests) {
  for await (const frame of requestFrames(requests)) if (frame.kind === 'trailer') break
  yield encodeResponse({ kind: 'head', head: { status: 200, reason: '', headers: { 'Content-Type': ['text/plain'] } } })
  yield encodeResponse({ kind: 'data', data: Buffer.from('done') })
  yield encodeResponse({ kind: 'trailer' })
}

describe(
  'two kas, each whole, and Redis',
  (it) => {
    const cluster = testCluster()
    const all: RunningKas[] = []
    const closing: (() => Promise<unknown>)[] = []
    let redis: RedisServer
    let host: GitHost
    let [namespace, person, token] = ['', '', '']
    let ports: number[] = []

    it.before(async () => {
      namespace = await cluster.namespace('redis')
      redis = await startRedis()
      host = await gitHost()
      const secret = await secretFile()
      closing.push(() => secret.remove())
      const config = await host.repository('config')
      await config.commit({ '.berth/agents/dev/config.yaml': JSON.stringify(openToOwnJobs(namespace)) })
      await createProject(cluster.kube, namespace, 'config', { url: config.url })
      token = await createAgent(cluster.kube, namespace, 'dev')
      person = (await developer(cluster.kube, namespace, 'job')).token
      ports = [await freePort(), await freePort()]
      const peers = ports.map((port) => `grpc://127.0.0.1:${port}`).join()
      for (const port of ports) {
        const flags = { privateApi: `127.0.0.1:${port}`, privateApiSecret: secret.file, peers, redis: redis.url }
        all.push(await runKas({ kubeconfig: cluster.kubeconfig, namespace, flags }))
      }
    })
    it.after(async () => {
      for (const close of closing.reverse()) await close()
      for (const one of all) await one.stop()
      await redis.remove()
      await host.close()
      await cluster.close()
    })

    const visit = async (kas: RunningKas | undefined) => {
      const url = `http://${kas?.addresses.kubernetesApi}/k8s/namespaces/${namespace}/agents/dev/quick`
      const answer = await fetch(url, { headers: { authorization: `Bearer ${person}` } })
      return [answer.status, await answer.text()]
    }

    it('serve people by the tunnels of the other one, with Redis and while it is away', async () => {
      const leaving = new AbortController()
      const connection = dial({ address: all[1]?.addresses.listen ?? '', token: async () => new Secret(token) })
      const services = new Map([[METHOD, handler]])
      const done = serveTunnels({ connection, services, clock: systemClock, log: silentLog, signal: leaving.signal })
      closing.push(async () => {
        leaving.abort()
        await done
        connection.close()
      })
      const agent = await cluster.kube.get(Agents, { name: 'dev', namespace })
      const key = `berth:tunnels-by-agent-id:${numberOf(agent?.metadata.uid ?? '')}`
      await eventually(async () => (await redis.ask('HKEYS', key)) === `grpc://127.0.0.1:${ports[1]}`)
      for (const kas of all) equal(await visit(kas), [200, 'done'])
      await redis.kill()
      for (const kas of all) equal(await visit(kas), [200, 'done'])
      const ready = await fetch(`http://${all[0]?.addresses.operations}/readyz`)
      is(ready.status, 200)
      await redis.start()
      await eventually(async () => (await redis.ask('HKEYS', key)) === `grpc://127.0.0.1:${ports[1]}`)
    })
  },
  await lacksRedis(),
)
