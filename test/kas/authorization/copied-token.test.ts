import { create } from '@bufbuild/protobuf'
import { equal, is, ok } from 'uvu/assert'
import { dial } from '../../../src/adapters/grpc/index.ts'
import { Agents, conditionOf } from '../../../src/api/index.ts'
import { AgentRegistrar, RegisterRequestSchema } from '../../../src/rpc/index.ts'
import { isFailure, Secret } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { createAgent, type RunningKas, runKas } from '../running-kas.ts'

describe('kas: a token whose digest was copied into another Agent', (it) => {
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

  const specOf = async (name: string) => {
    const agent = await kube.get(Agents, { name, namespace })
    ok(agent)
    return agent.spec
  }
  const statusOf = async (name: string) => (await kube.get(Agents, { name, namespace }))?.status
  const isCopied = async (name: string) => {
    const status = await statusOf(name)
    return status?.tokens?.[0]?.copied === true && conditionOf(status.conditions, 'Connected')?.reason === 'TokenCopied'
  }
  /** As whom the token gets in: there its pod is shown. */
  const visit = async (token: string) => {
    const connection = dial({ address: kas.addresses.listen, token: async () => new Secret(token) })
    try {
      await connection.unary(AgentRegistrar.method.register, create(RegisterRequestSchema, { podId: 1n }))
      return 'in'
    } catch (thrown) {
      return isFailure(thrown, 'unauthorized') ? 'out' : String(thrown)
    } finally {
      connection.close()
    }
  }
  const podsOf = async (name: string) => (await statusOf(name))?.connectedPods?.length ?? 0

  it('opens for the one that had it first, and never for the copy', async () => {
    const token = await createAgent(kube, namespace, 'dev')
    await eventually(async () => (await statusOf('dev'))?.tokens?.length === 1)
    const spec = await specOf('dev')
    await kube.create(Agents, { apiVersion: 'berth.dev/v1alpha1', kind: 'Agent', metadata: { name: 'copy', namespace }, spec })
    await eventually(() => isCopied('copy'))
    is(await visit(token), 'in')
    await eventually(async () => (await podsOf('dev')) === 1)
    is(await podsOf('copy'), 0)
    // The owner may make it anew: meanwhile the token is nobody's.
    await kube.delete(Agents, { name: 'dev', namespace })
    await eventually(async () => (await visit(token)) === 'out')
    await kube.create(Agents, { apiVersion: 'berth.dev/v1alpha1', kind: 'Agent', metadata: { name: 'dev', namespace }, spec })
    await eventually(async () => (await visit(token)) === 'in')
    is(await podsOf('copy'), 0)
  })

  it('opens for the one that had it first, also when the copy is in an older Agent', async () => {
    await createAgent(kube, namespace, 'older')
    const token = await createAgent(kube, namespace, 'younger')
    await eventually(async () => (await statusOf('younger'))?.tokens?.length === 1)
    const { tokens } = await specOf('younger')
    await kube.patch(Agents, { name: 'older', namespace }, { spec: { tokens } })
    await eventually(() => isCopied('older'))
    is(await visit(token), 'in')
    await eventually(async () => (await podsOf('younger')) === 1)
    equal(
      (await statusOf('younger'))?.tokens,
      tokens?.map(({ sha256 }) => ({ sha256 })),
    )
  })
})
