import { create } from '@bufbuild/protobuf'
import { equal, is, ok } from 'uvu/assert'
import { dial } from '../../../src/adapters/grpc/index.ts'
import { Agents } from '../../../src/api/index.ts'
import { AgentRegistrar, RegisterRequestSchema } from '../../../src/rpc/index.ts'
import { isFailure, Secret } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { createAgent, type RunningKas, runKas } from '../running-kas.ts'

describe('kas: a token whose digest stands in two Agents', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let kas: RunningKas
  let namespace = ''

  it.before(async () => {
    namespace = await cluster.namespace('copied')
    kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace })
  })
  it.after(async () => {
    await kas.stop()
    await cluster.close()
  })

  it('opens for neither, so that nobody is taken for another; and again for the one that is left', async () => {
    const token = await createAgent(kube, namespace, 'dev')
    const connection = dial({ address: kas.addresses.listen, token: async () => new Secret(token) })
    const register = () =>
      connection.unary(AgentRegistrar.method.register, create(RegisterRequestSchema, { podId: 1n })).then(
        () => 'in',
        (thrown) => (isFailure(thrown, 'unauthorized') ? 'out' : String(thrown)),
      )
    await eventually(async () => (await register()) === 'in')
    const agent = await kube.get(Agents, { name: 'dev', namespace })
    ok(agent)
    equal(agent.spec.tokens?.length, 1)
    await kube.create(Agents, { ...agent, metadata: { name: 'copy', namespace } })
    await eventually(async () => (await register()) === 'out')
    // Written anew, the first one moves behind the copy in every list.
    await kube.patch(Agents, { name: 'dev', namespace }, { metadata: { labels: { touched: 'yes' } } })
    is(await register(), 'out')
    await kube.delete(Agents, { name: 'copy', namespace })
    await eventually(async () => (await register()) === 'in')
    connection.close()
  })
})
