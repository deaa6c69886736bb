import { is } from 'uvu/assert'
import { freePort } from '../../src/adapters/control-plane/ports.ts'
import { ConfigMaps } from '../../src/api/index.ts'
import { lacksTwoAddresses } from '../support/addresses.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { type ForeignKas, foreignKas } from './foreign-kas.ts'
import { type RunningAgent, runAgent } from './running-agent.ts'

const severalKas: Parameters<typeof describe>[1] = (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  let both: ForeignKas[] = []
  let agent: RunningAgent
  it.afterEach(async () => {
    await agent.stop()
    await Promise.all(both.map((kas) => kas.stop()))
  })
  it.after(() => cluster.close())

  it('has a connection to each of them, and goes on when one goes', async () => {
    const namespace = await cluster.namespace('every')
    // No port of the kernel's choice: on the other address it may be somebody's.
    const port = await freePort()
    const first = await foreignKas({ listen: `127.0.0.1:${port}` })
    both = [first, await foreignKas({ listen: `[::1]:${port}`, agentId: first.agentId })]
    const push = (a: string) => {
      for (const kas of both) kas.push('shop', { 'a.yaml': configMap('one', { a }) })
    }
    push('1')
    for (const kas of both) kas.configure({ gitops: { manifestProjects: [{ id: 'shop', defaultNamespace: namespace }] } })
    agent = await runAgent({ kas: `grpc://localhost:${port}`, kubeconfig, namespace })
    const one = (a: string) => expectObject(kube, ConfigMaps, { name: 'one', namespace }, ({ data }) => data?.a === a)
    await one('1')
    // Between two commits the project is followed at none of them for a moment.
    await eventually(() => both.every((kas) => kas.connections === 1) && both.some((kas) => kas.open('shop') > 0))
    for (const kas of both) {
      if (kas.open('shop') === 0) continue
      // The one that it follows the project at.
      await kas.stop()
      both = both.filter((other) => other !== kas)
      break
    }
    is(both.length, 1)
    push('2')
    await one('2')
  })
}

describe('an agent of several kas', severalKas, await lacksTwoAddresses())
