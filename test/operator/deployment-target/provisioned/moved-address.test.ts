import * as assert from 'uvu/assert'
import {
  annotations,
  Deployments,
  DeploymentTargetClaims,
  type DeploymentTargetClass,
  DeploymentTargetClasses,
  DeploymentTargets,
  Pods,
  SANDBOX_PROVISIONER,
  SpaceTiers,
  WorkspaceClasses,
  Workspaces,
} from '../../../../src/api/index.ts'
import type { ControllerContext } from '../../../../src/engines/controller/index.ts'
import { targetLifecycle } from '../../../../src/operator/deployment-target/lifecycle/index.ts'
import { sandboxTargets } from '../../../../src/operator/deployment-target/provisioned/index.ts'
import { sandboxReclaim } from '../../../../src/operator/deployment-target/reclaim/index.ts'
import { claimBinding } from '../../../../src/operator/deployment-target-claim/binding/index.ts'
import { sandboxProvisioning } from '../../../../src/operator/deployment-target-claim/provisioning/index.ts'
import { spaceRequests } from '../../../../src/operator/space-request/index.ts'
import { workspaces } from '../../../../src/operator/workspace/index.ts'
import { type BadLine, blackHole } from '../../../support/bad-line.ts'
import { testCluster } from '../../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../../support/operator.ts'
import { spaceTier } from '../../../support/spaces.ts'
import { describe } from '../../../support/suite.ts'
import { sweep } from '../../../support/sweep.ts'
import { claim, targetClass } from '../../../support/targets.ts'
import { expectGone, expectObject } from '../../../support/verbs.ts'
import { workspaceClass } from '../../../support/workspaces.ts'
import { workspaceNamed } from '../../workspace/fixture.ts'

describe('another address of the API', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator | undefined
  let namespace: string
  /** Tiers and classes are of the whole cluster: each test names its own. */
  let names: { usual: string; kept: string; withoutTier: string }
  let line: BadLine

  it.before(async () => {
    namespace = await cluster.namespace('moved')
    names = { usual: namespace, kept: `${namespace}-kept`, withoutTier: `${namespace}-without-tier` }
    for (const tier of [names.usual, names.withoutTier]) await kube.create(SpaceTiers, spaceTier(tier, { quota: {} }))
    const make = (name: string, tierName: string, reclaimPolicy: DeploymentTargetClass['spec']['reclaimPolicy'] = 'Delete') =>
      kube.create(
        DeploymentTargetClasses,
        targetClass(name, { provisioner: SANDBOX_PROVISIONER, parameters: { tierName }, reclaimPolicy }),
      )
    await make(names.usual, names.usual)
    await make(names.kept, names.usual, 'Retain')
    await make(names.withoutTier, names.withoutTier)
    await kube.create(WorkspaceClasses, workspaceClass(namespace))
    line = await blackHole(kube.server)
  })
  it.after(async () => {
    await operator?.stop()
    await sweep(kube, namespace)
    for (const name of Object.values(names)) {
      await kube.delete(DeploymentTargetClasses, { name })
      await kube.delete(SpaceTiers, { name })
    }
    await kube.delete(WorkspaceClasses, { name: namespace })
    await line.close()
    await cluster.close()
  })

  /** An installation that names this address. */
  const restart = async (server: string) => {
    await operator?.stop()
    const controllers = (context: ControllerContext) => [
      claimBinding(context),
      targetLifecycle(context),
      sandboxProvisioning(context),
      sandboxTargets(context),
      sandboxReclaim(context),
      spaceRequests(context, { server }),
      workspaces(context, { own: [kube.server, server] }),
    ]
    operator = await startOperator({ kubeconfig: cluster.kubeconfig, namespace, controllers })
  }
  const at = (name: string) => ({ name, namespace })
  const claimed = async (name: string, deploymentTargetClassName: string) => {
    await kube.create(DeploymentTargetClaims, claim(namespace, name, { deploymentTargetClassName }))
    await expectObject(kube, DeploymentTargetClaims, at(name), ({ status }) => status?.phase === 'Bound')
  }
  const isAt = (name: string, address: string) =>
    expectObject(kube, DeploymentTargets, at(name), ({ spec }) => spec.kubernetesCredentials.apiURL === address)
  /** Where the workspace runs, once it runs there. */
  const runsAt = (apiURL: string) =>
    expectObject(
      kube,
      Workspaces,
      at('web'),
      ({ status }) => status?.actualState === 'Running' && status.target?.apiURL === apiURL,
    )

  it('reaches the targets that are there, whoever holds them, and no pod of a workspace notices', async () => {
    await restart(kube.server)
    await claimed('dev', names.usual)
    await claimed('kept', names.kept)
    await claimed('faulty', names.withoutTier)
    await kube.create(Workspaces, workspaceNamed(namespace, 'web', { target: { claimName: 'dev' } }))
    const { status } = await runsAt(kube.server)
    await kube.delete(DeploymentTargetClaims, at('kept'))
    await expectObject(kube, DeploymentTargets, at('kept-dt'), (target) => target.status?.phase === 'Released')
    await kube.delete(SpaceTiers, { name: names.withoutTier })

    const inside = { namespace: status?.target?.namespace ?? '' }
    const running = async () => [
      ...(await kube.list(Pods, inside)).map(({ metadata }) => metadata.uid),
      ...(await kube.list(Deployments, inside)).map(({ metadata }) => [metadata.uid, metadata.generation]),
    ]
    const before = await running()
    assert.is(before.length, 2)

    await restart(line.url)
    for (const name of ['dev-dt', 'kept-dt', 'faulty-dt']) await isAt(name, line.url)
    await runsAt(line.url)
    await operator?.quiet()
    assert.equal(await running(), before)

    await kube.delete(Workspaces, at('web'))
    await expectGone(kube, Workspaces, at('web'))
    assert.equal(
      (await kube.list(Pods, inside)).filter(({ metadata }) => !metadata.deletionTimestamp),
      [],
    )
  })

  it('reaches neither a target that a person has given another Secret nor one that was not made of the request', async () => {
    const wrong = 'https://wrong.example.com'
    await restart(line.url)
    for (const name of ['theirs', 'stranger']) await claimed(name, names.usual)
    await operator?.stop()
    const pointAt = (name: string, change: { secret?: string; metadata?: object }) =>
      kube.patch(DeploymentTargets, at(name), {
        metadata: change.metadata,
        spec: { kubernetesCredentials: { apiURL: wrong, clusterCredentialsSecret: change.secret } },
      })
    await pointAt('theirs-dt', { secret: 'theirs' })
    await pointAt('stranger-dt', { metadata: { annotations: { [annotations.spaceRequest]: null } } })
    await pointAt('dev-dt', {})
    await restart(line.url)
    // All are looked at when it starts; this one is set right.
    await isAt('dev-dt', line.url)
    await operator?.quiet()
    for (const name of ['theirs-dt', 'stranger-dt']) await isAt(name, wrong)
  })
})
