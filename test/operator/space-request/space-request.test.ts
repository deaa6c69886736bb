import * as assert from 'uvu/assert'
import { kubeFromSecret } from '../../../src/adapters/kube/index.ts'
import {
  type Condition,
  ConfigMaps,
  conditionOf,
  finalizers,
  LimitRanges,
  labels,
  type Namespace,
  Namespaces,
  NetworkPolicies,
  ResourceQuotas,
  RoleBindings,
  Roles,
  Secrets,
  ServiceAccounts,
  type SpaceRequest,
  SpaceRequests,
  SpaceTiers,
} from '../../../src/api/index.ts'
import { spaceRequests } from '../../../src/operator/space-request/index.ts'
import { type Clock, hours, isFailure, minutes, Secret, systemClock } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { spaceRequest, spaceTier } from '../../support/spaces.ts'
import { describe } from '../../support/suite.ts'
import { sweep } from '../../support/sweep.ts'
import { eventually, expectGone, expectObject } from '../../support/verbs.ts'

/** The system's time, moved on by as much as the test says; timers run as always. */
function shiftedClock(): Clock & { shift: number } {
  const clock = { shift: 0, now: () => systemClock.now() + clock.shift, after: systemClock.after }
  return clock
}

/** Namespaces are deleted by the cluster, one after the other. */

describe('space request', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let clock = shiftedClock()
  let namespace = ''
  let tier = ''
  const tiers: string[] = []

  const open = () =>
    startOperator({ kubeconfig: cluster.kubeconfig, namespace, clock, controllers: (context) => [spaceRequests(context)] })

  it.beforeEach(async () => {
    namespace = await cluster.namespace('space')
    tier = `tier-${namespace.slice(-8)}`
    clock = shiftedClock()
    operator = await open()
  })
  it.afterEach(async () => {
    await operator.stop()
    await sweep(kube, namespace)
    for (const name of tiers.splice(0)) await kube.delete(SpaceTiers, { name })
  })
  it.after(() => cluster.close())

  const makeTier = async (spec: Parameters<typeof spaceTier>[1] = {}, name = tier) => {
    tiers.push(name)
    await kube.create(SpaceTiers, spaceTier(name, spec))
    // Or a request may rightly be told first that there is none.
    await eventually(() => operator.caches.of(SpaceTiers).get({ name }))
  }
  const readyOf = ({ status }: SpaceRequest): Condition | undefined => conditionOf(status?.conditions, 'Ready')
  const reason = (name: string, wanted: string) =>
    expectObject(kube, SpaceRequests, { name, namespace }, (request) => readyOf(request)?.reason === wanted)
  const ask = async (name: string, spec: Partial<SpaceRequest['spec']> = {}) => {
    await kube.create(SpaceRequests, spaceRequest(namespace, name, { tierName: tier, ...spec }))
    return reason(name, 'Provisioned')
  }
  const accessOf = ({ status }: SpaceRequest) => {
    const [access] = status?.namespaceAccess ?? []
    return { space: access?.name ?? '', secret: access?.secretRef ?? '' }
  }
  const kubeconfigIn = async (name: string) => {
    const secret = await kube.get(Secrets, { name, namespace })
    return new Secret(Buffer.from(secret?.data?.kubeconfig ?? '', 'base64').toString('utf8'))
  }
  const patch = (object: object) => ({ metadata: object })

  it('H1, H4: a request gets a namespace as its tier says, and credentials that work in it', async () => {
    await makeTier()
    const request = await ask('dev')
    const { space, secret } = accessOf(request)
    assert.ok(request.metadata.finalizers?.includes(finalizers.spaceRequest))
    assert.is(space, `${namespace}-${request.metadata.uid?.slice(0, 5)}`)
    assert.is(request.status?.targetClusterURL, kube.server)

    const made = await kube.get(Namespaces, { name: space })
    assert.is(made?.metadata.labels?.['team.example/cost-centre'], '42')
    assert.is(made?.metadata.labels?.[labels.podSecurity], 'baseline')
    assert.is(made?.metadata.annotations?.['team.example/contact'], 'ops@example.com')
    const quota = await kube.get(ResourceQuotas, { name: 'tier', namespace: space })
    assert.is(quota?.spec?.hard?.pods, '20')
    assert.ok(await kube.get(LimitRanges, { name: 'tier', namespace: space }))
    assert.ok(await kube.get(NetworkPolicies, { name: 'same-namespace', namespace: space }))

    const held = await kube.get(Secrets, { name: secret, namespace })
    assert.is(held?.type, 'Opaque')
    assert.equal(Object.keys(held?.data ?? {}), ['kubeconfig'])
    assert.is(held?.metadata.labels?.[labels.provisionedNamespace], space)
    const tenant = kubeFromSecret(await kubeconfigIn(secret), { server: kube.server, reach: undefined })
    const note = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'note', namespace: space } }
    // A role that was bound is heard of a moment later.
    assert.is((await eventually(() => tenant.create(ConfigMaps, note))).metadata.namespace, space)
    const elsewhere = { ...note, metadata: { name: 'note', namespace } }
    const refusal = await tenant.create(ConfigMaps, elsewhere).then(
      () => undefined,
      (failure: unknown) => failure,
    )
    assert.ok(isFailure(refusal, 'forbidden'))
    await tenant.close()
  })

  it('costs few API requests, and none when nothing changed', async () => {
    await makeTier()
    const before = { ...operator.requests }
    await kube.create(
      SpaceRequests,
      spaceRequest(namespace, 'dev', { tierName: tier }, { finalizers: [finalizers.spaceRequest] }),
    )
    await reason('dev', 'Provisioned')
    await operator.quiet()
    const count = () =>
      Object.entries(operator.requests)
        .filter(([verb]) => verb !== 'watch')
        .reduce((sum, [verb, n]) => sum + n - (before[verb] ?? 0), 0)
    const cost = count()
    // Namespace, quota, limits, two policies, service account, binding, token, Secret, status; and once, whether it may do all that anywhere.
    assert.is(cost, 11, JSON.stringify(operator.requests))
    await kube.patch(SpaceRequests, { name: 'dev', namespace }, patch({ annotations: { touched: 'yes' } }))
    await eventually(
      () => operator.caches.of(SpaceRequests).get({ name: 'dev', namespace })?.metadata.annotations?.touched === 'yes',
    )
    await kube.create(SpaceRequests, spaceRequest(namespace, 'second', { tierName: '' }))
    await reason('second', 'UnableToProvision')
    await operator.quiet()
    assert.is(
      count(),
      cost + 2,
      `only what the second request cost: its status and an Event; ${JSON.stringify([before, operator.requests])}`,
    )
  })

  it('H25, H26: a blank and an unknown tier are refused with a remedy, and a tier that arrives is noticed', async () => {
    await kube.create(SpaceRequests, spaceRequest(namespace, 'blank', { tierName: '' }))
    const blank = await reason('blank', 'UnableToProvision')
    assert.match(readyOf(blank)?.message ?? '', /tierName cannot be blank/)
    await kube.create(SpaceRequests, spaceRequest(namespace, 'early', { tierName: tier }))
    const early = await reason('early', 'UnableToProvision')
    assert.match(readyOf(early)?.message ?? '', new RegExp(`there is no SpaceTier "${tier}"`))
    await makeTier()
    await reason('early', 'Provisioned')
  })

  it('H8: a request for another cluster is refused', async () => {
    await makeTier()
    await kube.create(SpaceRequests, spaceRequest(namespace, 'far', { tierName: tier, targetClusterRoles: ['gpu'] }))
    const far = await reason('far', 'UnableToProvision')
    assert.match(readyOf(far)?.message ?? '', /none with the role "gpu"/)
  })

  it('never takes over a namespace or a Secret of somebody else', async () => {
    await makeTier()
    await operator.stop()
    const { metadata } = await kube.create(SpaceRequests, spaceRequest(namespace, 'dev', { tierName: tier }))
    const taken = `${namespace}-${metadata.uid?.slice(0, 5)}`
    const foreign: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: taken } }
    await kube.create(Namespaces, foreign)
    const name = `dev-${metadata.uid?.slice(0, 5)}`
    await kube.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data: {} })
    operator = await open()
    const { space, secret } = accessOf(await reason('dev', 'Provisioned'))
    assert.is.not(space, taken)
    assert.is.not(secret, name)
    assert.equal((await kube.get(Secrets, { name, namespace }))?.data, undefined)
    assert.is((await kube.get(Namespaces, { name: taken }))?.metadata.labels?.[labels.spaceRequestUid], undefined)
    await kube.delete(Namespaces, { name: taken })
  })

  it('H10, H12: a deleted Secret comes back under its name, and works', async () => {
    await makeTier()
    const { space, secret } = accessOf(await ask('dev'))
    await kube.delete(Secrets, { name: secret, namespace })
    await expectObject(kube, Secrets, { name: secret, namespace }, ({ data }) => data?.kubeconfig !== undefined)
    const tenant = kubeFromSecret(await kubeconfigIn(secret), { server: kube.server, reach: undefined })
    assert.equal(await tenant.list(ResourceQuotas, { namespace: space }).then((list) => list.length), 1)
    await tenant.close()
  })

  it('a Secret that somebody changed is put back', async () => {
    await makeTier()
    const { secret } = accessOf(await ask('dev'))
    const evil = Buffer.from('apiVersion: v1\nkind: Config\n').toString('base64')
    await kube.patch(Secrets, { name: secret, namespace }, { data: { kubeconfig: evil, more: evil }, metadata: { labels: null } })
    await eventually(async () => {
      const held = await kube.get(Secrets, { name: secret, namespace })
      return held?.data?.kubeconfig !== evil && held?.data?.more === undefined && held?.metadata.labels !== undefined
    })
  })

  it('limits that somebody changed or removed are put back, whatever the server made of their spelling', async () => {
    await makeTier()
    const { space } = accessOf(await ask('dev'))
    const quota = { name: 'tier', namespace: space }
    await kube.patch(ResourceQuotas, quota, { spec: { hard: { pods: '9999', 'requests.cpu': null } } })
    await expectObject(
      kube,
      ResourceQuotas,
      quota,
      ({ spec }) => spec?.hard?.pods === '20' && spec.hard['requests.cpu'] === '1500m',
    )
    await kube.patch(NetworkPolicies, { name: 'deny-ingress', namespace: space }, { spec: { ingress: [{}] } })
    await expectObject(
      kube,
      NetworkPolicies,
      { name: 'deny-ingress', namespace: space },
      ({ spec }) => spec?.ingress === undefined,
    )
    await kube.delete(LimitRanges, quota)
    await expectObject(kube, LimitRanges, quota, () => true)
    await kube.patch(ResourceQuotas, quota, {
      metadata: { labels: { [labels.spaceRequestUid]: null } },
      spec: { hard: { pods: '7' } },
    })
    await expectObject(kube, ResourceQuotas, quota, ({ spec }) => spec?.hard?.pods === '20')
  })

  it('is in sync after a restart without a single write', async () => {
    await makeTier()
    const before = await ask('dev')
    const { space } = accessOf(before)
    const quota = await kube.get(ResourceQuotas, { name: 'tier', namespace: space })
    await operator.stop()
    operator = await open()
    await ask('second') // Both are reconciled when this one is done.
    await expectObject(kube, SpaceRequests, { name: 'dev', namespace }, ({ metadata }) => metadata.uid === before.metadata.uid)
    const after = await kube.get(ResourceQuotas, { name: 'tier', namespace: space })
    assert.is(after?.metadata.uid, quota?.metadata.uid)
    await operator.quiet()
    const { patch: patches = 0 } = operator.requests
    assert.is(patches, 2, `finalizer and status of the second request, nothing else: ${JSON.stringify(operator.requests)}`)
  })

  it('H33: a changed tier, and a change of tier, are followed; what left the tier is removed', async () => {
    await makeTier()
    const { space, secret } = accessOf(await ask('dev'))
    const spec = { labels: { other: 'x', 'team.example/cost-centre': null }, quota: { pods: '5', 'requests.cpu': null } }
    await kube.patch(SpaceTiers, { name: tier }, { spec: { ...spec, networkPolicies: null } })
    await expectObject(
      kube,
      ResourceQuotas,
      { name: 'tier', namespace: space },
      ({ spec: { hard = {} } = {} }) => hard.pods === '5' && hard['requests.cpu'] === undefined,
    )
    await expectGone(kube, NetworkPolicies, { name: 'deny-ingress', namespace: space })
    await expectObject(
      kube,
      Namespaces,
      { name: space },
      ({ metadata }) => metadata.labels?.other === 'x' && metadata.labels['team.example/cost-centre'] === undefined,
    )
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }]
    await makeTier({ roles: [{ name: 'reader', rules }], serviceAccountName: 'reader' }, `${tier}-b`)
    await kube.patch(SpaceRequests, { name: 'dev', namespace }, { spec: { tierName: `${tier}-b` } })
    await expectObject(kube, Roles, { name: 'reader', namespace: space }, () => true)
    await expectGone(kube, RoleBindings, { name: 'namespace-manager-berth-space-admin', namespace: space })
    await expectGone(kube, ServiceAccounts, { name: 'namespace-manager', namespace: space })
    await eventually(async () => {
      const tenant = kubeFromSecret(await kubeconfigIn(secret), { server: kube.server, reach: undefined })
      const seen = await tenant.list(ConfigMaps, { namespace: space }).catch(() => undefined)
      await tenant.close()
      return seen !== undefined
    })
  })

  it('H14: a tier without service account gives access without a Secret', async () => {
    await makeTier({ serviceAccountName: '' })
    const { space, secret } = accessOf(await ask('dev'))
    assert.is(secret, '')
    assert.ok(await kube.get(Namespaces, { name: space }))
  })

  it('renews the token at four fifths of its life, while the old one still works', async () => {
    await makeTier({ tokenLifetime: '1h' })
    const request = await ask('dev')
    const { space, secret } = accessOf(request)
    const old = await kubeconfigIn(secret)
    clock.shift = minutes(47)
    await kube.patch(SpaceRequests, { name: 'dev', namespace }, patch({ annotations: { look: 'now' } }))
    await ask('other') // By then the first one was looked at.
    assert.is((await kubeconfigIn(secret)).reveal(), old.reveal())
    clock.shift = minutes(49)
    await kube.patch(SpaceRequests, { name: 'dev', namespace }, patch({ annotations: { look: 'again' } }))
    await eventually(async () => (await kubeconfigIn(secret)).reveal() !== old.reveal())
    const tenant = kubeFromSecret(old, { server: kube.server, reach: undefined })
    assert.is((await tenant.list(ResourceQuotas, { namespace: space })).length, 1)
    await tenant.close()
  })

  it('gives new credentials when the service account was replaced', async () => {
    await makeTier()
    const { space, secret } = accessOf(await ask('dev'))
    const old = await kubeconfigIn(secret)
    await kube.delete(ServiceAccounts, { name: 'namespace-manager', namespace: space })
    await eventually(async () => (await kubeconfigIn(secret)).reveal() !== old.reveal())
    await eventually(async () => {
      const tenant = kubeFromSecret(await kubeconfigIn(secret), { server: kube.server, reach: undefined })
      const seen = await tenant.list(ResourceQuotas, { namespace: space }).catch(() => undefined)
      await tenant.close()
      return seen !== undefined
    })
  })

  it("narrows the tier's quota to what is asked for, and refuses more than the tier gives", async () => {
    await makeTier()
    const { space } = accessOf(await ask('small', { resources: { requests: { cpu: '250m', 'nvidia.com/gpu': 1 } } }))
    const quota = await kube.get(ResourceQuotas, { name: 'tier', namespace: space })
    assert.equal(quota?.spec?.hard, { 'requests.cpu': '250m', 'requests.memory': '4Gi', 'limits.cpu': '4', pods: '20' })
    await kube.create(SpaceRequests, spaceRequest(namespace, 'big', { tierName: tier, resources: { limits: { cpu: 5 } } }))
    const big = await reason('big', 'UnableToProvision')
    assert.is(conditionOf(big.status?.conditions, 'ErrorOccurred')?.reason, 'QuotaTooSmall')
    assert.match(readyOf(big)?.message ?? '', /asks for limits.cpu 5, but SpaceTier .* gives at most 4/)
  })

  it('H38, H39: a deleted request takes its namespace along, then goes', async () => {
    await makeTier()
    const { space, secret } = accessOf(await ask('dev'))
    await kube.delete(SpaceRequests, { name: 'dev', namespace })
    await expectGone(kube, SpaceRequests, { name: 'dev', namespace })
    await expectGone(kube, Namespaces, { name: space })
    await expectGone(kube, Secrets, { name: secret, namespace })
  })

  it('H41: says Terminating, after 2 minutes what hangs, and goes when it is mended', async () => {
    await makeTier()
    const { space } = accessOf(await ask('dev'))
    const stuck = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'stuck', namespace: space, finalizers: ['example.com/hold'] },
    }
    await kube.create(ConfigMaps, stuck)
    await kube.delete(SpaceRequests, { name: 'dev', namespace })
    await reason('dev', 'Terminating')
    await eventually(async () => {
      const { status } = (await kube.get(Namespaces, { name: space })) ?? {}
      return status?.conditions?.some(({ type, status: is }) => type === 'NamespaceFinalizersRemaining' && is === 'True')
    })
    // Not before the cluster itself knows what hangs: the request would say so with less, and look again only later.
    clock.shift = minutes(3)
    await kube.patch(SpaceRequests, { name: 'dev', namespace }, patch({ annotations: { look: 'now' } }))
    const hanging = await reason('dev', 'UnableToTerminate')
    assert.match(readyOf(hanging)?.message ?? '', /example.com\/hold/)
    await kube.patch(ConfigMaps, { name: 'stuck', namespace: space }, patch({ finalizers: null }))
    await expectGone(kube, SpaceRequests, { name: 'dev', namespace })
  })

  it('makes a namespace anew that somebody deleted, with credentials for the new one', async () => {
    await makeTier()
    const { space, secret } = accessOf(await ask('dev'))
    const before = await kube.get(Namespaces, { name: space })
    await kube.delete(Namespaces, { name: space })
    await eventually(async () => {
      const now = await kube.get(Namespaces, { name: space })
      return now !== undefined && now.metadata.uid !== before?.metadata.uid
    })
    await reason('dev', 'Provisioned')
    await eventually(async () => {
      const tenant = kubeFromSecret(await kubeconfigIn(secret), { server: kube.server, reach: undefined })
      const seen = await tenant.list(ResourceQuotas, { namespace: space }).catch(() => undefined)
      await tenant.close()
      return seen !== undefined
    })
  })

  it('keeps credentials alive while the tier is gone', async () => {
    await makeTier()
    const { secret } = accessOf(await ask('dev'))
    const old = await kubeconfigIn(secret)
    await kube.delete(SpaceTiers, { name: tier })
    await reason('dev', 'UnableToProvision')
    clock.shift = hours(20)
    await kube.patch(SpaceRequests, { name: 'dev', namespace }, patch({ annotations: { look: 'now' } }))
    await eventually(async () => (await kubeconfigIn(secret)).reveal() !== old.reveal())
  })
})
