import * as assert from 'uvu/assert'
import type { Reach } from '../../src/adapters/kube/index.ts'
import {
  conditionOf,
  DeploymentTargets,
  GitOpsDeploymentManagedEnvironments,
  Pods,
  Secrets,
  type Workspace,
} from '../../src/api/index.ts'
import { createWakeups } from '../../src/engines/controller/index.ts'
import { parseConfig } from '../../src/operator/config.ts'
import { controllersOf } from '../../src/operator/controllers.ts'
import type { Source } from '../../src/operator/gitops-deployment/index.ts'
import { createTargets } from '../../src/operator/gitops-deployment/services/targets.ts'
import { createTargetConnections } from '../../src/operator/workspace/watch/connections.ts'
import { Failure, Secret, silentLog, systemClock } from '../../src/std/index.ts'
import { managedEnvironment, managedSecret } from '../support/builders/environments.ts'
import { type StrangeServer, silentServer } from '../support/builders/strange-server.ts'
import { testCluster } from '../support/control-plane.ts'
import { startOperator } from '../support/operator.ts'
import { failureOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { credentialsSecret, kubeconfigFor, target } from '../support/targets.ts'
import { eventually, expectObject } from '../support/verbs.ts'

const REFUSE: Reach = { refuseLocal: true }
const LOCAL = /leads to an address of this installation's own machines or networks/

describe('an operator with --refuse-local-targets', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  /** It counts connections, also those over which nothing is said. */
  let wire: StrangeServer
  let byAddress = ''
  let byName = ''
  let namespace = ''

  it.beforeEach(async () => {
    wire = await silentServer()
    byAddress = wire.url
    byName = wire.url.replace('127.0.0.1', 'localhost')
    namespace = await cluster.namespace('refuse')
  })
  it.afterEach(() => wire.close())
  it.after(() => cluster.close())

  const urls = () => Object.entries({ address: byAddress, name: byName })

  it('connects to no local target and to no local environment, and says why', async () => {
    for (const [name, apiURL] of urls()) {
      const kubernetesCredentials = { defaultNamespace: namespace, apiURL, clusterCredentialsSecret: name }
      await kube.create(Secrets, credentialsSecret(namespace, name, apiURL))
      await kube.create(DeploymentTargets, target(namespace, name, { kubernetesCredentials }))
      await kube.create(Secrets, managedSecret(namespace, `env-${name}`, kubeconfigFor(apiURL)))
      const spec = { apiURL, credentialsSecret: `env-${name}`, namespaces: [namespace] }
      await kube.create(GitOpsDeploymentManagedEnvironments, managedEnvironment(namespace, name, spec))
    }
    const config = parseConfig({ refuseLocalTargets: true }, {})
    const controllers = ['target-lifecycle', 'managed-environment']
    const operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => controllersOf(context, config, unusedSource).filter(({ name }) => controllers.includes(name)),
    })
    for (const [name] of urls()) {
      const spoken = await expectObject(kube, DeploymentTargets, { name, namespace }, ({ status }) =>
        assert.match(conditionOf(status?.conditions, 'Reachable')?.message ?? '', LOCAL),
      )
      assert.is(conditionOf(spoken.status?.conditions, 'Reachable')?.status, 'False')
      await expectObject(kube, GitOpsDeploymentManagedEnvironments, { name, namespace }, ({ status }) => {
        const { reason, message = '' } = conditionOf(status?.conditions, 'Ready') ?? {}
        assert.is(reason, 'UnsupportedAPIURL')
        assert.match(message, LOCAL)
      })
    }
    await operator.stop()
    assert.is(wire.seen, 0)
  })

  it('is told so by a variable, which has no third value', () => {
    const of = (value?: string) => parseConfig({}, { BERTH_REFUSE_LOCAL_TARGETS: value }).refuseLocalTargets
    assert.equal([of(), of(''), of('false'), of('true')], [false, false, false, true])
    assert.throws(() => of('yes'), /BERTH_REFUSE_LOCAL_TARGETS is "yes"/)
  })

  it('connects to the own API without being told its URL', async () => {
    await kube.create(Secrets, managedSecret(namespace, 'own', kubeconfigFor(kube.server)))
    const spec = { apiURL: kube.server, credentialsSecret: 'own', namespaces: [namespace] }
    await kube.create(GitOpsDeploymentManagedEnvironments, managedEnvironment(namespace, 'own', spec))
    const config = parseConfig({}, { BERTH_REFUSE_LOCAL_TARGETS: 'true' })
    const operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => controllersOf(context, config, unusedSource).filter(({ name }) => name === 'managed-environment'),
    })
    await expectObject(kube, GitOpsDeploymentManagedEnvironments, { name: 'own', namespace }, ({ status }) => {
      const { reason, message = '' } = conditionOf(status?.conditions, 'Ready') ?? {}
      assert.ok(reason)
      assert.is.not(reason, 'UnsupportedAPIURL', message)
    })
    await operator.stop()
  })

  it('applies nothing to them', async () => {
    const targets = createTargets(REFUSE)
    for (const [name, apiURL] of urls()) {
      const environment = managedEnvironment(namespace, name, { apiURL, credentialsSecret: name })
      const secret = managedSecret(namespace, name, kubeconfigFor(apiURL))
      const read = async () => targets.of(environment, secret).list(Pods)
      const failure = await failureOf(read)
      assert.is(failure.reason, 'UnsupportedAPIURL')
      assert.match(failure.message, `${namespace}/${name}: spec.apiURL "${apiURL}" leads`)
    }
    targets.close()
    assert.is(wire.seen, 0)
  })

  it('watches no workspaces in them', async () => {
    const watch = createTargetConnections({
      clock: systemClock,
      log: silentLog,
      wakeups: createWakeups(),
      reach: REFUSE,
      workspace: () => undefined,
    })
    const workspace: Workspace = {
      apiVersion: 'workspaces.berth.dev/v1alpha1',
      kind: 'Workspace',
      metadata: { name: 'web', namespace, uid: 'one' },
      spec: {},
    }
    const to = (apiURL: string) => ({
      claimName: 'dev',
      claimUid: '1',
      name: 'dev',
      namespace,
      apiURL,
      tenant: 'team-a',
      skipTLSVerify: true,
      kubeconfig: new Secret(kubeconfigFor(apiURL)),
      version: '1',
      subject: { field: 'spec.kubernetesCredentials.apiURL' },
    })
    assert.throws(() => watch.of(workspace, to(byAddress)), LOCAL)
    const connection = watch.of(workspace, to(byName))
    await eventually(() => LOCAL.test(connection.why()))
    assert.is(connection.isReady(), false)
    watch.release(workspace)
    assert.is(wire.seen, 0)
  })
})

const unusedSource: Source = {
  follow() {
    throw new Failure('internal', 'no deployment is looked after here')
  },
}
