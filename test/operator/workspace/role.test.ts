import { readFileSync } from 'node:fs'
import { is } from 'uvu/assert'
import { parse } from 'yaml'
import {
  ClusterRoleBindings,
  DeploymentTargetClaims,
  DeploymentTargets,
  Secrets,
  tenantRoles,
  WorkspaceClasses,
  Workspaces,
} from '../../../src/api/index.ts'
import { targetLifecycle } from '../../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../../src/operator/deployment-target-claim/binding/index.ts'
import { workspaces } from '../../../src/operator/workspace/index.ts'
import { letUsersIn, untilMay } from '../../support/builders/credentials.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { kubeconfigSecret, target } from '../../support/targets.ts'
import { apply, expectGone, expectObject } from '../../support/verbs.ts'
import { workspaceClass } from '../../support/workspaces.ts'

const ROLE = new URL('../../../deploy/operator/roles/workspace.yaml', import.meta.url)

describe('workspace: role', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const operators: RunningOperator[] = []
  let namespace = ''
  const asked: string[] = []
  const meter = ({ verb }: { verb: string }) => asked.push(verb)

  it.before(async () => {
    namespace = await cluster.namespace('workspace-role')
    await apply(kube, readFileSync(ROLE, 'utf8'))
    await kube.create(ClusterRoleBindings, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'berth-workspace' },
      subjects: [{ kind: 'User', name: namespace, apiGroup: 'rbac.authorization.k8s.io' }],
    })
    await letUsersIn(kube, namespace, [namespace])
    // An operator looks once, when it starts, whether it may see its whole cluster.
    await untilMay(kube, '', namespace, { resource: 'pods', verb: 'list' })
    const apiURL: string = parse(readFileSync(cluster.kubeconfig, 'utf8')).clusters[0].cluster.server
    await kube.create(Secrets, kubeconfigSecret(namespace, readFileSync(cluster.kubeconfig)))
    const kubernetesCredentials = { defaultNamespace: namespace, apiURL, clusterCredentialsSecret: 'credentials' }
    await kube.create(DeploymentTargets, target(namespace, 'here', { kubernetesCredentials }))
    const spec = { deploymentTargetClassName: 'by-hand' }
    await kube.create(WorkspaceClasses, workspaceClass(namespace, spec))
    const { kubeconfig } = cluster
    const others = await startOperator({
      kubeconfig,
      namespace,
      controllers: (operator) => [claimBinding(operator), targetLifecycle(operator)],
    })
    const own = await startOperator({
      kubeconfig,
      namespace,
      tenantRole: tenantRoles.operator,
      via: (admin) => admin.as({ user: namespace }),
      controllers: (operator) => [workspaces(operator, { own: [kube.server], meter })],
    })
    operators.push(others, own)
  })
  it.after(async () => {
    await Promise.all(operators.map((operator) => operator.stop()))
    await kube.delete(ClusterRoleBindings, { name: namespace })
    await kube.delete(WorkspaceClasses, { name: namespace })
    await cluster.close()
  })

  it('is enough for a whole life with a claim of its own', async () => {
    const ref = { name: 'web', namespace }
    const inline = 'schemaVersion: 2.2.0\ncomponents: [{ name: tools, container: { image: "example.com/tools:1" } }]'
    const spec = { workspaceClassName: namespace, devfile: { inline } }
    await kube.create(Workspaces, { apiVersion: 'berth.dev/v1alpha1', kind: 'Workspace', metadata: ref, spec })
    await expectObject(kube, Workspaces, ref, ({ status }) => status?.actualState === 'Running')
    await kube.patch(Workspaces, ref, { spec: { desiredState: 'RestartRequested' } })
    await expectObject(
      kube,
      Workspaces,
      ref,
      ({ spec: wish, status }) => wish.desiredState === 'Running' && status?.actualState === 'Running',
    )
    // It may see workspaces of its whole cluster; with less, each target would be watched.
    is(asked.includes('watch'), false)
    await kube.delete(Workspaces, ref)
    await expectGone(kube, Workspaces, ref)
    await expectGone(kube, DeploymentTargetClaims, { name: 'workspace-web', namespace })
  })
})
