import * as assert from 'uvu/assert'
import {
  annotations,
  ConfigMaps,
  CoreEvents,
  conditionOf,
  type DeploymentTarget,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  labels,
  Namespaces,
  SANDBOX_PROVISIONER,
  Secrets,
  type SpaceRequest,
  SpaceRequests,
  SpaceTiers,
  YES,
} from '../../../../src/api/index.ts'
import { claimControllers } from '../../../support/claim-controllers.ts'
import { testCluster } from '../../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../../support/operator.ts'
import { spaceTier } from '../../../support/spaces.ts'
import { describe } from '../../../support/suite.ts'
import { sweep } from '../../../support/sweep.ts'
import { claim, credentialsSecret, target, targetClass } from '../../../support/targets.ts'
import { eventually, expectGone, expectObject } from '../../../support/verbs.ts'

const CONFIRMED = { metadata: { annotations: { [annotations.confirmDeletion]: YES } } }

describe('what is deleted while a claim has it', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator | undefined
  let namespace = ''
  let name = ''
  let space = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('kept')
    name = `kept-${namespace.slice(-8)}`
    await kube.create(SpaceTiers, spaceTier(name))
    const spec = { provisioner: SANDBOX_PROVISIONER, parameters: { tierName: name }, reclaimPolicy: 'Delete' as const }
    await kube.create(DeploymentTargetClasses, targetClass(name, spec))
    operator = await startOperator({ kubeconfig: cluster.kubeconfig, namespace, controllers: claimControllers })
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { deploymentTargetClassName: name }))
    await isBound()
    space = (await requestOf()).status?.namespaceAccess?.[0]?.name ?? ''
    const data = { apiVersion: 'v1' as const, kind: 'ConfigMap' as const, metadata: { name: 'data', namespace: space } }
    await kube.create(ConfigMaps, data)
  })
  it.afterEach(async () => {
    await operator?.stop()
    await sweep(kube, namespace)
    await kube.delete(DeploymentTargetClasses, { name })
    await kube.delete(SpaceTiers, { name })
  })
  it.after(() => cluster.close())

  const at = (object: string) => ({ name: object, namespace })
  const isBound = () =>
    expectObject(
      kube,
      DeploymentTargetClaims,
      at('dev'),
      ({ status }) => status?.phase === 'Bound' && conditionOf(status.conditions, 'Ready')?.status === 'True',
    )
  const requestOf = (): Promise<SpaceRequest> =>
    eventually(async () =>
      (await kube.list(SpaceRequests, { namespace })).find(
        ({ metadata }) => metadata.labels?.[labels.claim] === 'dev' && metadata.labels[labels.target] !== undefined,
      ),
    )
  const wordsOf = ({ status }: DeploymentTarget | SpaceRequest) => conditionOf(status?.conditions, 'Ready')?.message ?? ''
  const eventAbout = (uid: string | undefined) =>
    eventually(async () =>
      (await kube.list(CoreEvents, { namespace })).find(
        ({ involvedObject, reason }) => involvedObject.uid === uid && reason === 'KeptForClaim',
      ),
    )
  const hasItsData = async () => {
    const { status } = await isBound()
    assert.is(status?.target?.name, 'dev-dt')
    assert.is((await kube.get(Namespaces, { name: space }))?.metadata.deletionTimestamp, undefined)
    assert.ok(await kube.get(ConfigMaps, { name: 'data', namespace: space }))
  }
  const allIsGone = async () => {
    await expectGone(kube, DeploymentTargets, at('dev-dt'))
    await expectGone(kube, Namespaces, { name: space })
    assert.equal(await kube.list(SpaceRequests, { namespace }), [])
  }

  it('a target stays with all that is in its namespace, says why, and goes with its claim', async () => {
    await kube.delete(DeploymentTargets, at('dev-dt'))
    const held = await expectObject(kube, DeploymentTargets, at('dev-dt'), (object) => wordsOf(object).includes('is gone'))
    assert.is(held.status?.phase, 'Bound')
    assert.is(
      wordsOf(held),
      `is deleted, with its namespace and all that is in it, when DeploymentTargetClaim dev is gone; to delete it now: kubectl annotate dt dev-dt -n ${namespace} berth.dev/confirm-deletion=true`,
    )
    assert.is((await eventAbout(held.metadata.uid)).message, wordsOf(held))
    const told = await expectObject(
      kube,
      DeploymentTargetClaims,
      at('dev'),
      ({ status }) => conditionOf(status?.conditions, 'Ready')?.reason === 'TargetTerminating',
    )
    const ready = conditionOf(told.status?.conditions, 'Ready')
    assert.is(ready?.message, 'somebody deleted DeploymentTarget dev-dt; it goes when this claim is gone')
    await hasItsData()
    await kube.delete(DeploymentTargetClaims, at('dev'))
    await allIsGone()
  })

  it('a target goes at once, and the claim is Lost, where the deletion is confirmed', async () => {
    await kube.delete(DeploymentTargets, at('dev-dt'))
    await expectObject(kube, DeploymentTargets, at('dev-dt'), (object) => wordsOf(object).includes('is gone'))
    await kube.patch(DeploymentTargets, at('dev-dt'), CONFIRMED)
    await allIsGone()
    await expectObject(kube, DeploymentTargetClaims, at('dev'), ({ status }) => status?.phase === 'Lost')
  })

  it('a request stays with its namespace, and goes with its claim', async () => {
    const { metadata } = await requestOf()
    await kube.delete(SpaceRequests, at(metadata.name))
    const held = await expectObject(kube, SpaceRequests, at(metadata.name), (object) => wordsOf(object).includes('is gone'))
    assert.ok(
      wordsOf(held).endsWith(`kubectl annotate spacerequest ${metadata.name} -n ${namespace} berth.dev/confirm-deletion=true`),
    )
    assert.is(conditionOf(held.status?.conditions, 'Ready')?.status, 'True')
    assert.is((await eventAbout(metadata.uid)).message, wordsOf(held))
    await hasItsData()
    await kube.delete(DeploymentTargetClaims, at('dev'))
    await allIsGone()
  })

  it('a claim whose request went gets another namespace, by the same target', async () => {
    const { metadata } = await requestOf()
    await kube.patch(SpaceRequests, at(metadata.name), CONFIRMED)
    await kube.delete(SpaceRequests, at(metadata.name))
    await expectGone(kube, Namespaces, { name: space })
    const again = await expectObject(
      kube,
      SpaceRequests,
      at(metadata.name),
      ({ metadata: { uid, labels: marks } }) => uid !== metadata.uid && marks?.[labels.target] === 'dev-dt',
    )
    const [access] = again.status?.namespaceAccess ?? []
    const { spec, metadata: found } = await expectObject(
      kube,
      DeploymentTargets,
      at('dev-dt'),
      ({ status }) => conditionOf(status?.conditions, 'Ready')?.status === 'True',
    )
    assert.is.not(access?.name, space)
    assert.is(spec.kubernetesCredentials.defaultNamespace, access?.name)
    assert.is(spec.kubernetesCredentials.clusterCredentialsSecret, access?.secretRef)
    await isBound()
    space = access?.name ?? ''
    // It is as any other after that: kept, and freed with the claim.
    await kube.delete(DeploymentTargets, at('dev-dt'))
    await expectObject(kube, DeploymentTargets, at('dev-dt'), (object) => wordsOf(object).includes('is gone'))
    assert.is((await kube.get(DeploymentTargets, at('dev-dt')))?.metadata.uid, found.uid)
    await kube.delete(DeploymentTargetClaims, at('dev'))
    await allIsGone()
  })

  it('what a person made goes at once, for nothing is lost with it', async () => {
    await kube.create(DeploymentTargets, target(namespace, 'prod', { claimRef: { name: 'live' }, deploymentTargetClassName: '' }))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'live', { deploymentTargetClassName: '', targetName: 'prod' }))
    const { clusterCredentialsSecret } = target(namespace, 'prod').spec.kubernetesCredentials
    await kube.create(Secrets, credentialsSecret(namespace, clusterCredentialsSecret))
    await expectObject(kube, DeploymentTargetClaims, at('live'), ({ status }) => status?.phase === 'Bound')
    await kube.delete(DeploymentTargets, at('prod'))
    await expectGone(kube, DeploymentTargets, at('prod'))
    await expectObject(kube, DeploymentTargetClaims, at('live'), ({ status }) => status?.phase === 'Lost')
  })
})
