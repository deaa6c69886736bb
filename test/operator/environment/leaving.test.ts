import * as assert from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import {
  conditionOf,
  DeploymentTargetClaims,
  DeploymentTargets,
  type Environment,
  Environments,
  GitOpsDeploymentManagedEnvironments,
  labels,
  Secrets,
} from '../../../src/api/index.ts'
import { environments } from '../../../src/operator/environment/index.ts'
import {
  boundTo,
  environment,
  managedEnvironment,
  managedSecret,
  viaClaim,
  viaCredentials,
} from '../../support/builders/environments.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { API_URL, claim, credentialsSecret, target } from '../../support/targets.ts'
import { eventually, expectGone, expectObject } from '../../support/verbs.ts'

describe('an Environment that changes its mind', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''

  const open = (via?: (kube: Kube) => Kube) =>
    startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [environments(context)],
      ...(via && { via }),
    })
  it.beforeEach(async () => {
    namespace = await cluster.namespace('environment')
    await kube.create(Secrets, credentialsSecret(namespace))
    await kube.create(Secrets, managedSecret(namespace, 'own'))
    operator = await open()
  })
  it.afterEach(() => operator.stop())
  it.after(() => cluster.close())

  const ref = (name: string) => ({ name, namespace })
  const MANAGED = 'managed-environment-dev'
  const COPY = 'managed-environment-secret-dev'
  const leadsTo = (apiURL: string) =>
    expectObject(kube, GitOpsDeploymentManagedEnvironments, ref(MANAGED), ({ spec }) => spec.apiURL === apiURL)
  const ready = (reason: string, check: (object: Environment) => unknown = () => true) =>
    expectObject(
      kube,
      Environments,
      ref('dev'),
      (object) => conditionOf(object.status?.conditions, 'Ready')?.reason === reason && check(object) !== false,
    )
  const bound = async (name: string) => {
    const kubernetesCredentials = {
      apiURL: `https://${name}.example`,
      clusterCredentialsSecret: 'credentials',
      defaultNamespace: '',
    }
    await kube.create(DeploymentTargets, target(namespace, name, { kubernetesCredentials, claimRef: name }))
    await kube.create(DeploymentTargetClaims, claim(namespace, name, { targetName: name }))
    await phase(name, 'Bound')
    // Or it may rightly say of an Environment that they are not there.
    const { caches } = operator
    await eventually(() => caches.of(DeploymentTargetClaims).get(ref(name))?.status?.phase === 'Bound')
    await eventually(() => caches.of(DeploymentTargets).get(ref(name)))
  }
  const phase = (name: string, wanted: 'Pending' | 'Bound' | 'Lost') =>
    kube.patch(
      DeploymentTargetClaims,
      ref(name),
      { status: { ...boundTo(name).status, phase: wanted } },
      { subresource: 'status' },
    )
  const change = (spec: object) => kube.patch(Environments, ref('dev'), { spec })
  const none = { configuration: null, unstableConfigurationFields: null }

  it('X28: goes from credentials to a claim, to another and back, and leaves nothing of the former', async () => {
    await bound('one')
    await bound('two')
    await kube.create(Environments, environment(namespace, 'dev', viaCredentials({ clusterCredentialsSecret: 'own' })))
    await leadsTo(API_URL)
    await change({ ...none, ...viaClaim('one') })
    await leadsTo('https://one.example')
    await expectObject(kube, Secrets, ref(COPY), () => true)
    await change(viaClaim('two'))
    await leadsTo('https://two.example')
    await ready('Connecting', ({ status }) => status?.target === 'two')
    await change({ ...none, ...viaCredentials({ clusterCredentialsSecret: 'own' }) })
    assert.is((await leadsTo(API_URL)).spec.credentialsSecret, 'own')
    await expectGone(kube, Secrets, ref(COPY))
    await ready('Connecting', ({ status }) => status?.target === undefined)
  })

  it('one that drops its target loses the managed environment and the copy', async () => {
    await bound('one')
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('one')))
    await leadsTo('https://one.example')
    await change(none)
    await expectGone(kube, GitOpsDeploymentManagedEnvironments, ref(MANAGED))
    await expectGone(kube, Secrets, ref(COPY))
    const { status } = await ready('OwnNamespace')
    assert.is(status?.managedEnvironment, undefined)
  })

  it('a Lost claim keeps the managed environment, writes no pair, and is told in Ready', async () => {
    await bound('one')
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('one')))
    await leadsTo('https://one.example')
    await phase('one', 'Lost')
    const { status } = await ready('ClaimLost')
    assert.is(conditionOf(status?.conditions, 'ErrorOccurred'), undefined)
    await leadsTo('https://one.example')
    await phase('one', 'Bound')
    await ready('Connecting')
  })

  it('a claim that is made again under its name does not inherit the way to the former target', async () => {
    await bound('one')
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('one')))
    await leadsTo('https://one.example')
    await operator.stop()
    await kube.delete(DeploymentTargetClaims, ref('one'))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'one'))
    operator = await open()
    await expectGone(kube, GitOpsDeploymentManagedEnvironments, ref(MANAGED))
    await ready('WaitingForClaim')
  })

  it('switching to a claim that waits ends deliveries to a target of another claim', async () => {
    await bound('one')
    await kube.create(DeploymentTargetClaims, claim(namespace, 'two'))
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('one')))
    await leadsTo('https://one.example')
    await change(viaClaim('two'))
    await ready('WaitingForClaim', ({ status }) => status?.managedEnvironment === undefined)
    await expectGone(kube, GitOpsDeploymentManagedEnvironments, ref(MANAGED))
    await expectGone(kube, Secrets, ref(COPY))
  })

  it('a claim that is deleted takes the way to its target with it', async () => {
    await bound('one')
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('one')))
    await leadsTo('https://one.example')
    await kube.delete(DeploymentTargetClaims, ref('one'))
    await ready('DeploymentTargetClaimNotFound')
    await expectGone(kube, GitOpsDeploymentManagedEnvironments, ref(MANAGED))
  })

  it('X27: a managed environment whose Environment does not exist is deleted, also one from before the start', async () => {
    const ownerReferences = [
      {
        apiVersion: 'managed-gitops.redhat.com/v1alpha1',
        kind: 'Environment',
        name: 'dev',
        uid: 'b1946ac9-0000-4000-8000-000000000000',
      },
    ]
    await operator.stop()
    await kube.create(GitOpsDeploymentManagedEnvironments, managedEnvironment(namespace, MANAGED, {}, { ownerReferences }))
    await kube.create(GitOpsDeploymentManagedEnvironments, managedEnvironment(namespace, 'by-hand'))
    operator = await open()
    await expectGone(kube, GitOpsDeploymentManagedEnvironments, ref(MANAGED))
    await kube.create(GitOpsDeploymentManagedEnvironments, managedEnvironment(namespace, MANAGED, {}, { ownerReferences }))
    await expectGone(kube, GitOpsDeploymentManagedEnvironments, ref(MANAGED))
    assert.ok(await kube.get(GitOpsDeploymentManagedEnvironments, ref('by-hand')))
  })

  it('one that is created again under its name gets what its predecessor had, under its own uid', async () => {
    await bound('one')
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('one')))
    await leadsTo('https://one.example')
    await kube.delete(Environments, ref('dev'))
    const { metadata } = await kube.create(Environments, environment(namespace, 'dev', viaClaim('one')))
    const isOwned = (object: { metadata: { ownerReferences?: { uid: string }[]; deletionTimestamp?: string } }) =>
      object.metadata.ownerReferences?.length === 1 && object.metadata.ownerReferences[0]?.uid === metadata.uid
    await expectObject(kube, GitOpsDeploymentManagedEnvironments, ref(MANAGED), isOwned)
    await expectObject(kube, Secrets, ref(COPY), isOwned)
  })

  it('what somebody else made under our names is neither overwritten nor deleted, and the message says what is in the way', async () => {
    await bound('one')
    await kube.create(Secrets, managedSecret(namespace, COPY))
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('one')))
    const { status } = await ready('NameOccupied')
    const message = conditionOf(status?.conditions, 'Reconciled')?.message ?? ''
    assert.ok(message.includes(`Secret ${namespace}/${COPY} is in the way`), message)
    assert.is((await kube.get(Secrets, ref(COPY)))?.metadata.ownerReferences, undefined)
    await change(none)
    await ready('OwnNamespace')
    assert.ok(await kube.get(Secrets, ref(COPY)))
    await change(viaClaim('one'))
    await ready('NameOccupied')
    await kube.delete(Secrets, ref(COPY))
    await leadsTo('https://one.example')
  })

  it("a Secret of the copy's name that the target itself uses is left alone", async () => {
    await kube.create(Secrets, managedSecret(namespace, COPY))
    const kubernetesCredentials = { apiURL: API_URL, clusterCredentialsSecret: COPY, defaultNamespace: '' }
    await kube.create(DeploymentTargets, target(namespace, 'one', { kubernetesCredentials }))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'one', { targetName: 'one' }))
    await phase('one', 'Bound')
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('one')))
    assert.is((await leadsTo(API_URL)).spec.credentialsSecret, COPY)
    assert.is((await kube.get(Secrets, ref(COPY)))?.metadata.labels?.[labels.environmentSecret], undefined)
  })

  it('a second Environment on the same claim gets a managed environment and a copy of its own', async () => {
    await bound('one')
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('one')))
    await kube.create(Environments, environment(namespace, 'other', viaClaim('one')))
    await leadsTo('https://one.example')
    await expectObject(kube, Secrets, ref('managed-environment-secret-other'), () => true)
    await kube.delete(Environments, ref('other'))
    await expectGone(kube, Secrets, ref('managed-environment-secret-other'))
    await leadsTo('https://one.example')
  })

  it('a restart writes nothing', async () => {
    await bound('one')
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('one')))
    await ready('Connecting')
    await operator.stop()
    operator = await open()
    const { metadata } = await change({ displayName: 'Another' })
    await ready('Connecting', ({ status }) => status?.observedGeneration === metadata.generation)
    await operator.quiet()
    assert.equal([operator.requests.post, operator.requests.patch, operator.requests.delete], [undefined, 1, undefined])
  })
})
