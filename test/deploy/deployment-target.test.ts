import { equal, match } from 'uvu/assert'
import { type AnyObject, DeploymentTargets, type KubeObject } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { target } from '../support/targets.ts'

describe('the policy for DeploymentTargets', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('target')
  })
  it.after(() => cluster.close())

  /** With a claimRef of any shape, as YAML may have it. */
  const create = async (name: string, claimRef: unknown) => {
    const plain = target(namespace, name)
    const object: AnyObject = { ...plain, spec: { ...plain.spec, claimRef } }
    await kube.create<KubeObject>(DeploymentTargets, object)
  }
  const claimRefIn = async (name: string) => (await kube.get(DeploymentTargets, { name, namespace }))?.spec.claimRef
  const change = (name: string, spec: object) => kube.patch(DeploymentTargets, { name, namespace }, { spec })

  it('takes a claimRef that is a name', async () => {
    await create('by-name', 'prod-dtc')
    equal(await claimRefIn('by-name'), 'prod-dtc')
  })
  it('takes a claimRef as the seed document prints it', async () => {
    await create('by-object', { name: 'prod-dtc' })
    equal(await claimRefIn('by-object'), { name: 'prod-dtc' })
  })
  it('keeps the uid of a claimRef', async () => {
    await create('by-uid', { name: 'prod-dtc', uid: 'u1' })
    equal(await claimRefIn('by-uid'), { name: 'prod-dtc', uid: 'u1' })
  })

  for (const [claimRef, why] of [
    [7, 'a number names no claim'],
    [['prod-dtc'], 'a list names no claim'],
    [{ uid: 'u1' }, 'a uid without a name cannot be looked up'],
    [{ name: 7 }, 'a name is a string'],
    [{ name: 'prod-dtc', namespace: 'other' }, 'claims of other namespaces cannot be had'],
    ['x'.repeat(254), 'no object has such a name'],
  ] as const)
    it(`refuses the claimRef ${JSON.stringify(claimRef).slice(0, 40)}, because ${why}`, async () => {
      match(
        await refusalOf(create('wrong', claimRef)),
        /spec\.claimRef must be the name of a DeploymentTargetClaim, or an object/,
      )
    })

  it('refuses to give a claimed target to another claim', async () => {
    await create('locked', { name: 'prod-dtc', uid: 'u1' })
    const words = /spec\.claimRef cannot be given to another claim while DeploymentTargetClaim prod-dtc has this DeploymentTarget/
    match(await refusalOf(change('locked', { claimRef: { name: 'other', uid: 'u2' } })), words)
    match(await refusalOf(change('locked', { claimRef: { uid: 'u2' } })), words)
    match(await refusalOf(change('locked', { claimRef: 'other' })), words)
  })
  it('takes a claimed target back under the same name, with or without the uid', async () => {
    await create('reapplied', { name: 'prod-dtc', uid: 'u1' })
    await change('reapplied', { claimRef: { name: 'prod-dtc' } })
  })
  it('lets a claimRef be removed, and set anew after that', async () => {
    await create('freed', { name: 'prod-dtc', uid: 'u1' })
    await change('freed', { claimRef: null })
    await change('freed', { claimRef: { name: 'other', uid: 'u2' } })
  })
  it('lets a reservation without a uid change', async () => {
    await create('reserved', 'prod-dtc')
    await change('reserved', { claimRef: 'other' })
  })
  it('refuses another class for a claimed target', async () => {
    await create('classy', { name: 'prod-dtc', uid: 'u1' })
    match(
      await refusalOf(change('classy', { deploymentTargetClassName: 'another' })),
      /deploymentTargetClassName cannot change while DeploymentTargetClaim prod-dtc has this DeploymentTarget/,
    )
  })
  it('lets the credentials of a claimed target change', async () => {
    await create('moved', { name: 'prod-dtc', uid: 'u1' })
    await change('moved', { kubernetesCredentials: { apiURL: 'https://elsewhere.example', clusterCredentialsSecret: 'new' } })
  })
})
