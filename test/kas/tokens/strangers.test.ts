import { equal } from 'uvu/assert'
import {
  AgentConfigurationService,
  AgentRegistrar,
  AgentReports,
  AgentTracker,
  Gitops,
  KasApi,
  Notifications,
} from '../../../src/rpc/index.ts'
import { beginCall } from '../../adapters/grpc/half-call.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { secretFile } from '../routing/kas-stage.ts'
import { type RunningKas, runKas } from '../running-kas.ts'

const FOR_AGENTS = [AgentConfigurationService, AgentRegistrar, AgentReports, Gitops]
const EXTERNAL = [AgentTracker, KasApi, Notifications]

describe('kas: strangers', (it) => {
  const cluster = testCluster()
  let secret: Awaited<ReturnType<typeof secretFile>>
  let kas: RunningKas
  it.before(async () => {
    secret = await secretFile()
    const namespace = await cluster.namespace('strangers')
    kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace, flags: { api: '127.0.0.1:0', apiSecret: secret.file } })
  })
  it.after(async () => {
    await kas.stop()
    await secret.remove()
    await cluster.close()
  })

  it('are refused before any of their messages is read', async () => {
    const listeners = [
      [kas.addresses.listen, FOR_AGENTS],
      [kas.addresses.api ?? '', EXTERNAL],
    ] as const
    for (const [address, services] of listeners)
      for (const { typeName, methods } of services)
        for (const { name, methodKind } of methods) {
          if (methodKind === 'bidi_streaming') continue
          const path = `/${typeName}/${name}`
          const call = beginCall(address, path, 'never-heard-of')
          await eventually(() => call.stream.closed)
          equal([path, ...call.status], [path, '16'])
          call.close()
        }
  })
})
