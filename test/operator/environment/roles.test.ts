import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import {
  annotations,
  ClusterRoleBindings,
  conditionOf,
  DeploymentTargetClaims,
  DeploymentTargets,
  Environments,
  GitOpsDeploymentManagedEnvironments,
  labels,
  Namespaces,
  Secrets,
  tenantRoles,
} from '../../../src/api/index.ts'
import type { Controller, ControllerContext } from '../../../src/engines/controller/index.ts'
import { environments } from '../../../src/operator/environment/index.ts'
import { managedEnvironments } from '../../../src/operator/managed-environment/index.ts'
import { onboarding } from '../../../src/operator/onboarding/index.ts'
import { Failure } from '../../../src/std/index.ts'
import { deployer, letUsersIn } from '../../support/builders/credentials.ts'
import { boundTo, environment, viaClaim } from '../../support/builders/environments.ts'
import { testCluster } from '../../support/control-plane.ts'
import { onlyIn, type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { claim, target } from '../../support/targets.ts'
import { apply, expectGone, expectObject } from '../../support/verbs.ts'

const ROLES = new URL('../../../deploy/operator/roles/', import.meta.url)
const RBAC = 'rbac.authorization.k8s.io'
const FACTORIES: Record<string, (context: ControllerContext) => Controller> = {
  environment: environments,
  'managed-environment': managedEnvironments,
  onboarding,
}

describe('each environment controller with its own role alone', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const operators: RunningOperator[] = []
  const refusals: string[] = []
  const bindings: string[] = []
  let namespace = ''

  const employ = (name: string, factory: (context: ControllerContext) => Controller) =>
    startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      tenantRole: tenantRoles.operator,
      via: (admin) => admin.as({ user: `${name}-${namespace}`, groups: ['system:authenticated'] }),
      controllers: (context) => [noting(onlyIn([namespace], factory(context)))],
    })
  /** Refusals would be retried and go unseen. */
  const noting = (controller: Controller): Controller => ({
    ...controller,
    async reconcile(object, signal) {
      try {
        return await controller.reconcile(object, signal)
      } catch (thrown) {
        const failure = Failure.from(thrown)
        if (failure.code === 'forbidden') refusals.push(`${controller.name}: ${failure.message}`)
        throw failure
      }
    },
  })

  it.before(async () => {
    namespace = await cluster.namespace('roles')
    for (const name of Object.keys(FACTORIES)) {
      await apply(kube, readFileSync(new URL(`${name}.yaml`, ROLES), 'utf8'))
      const binding = `${name}-${namespace}`
      await kube.create(ClusterRoleBindings, {
        apiVersion: `${RBAC}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name: binding },
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: `berth-${name}` },
        subjects: [{ kind: 'User', name: binding, apiGroup: RBAC }],
      })
      bindings.push(binding)
    }
    await letUsersIn(kube, namespace, bindings)
    for (const [name, factory] of Object.entries(FACTORIES)) operators.push(await employ(name, factory))
  })
  it.after(async () => {
    await Promise.all(operators.map((operator) => operator.stop()))
    await Promise.all(bindings.map((name) => kube.delete(ClusterRoleBindings, { name })))
    await cluster.close()
  })

  const ref = (name: string) => ({ name, namespace })

  it('makes, follows, checks and removes everything, and is refused nothing', async () => {
    const { kubeconfig } = await deployer(kube, namespace, { role: 'view' })
    const data = { kubeconfig: Buffer.from(kubeconfig).toString('base64') }
    await kube.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: ref('credentials'), type: 'Opaque', data })
    const kubernetesCredentials = { defaultNamespace: namespace, apiURL: kube.server, clusterCredentialsSecret: 'credentials' }
    await kube.create(DeploymentTargets, target(namespace, 'dev', { kubernetesCredentials }))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { targetName: 'dev' }))
    await kube.patch(DeploymentTargetClaims, ref('dev'), boundTo('dev'), { subresource: 'status' })
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('dev')))
    const ready = (reason: string) =>
      expectObject(kube, Environments, ref('dev'), ({ status }) => conditionOf(status?.conditions, 'Ready')?.reason === reason)
    await ready('Connected')
    await kube.patch(Secrets, ref('credentials'), { data: { extra: 'eA==' } })
    await expectObject(kube, Secrets, ref('managed-environment-secret-dev'), (copy) => copy.data?.extra === 'eA==')
    await kube.patch(Environments, ref('dev'), { spec: { configuration: null } })
    await ready('OwnNamespace')
    await expectGone(kube, GitOpsDeploymentManagedEnvironments, ref('managed-environment-dev'))
    await expectGone(kube, Secrets, ref('managed-environment-secret-dev'))
    await kube.patch(
      Namespaces,
      { name: namespace },
      { metadata: { labels: { [labels.onboarding]: 'true' }, annotations: { [annotations.onboardingClass]: 'any' } } },
    )
    await expectObject(
      kube,
      Namespaces,
      { name: namespace },
      ({ metadata }) => metadata.annotations?.[annotations.onboarded] !== undefined,
    )
    assert.equal(refusals, [])
  })
})
