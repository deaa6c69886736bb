import { Secrets } from '../../src/api/index.ts'
import { targetLifecycle } from '../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../src/operator/deployment-target-claim/binding/index.ts'
import type { TestCluster } from './control-plane.ts'
import { type RunningOperator, startOperator } from './operator.ts'
import { sweep } from './sweep.ts'
import { credentialsSecret } from './targets.ts'

/** What binds claims to targets that people made, at work in a namespace of its own that has credentials for such targets. */
export interface BindingStage {
  namespace: string
  operator: RunningOperator
  stop(): Promise<void>
}

export async function openBinding({ kube, kubeconfig, namespace: create }: TestCluster, hint: string): Promise<BindingStage> {
  const namespace = await create(hint)
  await kube.create(Secrets, credentialsSecret(namespace))
  const controllers = (context: Parameters<typeof claimBinding>[0]) => [claimBinding(context), targetLifecycle(context)]
  const operator = await startOperator({ kubeconfig, namespace, controllers })
  return {
    namespace,
    operator,
    async stop() {
      await operator.stop()
      await sweep(kube, namespace)
    },
  }
}
