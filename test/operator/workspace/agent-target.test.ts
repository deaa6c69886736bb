import { equal, is, match } from 'uvu/assert'
import {
  AGENT_PROVISIONER,
  Agents,
  Deployments,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  Namespaces,
  SpaceTiers,
  WorkspaceClasses,
  Workspaces,
} from '../../../src/api/index.ts'
import { sandboxTargets } from '../../../src/operator/deployment-target/provisioned/index.ts'
import { sandboxReclaim } from '../../../src/operator/deployment-target/reclaim/index.ts'
import { sandboxProvisioning } from '../../../src/operator/deployment-target-claim/provisioning/index.ts'
import { spaceRequests } from '../../../src/operator/space-request/index.ts'
import { Secret } from '../../../src/std/index.ts'
import { openFixture } from '../../kas/kubernetes-api/fixture.ts'
import { deployer } from '../../support/builders/credentials.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { spaceTier } from '../../support/spaces.ts'
import { describe } from '../../support/suite.ts'
import { sweep } from '../../support/sweep.ts'
import { targetClass } from '../../support/targets.ts'
import { expectGone } from '../../support/verbs.ts'
import { workspaceClass } from '../../support/workspaces.ts'
import { everybody, INLINE, words } from './fixture.ts'

describe('workspace: in the cluster of an agent', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let fixture: Awaited<ReturnType<typeof openFixture>>
  let operator: RunningOperator
  let namespace = ''
  const { at, becomes, set } = words(cluster, () => namespace)

  it.before(async () => {
    namespace = await cluster.namespace('workspace-far')
    fixture = await openFixture({ kube, namespace, kubeconfig: cluster.kubeconfig })
    await fixture.agent('dev', {})
    await kube.patch(Agents, at('dev'), { spec: { spaces: true } })
    const { token } = await deployer(kube, namespace, { name: 'operator' })
    const agents = { url: fixture.secureUrl, ca: fixture.authority, token: async () => new Secret(token), audience: 'berth-kas' }
    const roomy = { quota: { pods: '20' }, limitRange: [], clusterRole: 'admin' }
    await kube.create(SpaceTiers, spaceTier(namespace, roomy))
    const parameters = { agent: `${namespace}/dev`, tierName: namespace }
    const spec = { provisioner: AGENT_PROVISIONER, parameters, reclaimPolicy: 'Delete' as const }
    await kube.create(DeploymentTargetClasses, targetClass(namespace, spec))
    await kube.create(WorkspaceClasses, workspaceClass(namespace, { deploymentTargetClassName: namespace }))
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [
        ...everybody(context),
        sandboxProvisioning(context),
        sandboxTargets(context),
        sandboxReclaim(context),
        spaceRequests(context, { agents }),
      ],
    })
  })
  it.after(async () => {
    await operator.stop()
    await fixture.stop()
    await sweep(kube, namespace)
    await kube.delete(WorkspaceClasses, { name: namespace })
    await kube.delete(DeploymentTargetClasses, { name: namespace })
    await kube.delete(SpaceTiers, { name: namespace })
    await cluster.close()
  })

  it('lives a whole life by way of kas, on a claim of its own', async () => {
    const spec = { workspaceClassName: namespace, devfile: { inline: INLINE } }
    await kube.create(Workspaces, { apiVersion: 'berth.dev/v1alpha1', kind: 'Workspace', metadata: at('web'), spec })
    const { status } = await becomes('web', 'Running')
    const home = status?.target?.namespace ?? ''
    match(status?.target?.apiURL ?? '', `/k8s/namespaces/${namespace}/agents/dev`)
    is((await kube.get(Deployments, { name: 'workspace-web', namespace: home }))?.spec?.replicas, 1)
    await set('web', { desiredState: 'Stopped' })
    await becomes('web', 'Stopped')
    await set('web', { desiredState: 'Running' })
    await becomes('web', 'Running')
    await kube.delete(Workspaces, at('web'))
    await expectGone(kube, Workspaces, at('web'))
    await expectGone(kube, DeploymentTargetClaims, at('workspace-web'))
    await expectGone(kube, Namespaces, { name: home })
    equal(await kube.list(Deployments, { namespace }), [])
  })
})
