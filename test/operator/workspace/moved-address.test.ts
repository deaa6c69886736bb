import * as assert from 'uvu/assert'
import {
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  labels,
  Pods,
  SANDBOX_PROVISIONER,
  SpaceRequests,
  SpaceTiers,
  WorkspaceClasses,
  Workspaces,
} from '../../../src/api/index.ts'
import type { ControllerContext } from '../../../src/engines/controller/index.ts'
import { targetLifecycle } from '../../../src/operator/deployment-target/lifecycle/index.ts'
import { sandboxTargets } from '../../../src/operator/deployment-target/provisioned/index.ts'
import { sandboxReclaim } from '../../../src/operator/deployment-target/reclaim/index.ts'
import { claimBinding } from '../../../src/operator/deployment-target-claim/binding/index.ts'
import { sandboxProvisioning } from '../../../src/operator/deployment-target-claim/provisioning/index.ts'
import { spaceRequests } from '../../../src/operator/space-request/index.ts'
import { workspaces } from '../../../src/operator/workspace/index.ts'
import { type BadLine, blackHole } from '../../support/bad-line.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { spaceTier } from '../../support/spaces.ts'
import { describe } from '../../support/suite.ts'
import { sweep } from '../../support/sweep.ts'
import { claim, targetClass } from '../../support/targets.ts'
import { expectGone, expectObject } from '../../support/verbs.ts'
import { workspaceClass } from '../../support/workspaces.ts'
import { workspaceNamed } from './fixture.ts'

describe('another address of the API', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace: string
  /** The other address. */
  let line: BadLine | undefined

  it.before(async () => {
    namespace = await cluster.namespace('moved')
    await kube.create(SpaceTiers, spaceTier(namespace, { quota: {} }))
    const spec = { provisioner: SANDBOX_PROVISIONER, parameters: { tierName: namespace }, reclaimPolicy: 'Delete' } as const
    await kube.create(DeploymentTargetClasses, targetClass(namespace, spec))
    await kube.create(WorkspaceClasses, workspaceClass(namespace))
  })
  it.after(async () => {
    await operator.stop()
    await sweep(kube, namespace)
    await kube.delete(DeploymentTargetClasses, { name: namespace })
    await kube.delete(SpaceTiers, { name: namespace })
    await kube.delete(WorkspaceClasses, { name: namespace })
    await line?.close()
    await cluster.close()
  })

  const open = async (server: string) => {
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
  /** Where the workspace runs, once it runs there. */
  const runsAt = (apiURL: string) =>
    expectObject(
      kube,
      Workspaces,
      at('web'),
      ({ status }) => status?.actualState === 'Running' && status.target?.apiURL === apiURL,
    )

  it('reaches the targets that are there, and no pod of a workspace notices', async () => {
    await open(kube.server)
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { deploymentTargetClassName: namespace }))
    await kube.create(Workspaces, workspaceNamed(namespace, 'web', { target: { claimName: 'dev' } }))
    const { status } = await runsAt(kube.server)
    const inside = { namespace: status?.target?.namespace ?? '' }
    const pods = async () => (await kube.list(Pods, inside)).map(({ metadata }) => metadata.uid)
    const before = await pods()
    assert.is(before.length, 1)

    await operator.stop()
    line = await blackHole(kube.server)
    const other = line.url
    await open(other)
    const moved = await expectObject(
      kube,
      DeploymentTargets,
      at('dev-dt'),
      ({ spec }) => spec.kubernetesCredentials.apiURL === other,
    )
    assert.is(moved.spec.kubernetesCredentials.defaultNamespace, inside.namespace)
    await runsAt(other)
    assert.equal(await pods(), before)

    await kube.delete(Workspaces, at('web'))
    await expectGone(kube, Workspaces, at('web'))
    assert.equal(
      (await kube.list(Pods, inside)).filter(({ metadata }) => !metadata.deletionTimestamp),
      [],
    )
  })

  it('does not reach a target that a person has given another Secret', async () => {
    const theirs = { clusterCredentialsSecret: 'theirs', apiURL: 'https://theirs.example.com' }
    await kube.patch(DeploymentTargets, at('dev-dt'), { spec: { kubernetesCredentials: theirs } })
    await operator.stop()
    const [request] = await kube.list(SpaceRequests, { namespace })
    const ref = at(request?.metadata.name ?? '')
    await kube.patch(SpaceRequests, ref, { metadata: { labels: { [labels.target]: null } } })
    await open(kube.server)
    await expectObject(
      kube,
      SpaceRequests,
      ref,
      ({ metadata, status }) => metadata.labels?.[labels.target] === 'dev-dt' && status?.targetClusterURL === kube.server,
    )
    await operator.quiet()
    const { apiURL } = (await kube.get(DeploymentTargets, at('dev-dt')))?.spec.kubernetesCredentials ?? {}
    assert.is(apiURL, theirs.apiURL)
  })
})
