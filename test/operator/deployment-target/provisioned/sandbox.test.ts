import * as assert from 'uvu/assert'
import { kubeFromSecret } from '../../../../src/adapters/kube/index.ts'
import {
  annotations,
  conditionOf,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  finalizers,
  labels,
  Namespaces,
  ResourceQuotas,
  SANDBOX_PROVISIONER,
  Secrets,
  type SpaceRequest,
  SpaceRequests,
  SpaceTiers,
} from '../../../../src/api/index.ts'
import type { ControllerContext } from '../../../../src/engines/controller/index.ts'
import { Secret } from '../../../../src/std/index.ts'
import { CLAIM_CONTROLLERS } from '../../../support/claim-controllers.ts'
import { testCluster } from '../../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../../support/operator.ts'
import { spaceRequest, spaceTier } from '../../../support/spaces.ts'
import { describe } from '../../../support/suite.ts'
import { sweep } from '../../../support/sweep.ts'
import { claim, credentialsSecret, holderOf, target, targetClass } from '../../../support/targets.ts'
import { eventually, expectGone, expectObject } from '../../../support/verbs.ts'

/** `byHand` leaves the making of namespaces to the test, as upstream's own tests do. */
const controllers = (context: ControllerContext, byHand: boolean) =>
  Object.entries(CLAIM_CONTROLLERS)
    .filter(([name]) => !(byHand && name === 'space-request'))
    .map(([, make]) => make(context))

/** Namespaces are deleted by the cluster, one after the other. */

describe('devsandbox provisioner', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator | undefined
  let namespace = ''
  let tier = ''
  let classes: Record<'delete' | 'retain', string>

  const open = async (byHand = false) => {
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => controllers(context, byHand),
    })
    return operator
  }

  it.beforeEach(async () => {
    namespace = await cluster.namespace('sandbox')
    const suffix = namespace.slice(-8)
    tier = `tier-${suffix}`
    classes = { delete: `delete-${suffix}`, retain: `retain-${suffix}` }
    await kube.create(SpaceTiers, spaceTier(tier))
    const spec = {
      provisioner: SANDBOX_PROVISIONER,
      parameters: { tierName: tier, 'example.com/colour': 'blue' },
      allowTargetResourceExpansion: true,
    }
    await kube.create(DeploymentTargetClasses, targetClass(classes.delete, { ...spec, reclaimPolicy: 'Delete' }))
    await kube.create(DeploymentTargetClasses, targetClass(classes.retain, { ...spec, reclaimPolicy: 'Retain' }))
  })
  it.afterEach(async () => {
    await operator?.stop()
    operator = undefined
    await sweep(kube, namespace)
    for (const name of Object.values(classes)) await kube.delete(DeploymentTargetClasses, { name })
    await kube.delete(SpaceTiers, { name: tier })
  })
  it.after(() => cluster.close())

  const at = (name: string) => ({ name, namespace })
  const ask = (name: string, className: string, spec: Partial<DeploymentTargetClaim['spec']> = {}) =>
    kube.create(DeploymentTargetClaims, claim(namespace, name, { deploymentTargetClassName: className, ...spec }))
  const phase = (name: string, wanted: string) =>
    expectObject(kube, DeploymentTargetClaims, at(name), ({ status }) => status?.phase === wanted)
  const requests = () => kube.list(SpaceRequests, { namespace })
  const requestOf = (name: string): Promise<SpaceRequest> =>
    eventually(async () => (await requests()).find(({ metadata }) => metadata.labels?.[labels.claim] === name))
  /** What a space controller elsewhere would say. */
  const makeReady = (name: string, spaces = ['space-1']) =>
    kube.patch(
      SpaceRequests,
      at(name),
      {
        status: {
          targetClusterURL: 'https://member.example:6443',
          namespaceAccess: spaces.map((space) => ({ name: space, secretRef: 'credentials' })),
          conditions: [
            { type: 'Ready', status: 'True', reason: 'Provisioned', message: '', lastTransitionTime: '2030-01-01T00:00:00Z' },
          ],
        },
      },
      { subresource: 'status' },
    )
  const eventReasons = async () => {
    const { items } = await kube.read<{ items: { reason: string }[] }>(`/api/v1/namespaces/${namespace}/events`)
    return items.map(({ reason }) => reason)
  }

  it('D45, X7: a claim becomes a namespace, credentials, a target, and is Bound to it', async () => {
    await open()
    const asked = await ask('dev', classes.delete)
    const dev = await phase('dev', 'Bound')
    const request = await requestOf('dev')
    assert.ok(request.metadata.name.startsWith('dev-'))
    assert.is(request.spec.tierName, tier)
    assert.is(request.metadata.labels?.[labels.claimUid], asked.metadata.uid)
    assert.equal(JSON.parse(request.metadata.annotations?.[annotations.parameters] ?? ''), {
      tierName: tier,
      'example.com/colour': 'blue',
    })

    assert.is(dev.spec.targetName, 'dev-dt')
    const made = await expectObject(kube, DeploymentTargets, at('dev-dt'), ({ status }) => status?.phase === 'Bound')
    assert.equal(holderOf(made), { name: 'dev', uid: asked.metadata.uid })
    assert.is(made.metadata.annotations?.[annotations.provisionedBy], SANDBOX_PROVISIONER)
    assert.ok(made.metadata.finalizers?.includes(finalizers.target))
    assert.is(made.spec.deploymentTargetClassName, classes.delete)
    const { defaultNamespace, apiURL, clusterCredentialsSecret, allowInsecureSkipTLSVerify } = made.spec.kubernetesCredentials
    assert.is(allowInsecureSkipTLSVerify, false)
    assert.is((await requestOf('dev')).metadata.labels?.[labels.target], 'dev-dt')

    const secret = await kube.get(Secrets, at(clusterCredentialsSecret))
    const kubeconfig = new Secret(Buffer.from(secret?.data?.kubeconfig ?? '', 'base64').toString('utf8'))
    const tenant = kubeFromSecret(kubeconfig, { server: apiURL, reach: undefined })
    // A role that was bound is heard of a moment later.
    const quotas = await eventually(() => tenant.list(ResourceQuotas, { namespace: defaultNamespace }))
    assert.is(quotas.length, 1)
    await tenant.close()
  })

  it('takes at most 22 API requests per claim, the contents of the namespace included', async () => {
    const { requests: sent, quiet } = await open()
    const total = () => Object.entries(sent).reduce((sum, [verb, count]) => sum + (verb.toLowerCase() === 'watch' ? 0 : count), 0)
    await ask('first', classes.delete)
    await phase('first', 'Bound')
    await expectObject(kube, DeploymentTargets, at('first-dt'), ({ status }) => status?.phase === 'Bound')
    await quiet()
    // What the operator asks once, with its first space, is no claim's: who it is and what it may do.
    const before = total()
    const names = ['one', 'two', 'three', 'four', 'five']
    await Promise.all(names.map((name) => ask(name, classes.delete)))
    await Promise.all(names.map((name) => phase(name, 'Bound')))
    await Promise.all(
      names.map((name) => expectObject(kube, DeploymentTargets, at(`${name}-dt`), ({ status }) => status?.phase === 'Bound')),
    )
    await quiet()
    const each = (total() - before) / names.length
    assert.ok(each <= 22, `${each} requests per claim: ${JSON.stringify(sent)}`)
  })

  it('an Event on the claim tells what keeps its namespace from being made', async () => {
    const name = `tierless-${namespace.slice(-8)}`
    await open()
    const spec = { provisioner: SANDBOX_PROVISIONER, parameters: { tierName: 'nowhere' } }
    await kube.create(DeploymentTargetClasses, targetClass(name, spec))
    await ask('dev', name)
    const told = await eventually(async () => {
      const { items } = await kube.read<{ items: { reason: string; message: string; involvedObject: { kind: string } }[] }>(
        `/api/v1/namespaces/${namespace}/events`,
      )
      return items.find(
        ({ involvedObject, reason }) => involvedObject.kind === DeploymentTargetClaims.kind && reason === 'TierNotFound',
      )
    })
    assert.match(told.message, /^nothing can be made for it; .*UnableToProvision: .*there is no SpaceTier "nowhere"/)
    const claimed = await expectObject(
      kube,
      DeploymentTargetClaims,
      at('dev'),
      ({ status }) => conditionOf(status?.conditions, 'Ready')?.reason === 'TierNotFound',
    )
    assert.is(conditionOf(claimed.status?.conditions, 'ErrorOccurred')?.status, 'True')
    await kube.delete(DeploymentTargetClasses, { name })
  })

  it('X6, X8: a deleted claim takes target, request and namespace along, in this order', async () => {
    await open()
    await ask('dev', classes.delete)
    await phase('dev', 'Bound')
    const { metadata, status } = await requestOf('dev')
    const space = status?.namespaceAccess?.[0]?.name ?? ''
    await kube.patch(SpaceRequests, at(metadata.name), {
      metadata: { finalizers: [finalizers.spaceRequest, 'example.com/hold'] },
    })
    await kube.delete(DeploymentTargetClaims, at('dev'))
    await expectGone(kube, DeploymentTargetClaims, at('dev'))
    await expectGone(kube, Namespaces, { name: space })
    const held = await kube.get(DeploymentTargets, at('dev-dt'))
    assert.ok(held?.metadata.deletionTimestamp, 'the target waits for its request')
    await kube.patch(SpaceRequests, at(metadata.name), { metadata: { finalizers: null } })
    await expectGone(kube, SpaceRequests, at(metadata.name))
    await expectGone(kube, DeploymentTargets, at('dev-dt'))
  })

  it('X4: under Retain everything stays, and a claim of the same name gets another namespace', async () => {
    await open()
    await ask('dev', classes.retain)
    await phase('dev', 'Bound')
    const first = await requestOf('dev')
    await kube.delete(DeploymentTargetClaims, at('dev'))
    await expectGone(kube, DeploymentTargetClaims, at('dev'))
    await expectObject(
      kube,
      DeploymentTargets,
      at('dev-dt'),
      (object) => object.status?.phase === 'Released' && holderOf(object) === undefined,
    )
    const again = await ask('dev', classes.retain)
    const bound = await phase('dev', 'Bound')
    assert.is(bound.spec.targetName, `dev-dt-${again.metadata.uid?.slice(0, 5)}`)
    const names = (await requests()).map(({ metadata }) => metadata.name)
    assert.is(names.length, 2)
    assert.ok(names.includes(first.metadata.name))
    await kube.delete(DeploymentTargets, at('dev-dt'))
    await expectGone(kube, DeploymentTargets, at('dev-dt'))
    assert.is((await requests()).length, 2, 'R5: the request outlives its target')
  })

  it('a claim re-created under its name while the old one is still being freed gets its own', async () => {
    await open()
    await ask('dev', classes.delete)
    await phase('dev', 'Bound')
    const old = await requestOf('dev')
    await kube.patch(SpaceRequests, at(old.metadata.name), {
      metadata: { finalizers: [finalizers.spaceRequest, 'example.com/hold'] },
    })
    await kube.delete(DeploymentTargetClaims, at('dev'))
    await expectGone(kube, DeploymentTargetClaims, at('dev'))
    await ask('dev', classes.delete)
    const bound = await phase('dev', 'Bound')
    assert.is.not(bound.spec.targetName, 'dev-dt')
    await kube.patch(SpaceRequests, at(old.metadata.name), { metadata: { finalizers: [finalizers.spaceRequest] } })
    await expectGone(kube, SpaceRequests, at(old.metadata.name))
    await expectGone(kube, DeploymentTargets, at('dev-dt'))
    assert.is((await phase('dev', 'Bound')).spec.targetName, bound.spec.targetName)
  })

  it('D46, S1, X16, X17: a request made by somebody else is used, once ready, and no second one or second target is made', async () => {
    await open(true)
    await ask('dev', classes.delete, { resources: { requests: { cpu: '1' } }, arch: 'x86_64' })
    const { metadata } = await requestOf('dev')
    await makeReady(metadata.name)
    const made = await expectObject(kube, DeploymentTargets, at('dev-dt'), () => true)
    assert.equal(made.spec.resources, { requests: { cpu: '1' } })
    assert.is(made.spec.arch, 'x86_64')
    await expectObject(kube, SpaceRequests, at(metadata.name), (request) => request.metadata.labels?.[labels.target] === 'dev-dt')

    await ask('own', 'no-class-yet')
    const hand = { [labels.claim]: 'own' }
    await kube.create(SpaceRequests, spaceRequest(namespace, 'by-hand', { tierName: 'appstudio-env' }, { labels: hand }))
    await makeReady('by-hand')
    await expectObject(kube, DeploymentTargets, at('own-dt'), () => true)
    await kube.patch(SpaceRequests, at('by-hand'), { metadata: { annotations: { touched: 'yes' } } })
    await expectObject(kube, SpaceRequests, at('by-hand'), (request) => request.metadata.labels?.[labels.claimUid] !== undefined)
    assert.is((await kube.list(DeploymentTargets, { namespace })).length, 2)
    assert.is((await requests()).length, 2)
  })

  it('S3, X18: a request that names no claim, or another, makes no target', async () => {
    await open(true)
    await ask('dev', '')
    await kube.create(SpaceRequests, spaceRequest(namespace, 'plain'))
    await kube.create(SpaceRequests, spaceRequest(namespace, 'wrong', {}, { labels: { [labels.claim]: 'nobody' } }))
    for (const name of ['plain', 'wrong']) await makeReady(name).catch(() => undefined)
    await ask('last', classes.delete)
    const { metadata } = await requestOf('last')
    await makeReady(metadata.name)
    await expectObject(kube, DeploymentTargets, at('last-dt'), () => true)
    assert.is((await kube.list(DeploymentTargets, { namespace })).length, 1)
  })

  it('an unrelated target that has the name is left alone', async () => {
    await open(true)
    await kube.create(DeploymentTargets, target(namespace, 'dev-dt', { deploymentTargetClassName: 'other' }))
    const { metadata: claimed } = await ask('dev', classes.delete)
    const { metadata } = await requestOf('dev')
    await makeReady(metadata.name)
    const name = `dev-dt-${claimed.uid?.slice(0, 5)}`
    await expectObject(kube, DeploymentTargets, at(name), () => true)
    await expectObject(kube, SpaceRequests, at(metadata.name), (request) => request.metadata.labels?.[labels.target] === name)
    const other = await kube.get(DeploymentTargets, at('dev-dt'))
    assert.is(other?.spec.deploymentTargetClassName, 'other')
  })

  it('a request whose claim took another target meanwhile is deleted', async () => {
    await open(true)
    await ask('dev', classes.delete)
    const { metadata } = await requestOf('dev')
    await kube.patch(SpaceRequests, at(metadata.name), { metadata: { finalizers: null } })
    await kube.create(Secrets, credentialsSecret(namespace))
    await kube.create(DeploymentTargets, target(namespace, 'mine', { deploymentTargetClassName: classes.delete }))
    await kube.patch(DeploymentTargetClaims, at('dev'), { spec: { targetName: 'mine' } })
    await phase('dev', 'Bound')
    await expectGone(kube, SpaceRequests, at(metadata.name))
  })

  it('a request with several namespaces, or without credentials, is reported and makes no target', async () => {
    await open(true)
    await ask('dev', classes.delete)
    const { metadata } = await requestOf('dev')
    await makeReady(metadata.name, ['one', 'two'])
    await eventually(async () => (await eventReasons()).includes('NoTargetMade'))
    assert.is((await kube.list(DeploymentTargets, { namespace })).length, 0)
  })

  it('a claim whose name is longer than a label gets its target too', async () => {
    await open()
    const name = `very-${'long-'.repeat(15)}name`
    await ask(name, classes.delete)
    const bound = await phase(name, 'Bound')
    assert.is(bound.spec.targetName, `${name}-dt`)
  })

  it('S7: a request whose claim went before it was ready is deleted under Delete', async () => {
    await open(true)
    await ask('dev', classes.delete)
    const { metadata } = await requestOf('dev')
    await kube.patch(SpaceRequests, at(metadata.name), { metadata: { finalizers: null } })
    await kube.delete(DeploymentTargetClaims, at('dev'))
    await expectGone(kube, SpaceRequests, at(metadata.name))
  })

  it('S8: under Retain it stays, also when it becomes ready afterwards', async () => {
    await open(true)
    await ask('dev', classes.retain)
    const { metadata } = await requestOf('dev')
    await kube.delete(DeploymentTargetClaims, at('dev'))
    await expectGone(kube, DeploymentTargetClaims, at('dev'))
    await makeReady(metadata.name)
    await ask('last', classes.delete)
    await makeReady((await requestOf('last')).metadata.name)
    await expectObject(kube, DeploymentTargets, at('last-dt'), () => true)
    assert.ok(await kube.get(SpaceRequests, at(metadata.name)))
    assert.is((await kube.list(DeploymentTargets, { namespace })).length, 1)
  })

  it('a class that is gone does not hold up the deletion of what was made for it', async () => {
    await open()
    await ask('dev', classes.delete)
    await phase('dev', 'Bound')
    await kube.delete(DeploymentTargetClasses, { name: classes.delete })
    await kube.delete(DeploymentTargetClaims, at('dev'))
    await expectGone(kube, DeploymentTargetClaims, at('dev'))
    await expectGone(kube, DeploymentTargets, at('dev-dt'))
    assert.is((await requests()).length, 0)
  })

  it('a claim that grows gets a larger quota, and its target says so', async () => {
    await open()
    await ask('dev', classes.delete, { resources: { requests: { cpu: '500m' } } })
    await phase('dev', 'Bound')
    const { status } = await requestOf('dev')
    const quota = { name: 'tier', namespace: status?.namespaceAccess?.[0]?.name ?? '' }
    assert.is((await kube.get(ResourceQuotas, quota))?.spec?.hard?.['requests.cpu'], '500m')
    await kube.patch(DeploymentTargetClaims, at('dev'), { spec: { resources: { requests: { cpu: '1' } } } })
    await expectObject(kube, ResourceQuotas, quota, ({ spec }) => spec?.hard?.['requests.cpu'] === '1')
    await expectObject(kube, DeploymentTargets, at('dev-dt'), ({ spec }) => spec.resources?.requests?.cpu === '1')
    // More than the tier has: the target goes on saying what it has.
    await kube.patch(DeploymentTargetClaims, at('dev'), { spec: { resources: { requests: { cpu: '8' } } } })
    await eventually(
      async () => conditionOf((await requestOf('dev')).status?.conditions, 'Ready')?.reason === 'UnableToProvision',
    )
    assert.is((await kube.get(DeploymentTargets, at('dev-dt')))?.spec.resources?.requests?.cpu, '1')
  })

  it('a namespace that is deleted takes everything along that was made for it', async () => {
    await open()
    await ask('dev', classes.delete)
    await ask('kept', classes.delete)
    await phase('dev', 'Bound')
    await phase('kept', 'Bound')
    const spaces = (await requests()).map(({ status }) => status?.namespaceAccess?.[0]?.name ?? '')
    assert.is(spaces.length, 2)
    await kube.delete(Namespaces, { name: namespace })
    await expectGone(kube, Namespaces, { name: namespace })
    for (const name of spaces) await expectGone(kube, Namespaces, { name })
  })

  it('a request that somebody deleted under a waiting claim is asked for anew', async () => {
    await open(true)
    await ask('dev', classes.delete)
    const { metadata } = await requestOf('dev')
    await kube.delete(SpaceRequests, at(metadata.name))
    await kube.patch(SpaceRequests, at(metadata.name), { metadata: { finalizers: null } })
    await expectObject(kube, SpaceRequests, at(metadata.name), (request) => request.metadata.uid !== metadata.uid)
  })
})
