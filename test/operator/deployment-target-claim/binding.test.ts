import * as assert from 'uvu/assert'
import {
  annotations,
  conditionOf,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  Environments,
  finalizers,
  ownedBy,
  SANDBOX_PROVISIONER,
  Secrets,
  Workspaces,
} from '../../../src/api/index.ts'
import { type BindingStage, openBinding } from '../../support/binding.ts'
import { environment, viaClaim } from '../../support/builders/environments.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { claim, credentialsSecret, holderOf, target, targetClass } from '../../support/targets.ts'
import { eventually, expectGone, expectObject } from '../../support/verbs.ts'
import { workspace } from '../../support/workspaces.ts'

describe('binding', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: BindingStage
  let namespace = ''
  const suffix = () => namespace.slice(-8)

  it.beforeEach(async () => {
    stage = await openBinding(cluster, 'binding')
    namespace = stage.namespace
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const phase = (name: string, wanted: string) =>
    expectObject(kube, DeploymentTargetClaims, { name, namespace }, ({ status }) => status?.phase === wanted)
  const targetPhase = (name: string, wanted: string) =>
    expectObject(kube, DeploymentTargets, { name, namespace }, ({ status }) => status?.phase === wanted)
  const reason = (name: string, wanted: string) =>
    expectObject(
      kube,
      DeploymentTargetClaims,
      { name, namespace },
      ({ status }) => conditionOf(status?.conditions, 'Ready')?.reason === wanted,
    )
  const events = async (name: string) => {
    const { items } = await kube.read<{ items: { type: string; reason: string; involvedObject: { name: string } }[] }>(
      `/api/v1/namespaces/${namespace}/events`,
    )
    return items.filter(({ involvedObject }) => involvedObject.name === name).map(({ type, reason: said }) => `${type} ${said}`)
  }
  const error = (object: DeploymentTargetClaim) => conditionOf(object.status?.conditions, 'ErrorOccurred')
  /** A target that no claim takes at once, and that the operator itself knows to be Available; whether its API answers is told, too. */
  const available = async (name: string, spec = {}) => {
    await kube.create(DeploymentTargets, target(namespace, name, spec))
    await eventually(() => {
      const { phase: now, conditions } = stage.operator.caches.of(DeploymentTargets).get({ name, namespace })?.status ?? {}
      return now === 'Available' && conditionOf(conditions, 'Reachable')?.status === 'False'
    })
  }

  it('D13: a claim without class stays Pending, unmarked', async () => {
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { deploymentTargetClassName: '' }))
    const dev = await phase('dev', 'Pending')
    assert.is(dev.metadata.annotations?.[annotations.provisioner], undefined)
    assert.ok(dev.metadata.finalizers?.includes(finalizers.claim))
  })

  it("D11: a claim that nothing fits is marked with the name of its class's provisioner", async () => {
    const name = `marked-${suffix()}`
    await kube.create(DeploymentTargetClasses, targetClass(name, { provisioner: 'example.com/made-up' }))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { deploymentTargetClassName: name }))
    // It may be Pending for want of the class before the operator has heard of that.
    const dev = await reason('dev', 'Provisioning')
    assert.is(dev.status?.phase, 'Pending')
    assert.is(dev.metadata.annotations?.[annotations.provisioner], 'example.com/made-up')
    assert.is(dev.metadata.annotations?.[annotations.boundByController], undefined)
    await kube.delete(DeploymentTargetClasses, { name })
  })

  it('a class with WaitForFirstConsumer waits for an Environment or a Workspace that names the claim', async () => {
    const name = `lazy-${suffix()}`
    const spec = { provisioner: 'example.com/made-up', bindingMode: 'WaitForFirstConsumer' as const }
    await kube.create(DeploymentTargetClasses, targetClass(name, spec))
    for (const each of ['env', 'shared'])
      await kube.create(DeploymentTargetClaims, claim(namespace, each, { deploymentTargetClassName: name }))
    for (const each of ['env', 'shared']) {
      const waiting = await reason(each, 'WaitingForFirstConsumer')
      assert.is(waiting.metadata.annotations?.[annotations.provisioner], undefined)
      await eventually(async () => (await events(each)).includes('Normal WaitingForFirstConsumer'))
    }
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('env')))
    await reason('env', 'Provisioning')
    await kube.create(Workspaces, workspace(namespace, 'web', { target: { claimName: 'shared' } }))
    await reason('shared', 'Provisioning')
    await kube.delete(DeploymentTargetClasses, { name })
  })

  it('and not for claims that are made for a workspace', async () => {
    const name = `lazy-${suffix()}`
    const spec = { provisioner: 'example.com/made-up', bindingMode: 'WaitForFirstConsumer' as const }
    await kube.create(DeploymentTargetClasses, targetClass(name, spec))
    const owner = ownedBy(await kube.create(Workspaces, workspace(namespace, 'web')))
    const metadata = { ownerReferences: [owner] }
    await kube.create(DeploymentTargetClaims, claim(namespace, 'own', { deploymentTargetClassName: name }, metadata))
    await reason('own', 'Provisioning')
    await kube.delete(DeploymentTargetClasses, { name })
  })

  it('an Event says once what a claim waits for, and what can be done', async () => {
    const name = `nobody-${suffix()}`
    await kube.create(DeploymentTargetClasses, targetClass(name, { provisioner: 'example.com/nobody' }))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { deploymentTargetClassName: name }))
    const dev = await reason('dev', 'Provisioning')
    assert.match(
      conditionOf(dev.status?.conditions, 'Ready')?.message ?? '',
      'If nobody serves that name, install it, or make a claim of another class: a class cannot be changed',
    )
    await eventually(async () => (await events('dev')).includes('Normal Provisioning'))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'none', { deploymentTargetClassName: '' }))
    await eventually(async () => (await events('none')).includes('Warning WaitingForTarget'))
    await kube.delete(DeploymentTargetClasses, { name })
  })

  it('a claim of a built-in provisioner is told which parameter nobody knows', async () => {
    const name = `misspelt-${suffix()}`
    const parameters = { teirName: 'huge', 'example.com/colour': 'blue' }
    await kube.create(DeploymentTargetClasses, targetClass(name, { provisioner: SANDBOX_PROVISIONER, parameters }))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { deploymentTargetClassName: name }))
    const dev = await reason('dev', 'ClassParametersInvalid')
    assert.is(
      conditionOf(dev.status?.conditions, 'Ready')?.message,
      `DeploymentTargetClass ${name}: parameters have teirName, which provisioner ${SANDBOX_PROVISIONER} does not know. Make a class with none but these: tierName, credentials`,
    )
    assert.is(dev.metadata.annotations?.[annotations.provisioner], undefined)
    await kube.delete(DeploymentTargetClasses, { name })
  })

  it('D44, X12: a missing class is named, and its creation is noticed at once', async () => {
    const name = `late-${suffix()}`
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { deploymentTargetClassName: name }))
    const dev = await reason('dev', 'ClassNotFound')
    assert.is(
      error(dev)?.message,
      `unable to handle provisioning of SpaceRequest: DeploymentTargetClaim dev does not have a matching DeploymentTargetClass ${name}: the resource could not be found on the cluster`,
    )
    await kube.create(DeploymentTargetClasses, targetClass(name))
    const seen = await reason('dev', 'Provisioning')
    assert.is(error(seen)?.status, 'False')
    await kube.delete(DeploymentTargetClasses, { name })
  })

  it('D16, X2: a claim gets the free target that it names, in either order', async () => {
    await kube.create(DeploymentTargetClaims, claim(namespace, 'early', { targetName: 'prod' }))
    await reason('early', 'TargetNotFound')
    await kube.create(DeploymentTargets, target(namespace, 'prod'))
    const early = await phase('early', 'Bound')
    assert.is(
      conditionOf(early.status?.conditions, 'Ready')?.message,
      'has DeploymentTarget prod, which leads to namespace team-a',
    )
    assert.is(early.metadata.annotations?.[annotations.bindComplete], 'true')
    assert.is(early.metadata.annotations?.[annotations.boundByController], undefined)
    const prod = await targetPhase('prod', 'Bound')
    assert.equal(holderOf(prod), { name: 'early', uid: early.metadata.uid })
  })

  it('D12, X1: a target that names the claim comes before a better one', async () => {
    await available('aaa-better')
    await available('reserved', { claimRef: 'dev' })
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev'))
    const dev = await phase('dev', 'Bound')
    assert.is(dev.spec.targetName, 'reserved')
    assert.is(dev.metadata.annotations?.[annotations.boundByController], 'true')
    assert.equal(error(dev)?.reason, 'Success')
  })

  it('D15: claim and target that name each other bind whatever their classes', async () => {
    await available('prod', { claimRef: { name: 'dev' }, deploymentTargetClassName: 'other' })
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { targetName: 'prod' }))
    await phase('dev', 'Bound')
  })

  it("D18: a named target of another class is refused in upstream's words", async () => {
    await available('prod', { deploymentTargetClassName: 'other' })
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { targetName: 'prod' }))
    const dev = await reason('dev', 'TargetDoesNotMatch')
    assert.match(
      error(dev)?.message ?? '',
      `DeploymentTarget prod does not match DeploymentTargetClaim dev in namespace ${namespace}: deploymentTargetClassName does not match`,
    )
  })

  it('D17: a target that names another claim is not given away', async () => {
    await available('prod', { claimRef: { name: 'somebody' } })
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { targetName: 'prod' }))
    const dev = await reason('dev', 'TargetClaimed')
    assert.is(error(dev)?.message, 'DeploymentTargetClaim wants to claim a DeploymentTarget that is already claimed')
  })

  it('takes the smallest target that suffices, of the asked architecture', async () => {
    const size = (memory: string, arch = 'amd64') => ({ resources: { requests: { memory, cpu: '2' } }, arch })
    await available('huge', size('64Gi'))
    await available('fits', size('16Gi', 'x86–64'))
    await available('tiny', size('1Gi'))
    await available('arm', size('8Gi', 'arm64'))
    await kube.create(
      DeploymentTargetClaims,
      claim(namespace, 'dev', { arch: 'x86_64', resources: { requests: { memory: '4Gi' } } }),
    )
    const dev = await phase('dev', 'Bound')
    assert.is(dev.spec.targetName, 'fits')
  })

  it('waits for usable credentials and says what is wrong with them', async () => {
    await kube.create(
      DeploymentTargets,
      target(namespace, 'prod', {
        kubernetesCredentials: { defaultNamespace: '', apiURL: 'https://late.example', clusterCredentialsSecret: 'late' },
      }),
    )
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { targetName: 'prod' }))
    const prod = await targetPhase('prod', 'Pending')
    assert.is(conditionOf(prod.status?.conditions, 'CredentialsValid')?.reason, 'SecretNotFound')
    // It says no more than TargetNotReady until it has heard why.
    await expectObject(kube, DeploymentTargetClaims, { name: 'dev', namespace }, ({ status }) => {
      const ready = conditionOf(status?.conditions, 'Ready')
      assert.is(ready?.reason, 'TargetNotReady')
      assert.match(ready?.message ?? '', '"late"')
    })
    await kube.create(Secrets, credentialsSecret(namespace, 'late', 'https://late.example'))
    await phase('dev', 'Bound')
  })

  it("X4, X9: under Retain the target is Released, free of the claim's name, and remembers it", async () => {
    await available('prod')
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev'))
    const dev = await phase('dev', 'Bound')
    await kube.delete(DeploymentTargetClaims, { name: 'dev', namespace })
    await expectGone(kube, DeploymentTargetClaims, { name: 'dev', namespace })
    const prod = await expectObject(
      kube,
      DeploymentTargets,
      { name: 'prod', namespace },
      (object) => object.status?.phase === 'Released' && holderOf(object) === undefined,
    )
    assert.equal(prod.status?.lastClaim, { name: 'dev', uid: dev.metadata.uid })
    await kube.create(DeploymentTargetClaims, claim(namespace, 'next', { targetName: 'prod' }))
    await reason('next', 'TargetDoesNotMatch')
  })

  it('offers a Released target again when it is annotated for recycling', async () => {
    await available('prod')
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev'))
    await phase('dev', 'Bound')
    await kube.delete(DeploymentTargetClaims, { name: 'dev', namespace })
    await expectObject(
      kube,
      DeploymentTargets,
      { name: 'prod', namespace },
      (object) => object.status?.phase === 'Released' && holderOf(object) === undefined,
    )
    await kube.patch(
      DeploymentTargets,
      { name: 'prod', namespace },
      { metadata: { annotations: { [annotations.recycle]: 'true' } } },
    )
    const prod = await targetPhase('prod', 'Available')
    assert.is(prod.status?.lastClaim, undefined)
    await kube.create(DeploymentTargetClaims, claim(namespace, 'next'))
    await phase('next', 'Bound')
  })

  it('never deletes a target that a user made, whatever the class says', async () => {
    const name = `delete-${suffix()}`
    await kube.create(DeploymentTargetClasses, targetClass(name, { reclaimPolicy: 'Delete' }))
    await available('mine', { deploymentTargetClassName: name })
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { deploymentTargetClassName: name }))
    await phase('dev', 'Bound')
    await kube.delete(DeploymentTargetClaims, { name: 'dev', namespace })
    const mine = await targetPhase('mine', 'Released')
    assert.is(mine.metadata.deletionTimestamp, undefined)
    await kube.delete(DeploymentTargetClasses, { name })
  })

  it('deletes a provisioned target with its claim under Delete, also when the class is gone', async () => {
    const name = `gone-${suffix()}`
    await kube.create(DeploymentTargetClasses, targetClass(name, { reclaimPolicy: 'Delete' }))
    await kube.create(
      DeploymentTargets,
      target(
        namespace,
        'made',
        { deploymentTargetClassName: name },
        { annotations: { [annotations.provisionedBy]: 'example.com/nobody' } },
      ),
    )
    await targetPhase('made', 'Available')
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { deploymentTargetClassName: name }))
    await phase('dev', 'Bound')
    await targetPhase('made', 'Bound')
    await kube.delete(DeploymentTargetClasses, { name })
    await kube.delete(DeploymentTargetClaims, { name: 'dev', namespace })
    await expectGone(kube, DeploymentTargetClaims, { name: 'dev', namespace })
    await expectGone(kube, DeploymentTargets, { name: 'made', namespace })
  })

  it('X5, D7: a claim whose target is deleted is Lost, and stays', async () => {
    await available('prod')
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev'))
    await phase('dev', 'Bound')
    await kube.delete(DeploymentTargets, { name: 'prod', namespace })
    const dev = await phase('dev', 'Lost')
    assert.match(
      error(dev)?.message ?? '',
      `DeploymentTarget not found for a bounded DeploymentTargetClaim dev in namespace ${namespace}`,
    )
  })

  it('leaves Lost only for a target that is unclaimed', async () => {
    await available('prod')
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev'))
    await phase('dev', 'Bound')
    await kube.delete(DeploymentTargets, { name: 'prod', namespace })
    await phase('dev', 'Lost')
    await expectGone(kube, DeploymentTargets, { name: 'prod', namespace })
    await kube.create(DeploymentTargets, target(namespace, 'prod', { claimRef: { name: 'somebody' } }))
    await targetPhase('prod', 'Available')
    assert.is((await kube.get(DeploymentTargetClaims, { name: 'dev', namespace }))?.status?.phase, 'Lost')
    await kube.patch(DeploymentTargets, { name: 'prod', namespace }, { spec: { claimRef: null } })
    await phase('dev', 'Bound')
  })

  it('takes a claim that is created again under the same name for a new one', async () => {
    await available('prod')
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev'))
    const first = await phase('dev', 'Bound')
    await kube.delete(DeploymentTargetClaims, { name: 'dev', namespace })
    await expectGone(kube, DeploymentTargetClaims, { name: 'dev', namespace })
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev'))
    await phase('dev', 'Pending')
    const prod = await expectObject(
      kube,
      DeploymentTargets,
      { name: 'prod', namespace },
      (object) => object.status?.phase === 'Released' && holderOf(object) === undefined,
    )
    assert.is(prod.status?.lastClaim?.uid, first.metadata.uid)
  })

  it('wakes every claim that waits when a target comes free', async () => {
    for (const name of ['one', 'two', 'three']) await kube.create(DeploymentTargetClaims, claim(namespace, name))
    for (const name of ['one', 'two', 'three']) await phase(name, 'Pending')
    for (const name of ['a', 'b', 'c']) await kube.create(DeploymentTargets, target(namespace, name))
    for (const name of ['one', 'two', 'three']) await phase(name, 'Bound')
    const held = [...stage.operator.caches.of(DeploymentTargets).in(namespace)].map((object) => holderOf(object)?.name)
    assert.equal(held.sort(), ['one', 'three', 'two'])
  })

  it('takes five requests from creation to Bound, event included, and none when idle', async () => {
    await available('prod')
    await stage.operator.quiet()
    const total = () => Object.entries(stage.operator.requests).reduce((sum, [verb, n]) => sum + (verb === 'watch' ? 0 : n), 0)
    const before = total()
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev'))
    await phase('dev', 'Bound')
    await targetPhase('prod', 'Bound')
    // The Event may be told after the status.
    await eventually(() => total() - before >= 5)
    await stage.operator.quiet()
    assert.is(total() - before, 5, JSON.stringify(stage.operator.requests))
  })
})
