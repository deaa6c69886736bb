import * as assert from 'uvu/assert'
import {
  conditionOf,
  DeploymentTargetClaims,
  DeploymentTargets,
  Environments,
  GitOpsDeploymentManagedEnvironments,
  Secrets,
} from '../../../src/api/index.ts'
import { targetLifecycle } from '../../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../../src/operator/deployment-target-claim/binding/index.ts'
import { environments } from '../../../src/operator/environment/index.ts'
import { managedEnvironments } from '../../../src/operator/managed-environment/index.ts'
import { deployer } from '../../support/builders/credentials.ts'
import { environment, viaClaim } from '../../support/builders/environments.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { claim, target } from '../../support/targets.ts'
import { expectGone, expectObject } from '../../support/verbs.ts'

describe('from a claim to a connected Environment', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('journey')
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [
        claimBinding(context),
        targetLifecycle(context),
        environments(context),
        managedEnvironments(context),
      ],
    })
  })
  it.afterEach(() => operator.stop())
  it.after(() => cluster.close())

  const ref = (name: string) => ({ name, namespace })
  const ready = (reason: string) =>
    expectObject(kube, Environments, ref('dev'), ({ status }) => conditionOf(status?.conditions, 'Ready')?.reason === reason)
  const credentials = (text: string) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'credentials', namespace },
    type: 'Opaque',
    data: { kubeconfig: Buffer.from(text).toString('base64') },
  })
  /** Claim, target of a class that does not exist, Environment; in this order nothing is there yet when it is named. */
  const setOff = async () => {
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('dev')))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { deploymentTargetClassName: 'test-class' }))
    const kubernetesCredentials = { defaultNamespace: namespace, apiURL: kube.server, clusterCredentialsSecret: 'credentials' }
    await kube.create(
      DeploymentTargets,
      target(namespace, 'dev', { deploymentTargetClassName: 'test-class', kubernetesCredentials }),
    )
  }

  it('X7, X23: in whatever order the parts come, the Environment ends up connected', async () => {
    const { kubeconfig } = await deployer(kube, namespace, { role: 'edit' })
    await setOff()
    await ready('WaitingForClaim')
    await kube.create(Secrets, credentials(kubeconfig))
    const { status } = await ready('Connected')
    assert.is(conditionOf(status?.conditions, 'Ready')?.status, 'True')
    assert.is(status?.target, 'dev')
    await expectObject(kube, GitOpsDeploymentManagedEnvironments, ref('managed-environment-dev'), ({ spec }) => {
      assert.equal([spec.credentialsSecret, spec.namespaces], ['managed-environment-secret-dev', [namespace]])
    })
  })

  it('a token that is rotated reaches the managed environment without anybody noticing', async () => {
    const first = await deployer(kube, namespace, { role: 'edit' })
    await kube.create(Secrets, credentials(first.kubeconfig))
    await setOff()
    const before = await ready('Connected')
    const { kubeconfig } = await deployer(kube, namespace, { role: 'edit', name: 'rotated' })
    const { data } = await kube.patch(Secrets, ref('credentials'), { data: credentials(kubeconfig).data })
    await expectObject(kube, Secrets, ref('managed-environment-secret-dev'), (copy) => copy.data?.kubeconfig === data?.kubeconfig)
    const after = await ready('Connected')
    assert.equal(after.status?.conditions, before.status?.conditions)
  })

  it('a claim that goes takes the way with it, and a target that goes is told', async () => {
    const { kubeconfig } = await deployer(kube, namespace, { role: 'edit' })
    await kube.create(Secrets, credentials(kubeconfig))
    await setOff()
    await ready('Connected')
    await kube.delete(DeploymentTargetClaims, ref('dev'))
    await ready('DeploymentTargetClaimNotFound')
    await expectGone(kube, GitOpsDeploymentManagedEnvironments, ref('managed-environment-dev'))
    await expectGone(kube, Secrets, ref('managed-environment-secret-dev'))
  })
})
