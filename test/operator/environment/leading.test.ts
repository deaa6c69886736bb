import * as assert from 'uvu/assert'
import {
  type CoreSecret,
  conditionOf,
  type DeploymentTarget,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargets,
  type Environment,
  Environments,
  type GitOpsDeploymentManagedEnvironment,
  GitOpsDeploymentManagedEnvironments,
  type Kind,
  type KubeObject,
  labels,
  Secrets,
  secretTypes,
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

describe('where an Environment leads', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('environment')
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [environments(context)],
    })
  })
  it.afterEach(() => operator.stop())
  it.after(() => cluster.close())

  const ref = (name: string) => ({ name, namespace })
  const managed = (name: string, check: (object: GitOpsDeploymentManagedEnvironment) => unknown = () => true) =>
    expectObject(kube, GitOpsDeploymentManagedEnvironments, ref(`managed-environment-${name}`), check)
  const seen = (name: string, check: (object: Environment) => unknown) => expectObject(kube, Environments, ref(name), check)
  const readyBecause = (name: string, reason: string) =>
    seen(name, ({ status }) => conditionOf(status?.conditions, 'Ready')?.reason === reason)
  const pair = (object: Environment) =>
    ['ErrorOccurred', 'Reconciled'].map((type) => conditionOf(object.status?.conditions, type))
  const noPair = (object: Environment) => assert.equal(pair(object), [undefined, undefined])
  const setStatus = (name: string, status: DeploymentTargetClaim['status'] | null) =>
    kube.patch(DeploymentTargetClaims, ref(name), { status }, { subresource: 'status' })
  /** The operator itself has heard of it: or it may rightly say of an Environment that it is not there. */
  const known = <T extends KubeObject>(kind: Kind<T>, name: string, is: (object: T) => boolean = () => true, fields?: string) =>
    eventually(() => {
      const object = operator.caches.of(kind, { fields }).get(ref(name))
      return object !== undefined && is(object)
    })
  const bound = async (name: string, targetName: string) => {
    await kube.create(DeploymentTargetClaims, claim(namespace, name, { targetName }))
    await setStatus(name, boundTo(targetName).status)
    await known(DeploymentTargetClaims, name, ({ status }) => status?.phase === 'Bound')
  }
  const give = async (secret: CoreSecret) => {
    await kube.create(Secrets, secret)
    await known(Secrets, secret.metadata.name, () => true, `type=${secret.type}`)
  }
  const offer = async (object: DeploymentTarget) => {
    await kube.create(DeploymentTargets, object)
    await known(DeploymentTargets, object.metadata.name)
  }
  const broken = async (name: string, reason: string, message: string) => {
    const object = await seen(name, ({ status }) => conditionOf(status?.conditions, 'Reconciled')?.reason === reason)
    const [error, reconciled] = pair(object)
    assert.is(object.status?.conditions?.[0]?.type, 'ErrorOccurred')
    assert.is(object.status?.conditions?.[1]?.type, 'Reconciled')
    assert.equal([error?.status, error?.reason, error?.message], ['True', 'ErrorOccurred', message])
    assert.equal([reconciled?.status, reconciled?.message], ['False', message])
    return object
  }
  const resolved = (name: string, reason: string) =>
    seen(name, (object) => {
      const [error, reconciled] = pair(object)
      assert.equal([error?.status, error?.reason, error?.message], ['False', 'ErrorOccurredResolved', ''])
      assert.equal([reconciled?.status, reconciled?.reason, reconciled?.message], ['True', reason, ''])
    })
  /** After another turn of the loop: one write, which says that this generation was seen. */
  const untouched = async (name: string) => {
    await operator.quiet()
    const { patch = 0 } = operator.requests
    const { metadata } = await kube.patch(Environments, ref(name), { spec: { displayName: 'Another' } })
    await seen(name, ({ status }) => status?.observedGeneration === metadata.generation)
    await operator.quiet()
    assert.is(operator.requests.patch, patch + 1)
  }

  it('E1-E3: credentials of its own become the managed environment, field by field', async () => {
    await give(managedSecret(namespace, 'credentials'))
    await kube.create(Environments, environment(namespace, 'plain', viaCredentials()))
    await kube.create(Environments, environment(namespace, 'insecure', viaCredentials({ allowInsecureSkipTLSVerify: true })))
    await kube.create(
      Environments,
      environment(namespace, 'scoped', viaCredentials({ namespaces: ['a', 'b'], clusterResources: true })),
    )
    const spec = {
      apiURL: API_URL,
      credentialsSecret: 'credentials',
      allowInsecureSkipTLSVerify: false,
      clusterResources: false,
      namespaces: [],
      podSecurityLabels: false,
    }
    assert.equal((await managed('plain')).spec, spec)
    assert.equal((await managed('insecure')).spec, { ...spec, allowInsecureSkipTLSVerify: true })
    assert.equal((await managed('scoped')).spec, { ...spec, namespaces: ['a', 'b'], clusterResources: true })
    noPair(await readyBecause('plain', 'Connecting'))
  })

  it('E4-E6: an outdated managed environment is brought up to date, whoever made it, and then left alone', async () => {
    await kube.create(Secrets, managedSecret(namespace, 'credentials'))
    const outdated = { apiURL: 'https://old.example', credentialsSecret: 'old', namespaces: ['old'], clusterResources: true }
    await kube.create(GitOpsDeploymentManagedEnvironments, managedEnvironment(namespace, 'managed-environment-dev', outdated))
    await kube.create(Environments, environment(namespace, 'dev', viaCredentials()))
    const updated = await managed('dev', ({ spec }) => spec.apiURL === API_URL)
    assert.equal(updated.spec.namespaces, [])
    assert.is(updated.spec.clusterResources, false)
    assert.is(updated.metadata.ownerReferences?.[0]?.name, 'dev')
    await readyBecause('dev', 'Connecting')
    await untouched('dev')
  })

  it('E8, X19, X20: a missing Secret is told by the exact pair, and resolved when it comes', async () => {
    await kube.create(Environments, environment(namespace, 'dev', viaCredentials()))
    const message = 'the secret credentials referenced by the Environment resource was not found'
    const object = await broken('dev', 'SecretNotFound', message)
    assert.match(conditionOf(object.status?.conditions, 'Ready')?.message ?? '', /unstableConfigurationFields.*Create the Secret/)
    await kube.create(Secrets, managedSecret(namespace, 'credentials'))
    await resolved('dev', 'SecretNotFoundResolved')
    await managed('dev')
    await untouched('dev')
    await kube.delete(Secrets, ref('credentials'))
    await broken('dev', 'SecretNotFound', message)
    await managed('dev')
  })

  it('E10, E19: an Environment that leads nowhere gets nothing, and says that it is deployed to its own namespace', async () => {
    await kube.create(Environments, environment(namespace, 'bare'))
    await kube.create(Environments, environment(namespace, 'blank', viaClaim('')))
    await kube.create(
      Environments,
      environment(namespace, 'empty', { unstableConfigurationFields: { clusterType: 'OpenShift' } }),
    )
    for (const name of ['bare', 'blank', 'empty']) noPair(await readyBecause(name, 'OwnNamespace'))
    assert.equal(await kube.list(GitOpsDeploymentManagedEnvironments, { namespace }), [])
  })

  it('E11, X20: a claim and credentials exclude each other, even empty credentials', async () => {
    const message = 'Environment is invalid since it cannot have both DeploymentTargetClaim and credentials configuration set'
    await kube.create(Environments, environment(namespace, 'both', { ...viaClaim('dev'), ...viaCredentials() }))
    await kube.create(Environments, environment(namespace, 'empty', { ...viaClaim('dev'), unstableConfigurationFields: {} }))
    await broken('both', 'InvalidEnvironment', message)
    await broken('empty', 'InvalidEnvironment', message)
    await kube.patch(Environments, ref('both'), { spec: { unstableConfigurationFields: null, configuration: null } })
    await resolved('both', 'InvalidEnvironmentResolved')
  })

  it('E12, E14, X23: a Bound claim leads to its target; the Opaque Secret is copied, followed and removed', async () => {
    await give(credentialsSecret(namespace))
    await offer(target(namespace, 'dev-target'))
    await bound('dev', 'dev-target')
    const { metadata } = await kube.create(Environments, environment(namespace, 'dev', viaClaim('dev')))
    const { spec, metadata: made } = await managed('dev')
    assert.equal(spec, {
      apiURL: API_URL,
      credentialsSecret: 'managed-environment-secret-dev',
      allowInsecureSkipTLSVerify: false,
      namespaces: ['team-a'],
      clusterResources: false,
      podSecurityLabels: false,
    })
    const owner = { apiVersion: 'appstudio.redhat.com/v1alpha1', kind: 'Environment', name: 'dev', uid: metadata.uid }
    assert.equal(made.ownerReferences, [{ ...owner, controller: true, blockOwnerDeletion: false }])

    const copyRef = ref('managed-environment-secret-dev')
    const source = await kube.get(Secrets, ref('credentials'))
    const copy = await expectObject(kube, Secrets, copyRef, () => true)
    assert.is(copy.type, secretTypes.managedEnvironment)
    assert.equal(copy.data, source?.data)
    assert.is(copy.metadata.labels?.[labels.environmentSecret], 'dev')
    assert.equal(copy.metadata.ownerReferences, made.ownerReferences)
    const object = await readyBecause('dev', 'Connecting')
    noPair(object)
    assert.equal([object.status?.target, object.status?.managedEnvironment], ['dev-target', 'managed-environment-dev'])

    await kube.patch(Secrets, ref('credentials'), { data: { kubeconfig: 'bmV3', extra: 'ZQ==' } })
    await expectObject(kube, Secrets, copyRef, ({ data }) => data?.kubeconfig === 'bmV3' && data.extra === 'ZQ==')
    await kube.patch(Secrets, copyRef, { data: { extra: null, foreign: 'eA==', kubeconfig: 'b2xk' } })
    await expectObject(kube, Secrets, copyRef, ({ data }) => assert.equal(data, { kubeconfig: 'bmV3', extra: 'ZQ==' }) ?? true)

    await kube.delete(Secrets, ref('credentials'))
    await broken('dev', 'SecretNotFound', 'the secret credentials referenced by the Environment resource was not found')
    await expectGone(kube, Secrets, copyRef)
    await managed('dev')

    await kube.delete(Environments, ref('dev'))
    await expectGone(kube, GitOpsDeploymentManagedEnvironments, ref('managed-environment-dev'))
  })

  it('E13, X24: without a default namespace the managed environment names none', async () => {
    await kube.create(Secrets, credentialsSecret(namespace))
    const kubernetesCredentials = { defaultNamespace: '', apiURL: API_URL, clusterCredentialsSecret: 'credentials' }
    await kube.create(DeploymentTargets, target(namespace, 'dev-target', { kubernetesCredentials }))
    await bound('dev', 'dev-target')
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('dev')))
    assert.equal((await managed('dev')).spec.namespaces, [])
  })

  it('E15: waits for the claim with a word in Ready and none in the pair, then goes on at once', async () => {
    await give(credentialsSecret(namespace))
    await offer(target(namespace, 'dev-target'))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { targetName: 'dev-target' }))
    await known(DeploymentTargetClaims, 'dev')
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('dev')))
    noPair(await readyBecause('dev', 'WaitingForClaim'))
    assert.is(await kube.get(GitOpsDeploymentManagedEnvironments, ref('managed-environment-dev')), undefined)
    await setStatus('dev', boundTo('dev-target').status)
    await managed('dev')
    noPair(await readyBecause('dev', 'Connecting'))
  })

  it('E16, X19: a missing claim is told, and resolved when it appears', async () => {
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('dev')))
    const message = 'DeploymentTargetClaim not found while generating the desired Environment resource'
    await broken('dev', 'DeploymentTargetClaimNotFound', message)
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev'))
    await resolved('dev', 'DeploymentTargetClaimNotFoundResolved')
  })

  it('E17, E18: a Bound claim without a usable target is told by the reason and the exact sentence', async () => {
    await kube.create(Secrets, credentialsSecret(namespace))
    await bound('gone', 'nobody')
    await offer(target(namespace, 'taken', { claimRef: 'somebody' }))
    await bound('late', 'taken')
    await kube.create(DeploymentTargetClaims, claim(namespace, 'none'))
    await setStatus('none', { phase: 'Bound' })
    for (const name of ['first', 'second']) {
      await offer(target(namespace, name, { claimRef: { name: 'many' } }))
    }
    await kube.create(DeploymentTargetClaims, claim(namespace, 'many'))
    await setStatus('many', { phase: 'Bound' })
    const sentences = {
      gone: 'DeploymentTargetClaim references a DeploymentTarget that does not exist',
      late: 'Unable to find the DeploymentTarget for DeploymentTargetClaim',
      none: 'DeploymentTarget not found for DeploymentTargetClaim',
      many: 'Unable to find the DeploymentTarget for DeploymentTargetClaim',
    }
    for (const [name, message] of Object.entries(sentences)) {
      await kube.create(Environments, environment(namespace, name, viaClaim(name)))
      await broken(name, 'DeploymentTargetNotFound', message)
    }
    await kube.delete(DeploymentTargets, ref('second'))
    await resolved('many', 'DeploymentTargetNotFoundResolved')
    await kube.create(DeploymentTargets, target(namespace, 'nobody'))
    await resolved('gone', 'DeploymentTargetNotFoundResolved')
  })

  it('E20, X25: a Secret that has the right type already is used itself; the copy goes', async () => {
    await kube.create(Secrets, credentialsSecret(namespace))
    await kube.create(Secrets, managedSecret(namespace, 'ready'))
    await kube.create(DeploymentTargets, target(namespace, 'dev-target'))
    await bound('dev', 'dev-target')
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('dev')))
    await managed('dev', ({ spec }) => spec.credentialsSecret === 'managed-environment-secret-dev')
    const kubernetesCredentials = { clusterCredentialsSecret: 'ready' }
    await kube.patch(DeploymentTargets, ref('dev-target'), { spec: { kubernetesCredentials } })
    await managed('dev', ({ spec }) => spec.credentialsSecret === 'ready')
    await expectGone(kube, Secrets, ref('managed-environment-secret-dev'))
  })

  it('X26: the credentials of the target are followed, field by field', async () => {
    await kube.create(Secrets, credentialsSecret(namespace))
    await kube.create(DeploymentTargets, target(namespace, 'dev-target'))
    await bound('dev', 'dev-target')
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('dev')))
    await managed('dev')
    const kubernetesCredentials = {
      apiURL: 'https://moved.example',
      defaultNamespace: 'team-b',
      allowInsecureSkipTLSVerify: true,
    }
    await kube.patch(DeploymentTargets, ref('dev-target'), { spec: { kubernetesCredentials } })
    const { spec } = await managed('dev', (object) => object.spec.apiURL === 'https://moved.example')
    assert.equal([spec.namespaces, spec.allowInsecureSkipTLSVerify], [['team-b'], true])
  })

  it('an API URL without https is refused, and the message names the field that holds it', async () => {
    await kube.create(Secrets, credentialsSecret(namespace))
    const kubernetesCredentials = {
      defaultNamespace: '',
      apiURL: 'http://plain.example',
      clusterCredentialsSecret: 'credentials',
    }
    await kube.create(DeploymentTargets, target(namespace, 'dev-target', { kubernetesCredentials }))
    await bound('dev', 'dev-target')
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('dev')))
    const object = await broken('dev', 'InvalidAPIURL', 'cluster api url must start with https://')
    assert.match(
      conditionOf(object.status?.conditions, 'Ready')?.message ?? '',
      /DeploymentTarget dev-target: spec\.kubernetesCredentials\.apiURL is "http:\/\/plain\.example"/,
    )
  })
})
