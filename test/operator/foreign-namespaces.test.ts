import * as assert from 'uvu/assert'
import {
  annotations,
  type CoreSecret,
  DeploymentTargetClaims,
  DeploymentTargets,
  finalizers,
  type KubeObject,
  labels,
  SANDBOX_PROVISIONER,
  Secrets,
  SpaceRequests,
  SpaceTiers,
} from '../../src/api/index.ts'
import type { Controller, ControllerContext } from '../../src/engines/controller/index.ts'
import { targetLifecycle } from '../../src/operator/deployment-target/lifecycle/index.ts'
import { sandboxTargets } from '../../src/operator/deployment-target/provisioned/index.ts'
import { sandboxReclaim } from '../../src/operator/deployment-target/reclaim/index.ts'
import { claimBinding } from '../../src/operator/deployment-target-claim/binding/index.ts'
import { spaceRequests } from '../../src/operator/space-request/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../support/operator.ts'
import { spaceRequest, spaceTier } from '../support/spaces.ts'
import { describe } from '../support/suite.ts'
import { sweep } from '../support/sweep.ts'
import { claim, credentialsSecret, target } from '../support/targets.ts'
import { expectGone, expectObject } from '../support/verbs.ts'

/** UIDs are no secret, and users write labels: whoever has a namespace can pretend there to be part of another one. */
describe('what pretends, from another namespace, to belong to a claim', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator | undefined
  let home = ''
  let abroad = ''

  it.beforeEach(async () => {
    home = await cluster.namespace('home')
    abroad = await cluster.namespace('abroad')
    for (const namespace of [home, abroad]) await kube.create(Secrets, credentialsSecret(namespace))
  })
  it.afterEach(async () => {
    await operator?.stop()
    operator = undefined
    for (const namespace of [home, abroad]) await sweep(kube, namespace)
  })
  it.after(() => cluster.close())

  const open = async (...factories: ((context: ControllerContext) => Controller)[]) => {
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace: home,
      neighbours: [abroad],
      controllers: (context) => factories.map((factory) => factory(context)),
    })
  }
  const dev = () => ({ name: 'dev', namespace: home })
  const of = (uid = '', name = 'dev') => ({ labels: { [labels.claim]: name, [labels.claimUid]: uid } })
  const uidOf = ({ metadata }: KubeObject) => metadata.uid ?? ''
  /** What a space controller would say. */
  const makeReady = (name: string, namespace: string) =>
    kube.patch(
      SpaceRequests,
      { name, namespace },
      {
        status: {
          targetClusterURL: 'https://member.example:6443',
          namespaceAccess: [{ name: 'space', secretRef: 'credentials' }],
          conditions: [
            { type: 'Ready', status: 'True', reason: 'Provisioned', message: '', lastTransitionTime: '2030-01-01T00:00:00Z' },
          ],
        },
      },
      { subresource: 'status' },
    )

  it('a target with the UID of the claim is not given to it', async () => {
    const claimRef = { name: 'dev', uid: uidOf(await kube.create(DeploymentTargetClaims, claim(home, 'dev'))) }
    await kube.create(DeploymentTargets, target(abroad, 'forged', { claimRef }))
    await open(claimBinding, targetLifecycle)
    await kube.create(DeploymentTargets, target(home, 'own'))
    const bound = await expectObject(kube, DeploymentTargetClaims, dev(), ({ status }) => status?.phase === 'Bound')
    assert.equal([bound.spec.targetName, bound.status?.target?.name], ['own', 'own'])
  })

  it('a request with the UID of the claim does not keep it from a free target', async () => {
    const uid = uidOf(await kube.create(DeploymentTargetClaims, claim(home, 'dev')))
    await kube.create(SpaceRequests, spaceRequest(abroad, 'forged', {}, of(uid)))
    await open(claimBinding, targetLifecycle)
    await kube.create(DeploymentTargets, target(home, 'own'))
    await expectObject(kube, DeploymentTargetClaims, dev(), ({ status }) => status?.phase === 'Bound')
  })

  it('a request with the UID of the claim puts no target beside it', async () => {
    const uid = uidOf(await kube.create(DeploymentTargetClaims, claim(home, 'dev')))
    await kube.create(SpaceRequests, spaceRequest(abroad, 'forged', {}, of(uid)))
    await makeReady('forged', abroad)
    await open(sandboxTargets)
    const last = uidOf(await kube.create(DeploymentTargetClaims, claim(home, 'last')))
    await kube.create(SpaceRequests, spaceRequest(home, 'honest', {}, of(last, 'last')))
    await makeReady('honest', home)
    await expectObject(kube, DeploymentTargets, { name: 'last-dt', namespace: home }, () => true)
    const made = [
      ...(await kube.list(DeploymentTargets, { namespace: home })),
      ...(await kube.list(DeploymentTargets, { namespace: abroad })),
    ]
    assert.equal(
      made.map(({ metadata }) => metadata.name),
      ['last-dt'],
    )
  })

  it('a target with the UID of a claim that is gone does not hold its request', async () => {
    const uid = 'b1946ac9-0000-4000-8000-000000000000'
    await kube.create(DeploymentTargets, target(abroad, 'forged', {}, of(uid)))
    const policy = { annotations: { [annotations.reclaimPolicy]: 'Delete' } }
    await kube.create(SpaceRequests, spaceRequest(home, 'left', {}, { ...of(uid), ...policy }))
    await open(sandboxTargets)
    await expectGone(kube, SpaceRequests, { name: 'left', namespace: home })
  })

  it('a target that is deleted takes no request of the other namespace along, by UID or by name', async () => {
    const uid = 'b1946ac9-0000-4000-8000-000000000001'
    await kube.create(SpaceRequests, spaceRequest(home, 'victim', {}, of(uid)))
    const marks = {
      [annotations.provisionedBy]: SANDBOX_PROVISIONER,
      [annotations.reclaimPolicy]: 'Delete',
      [annotations.spaceRequest]: `${home}/victim`,
    }
    await kube.create(
      DeploymentTargets,
      target(abroad, 'forged', {}, { ...of(uid), annotations: marks, finalizers: [finalizers.provisioner] }),
    )
    await open(sandboxReclaim)
    await kube.delete(DeploymentTargets, { name: 'forged', namespace: abroad })
    await expectGone(kube, DeploymentTargets, { name: 'forged', namespace: abroad })
    const victim = await kube.get(SpaceRequests, { name: 'victim', namespace: home })
    assert.ok(victim && victim.metadata.deletionTimestamp === undefined)
  })

  it('a Secret that says to be of a request gets none of its credentials', async () => {
    const tier = `tier-${home.slice(-8)}`
    await kube.create(SpaceTiers, spaceTier(tier))
    const request = await kube.create(SpaceRequests, spaceRequest(home, 'dev', { tierName: tier }))
    const forged: CoreSecret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'forged',
        namespace: abroad,
        labels: { [labels.spaceRequestUid]: uidOf(request) },
        ownerReferences: [{ apiVersion: request.apiVersion, kind: 'SpaceRequest', name: 'dev', uid: uidOf(request) }],
        // The cluster collects objects whose owner is not in their namespace. Whoever forges one can put that off.
        finalizers: ['example.com/hold'],
      },
    }
    await kube.create(Secrets, forged)
    await open(spaceRequests)
    const { status } = await expectObject(kube, SpaceRequests, dev(), (object) => object.status?.namespaceAccess !== undefined)
    const secretRef = status?.namespaceAccess?.[0]?.secretRef ?? ''
    assert.ok((await kube.get(Secrets, { name: secretRef, namespace: home }))?.data?.kubeconfig)
    assert.is((await kube.get(Secrets, { name: 'forged', namespace: abroad }))?.data, undefined)
    await kube.patch(Secrets, { name: 'forged', namespace: abroad }, { metadata: { finalizers: null } })
    await kube.delete(SpaceTiers, { name: tier })
  })
})
