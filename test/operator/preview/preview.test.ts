import { equal, is, match, ok } from 'uvu/assert'
import {
  annotations,
  conditionOf,
  DeploymentTargetClaims,
  Environments,
  GitOpsDeploymentSets,
  GitOpsDeployments,
  GitProjects,
  isTrue,
  type Kind,
  type Preview,
  type PreviewSpec,
  Previews,
} from '../../../src/api/index.ts'
import { deploymentSets } from '../../../src/operator/gitops-deployment-set/index.ts'
import { previews } from '../../../src/operator/preview/index.ts'
import { Failure, hours, systemClock } from '../../../src/std/index.ts'
import { allowUse } from '../../support/builders/credentials.ts'
import { testCluster } from '../../support/control-plane.ts'
import { namesInMemory } from '../../support/names-in-memory.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { branchesOfOneName } from '../../support/previews.ts'
import { refusalOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { eventually, expectGone, expectObject } from '../../support/verbs.ts'

/** Not of the group system:authenticated, which may use all classes here. */
const ADA = 'ada\ndevelopers'
const BRANCHES = 'shop refs/heads/* ** false'
const [MAIN, LOGIN, CART] = ['refs/heads/main a1', 'refs/heads/login b1', 'refs/heads/cart c1']

describe('a Preview', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let names: ReturnType<typeof namesInMemory>
  let namespace = ''
  let ahead = 0
  let operator: RunningOperator
  const start = async () => {
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [previews(context, names.source), deploymentSets(context, names.source)],
      clock: { ...systemClock, now: () => systemClock.now() + ahead },
    })
  }
  it.beforeEach(async () => {
    namespace = await cluster.namespace('preview')
    await allowUse(kube, namespace, 'ada', { group: 'appstudio.redhat.com', resource: 'deploymenttargetclasses', name: 'dev' })
    ahead = 0
    names = namesInMemory()
    await start()
  })
  it.afterEach(() => operator.stop())
  it.after(() => cluster.close())

  const ref = (name: string) => ({ name, namespace })
  const create = async (spec: Partial<PreviewSpec> = {}) => {
    const project = { apiVersion: 'berth.dev/v1alpha1', kind: 'GitProject', metadata: ref('shop') }
    await kube.create(GitProjects, { ...project, spec: { url: 'https://example.com/shop', path: `${namespace}/shop` } })
    await kube.create(Previews, {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'Preview',
      metadata: { ...ref('shop'), annotations: { [annotations.requester]: ADA } },
      spec: {
        branches: { project: 'shop', except: ['main'] },
        deploymentTargetClassName: 'dev',
        template: {
          spec: { source: { path: 'deploy', targetRevision: 'main' }, variables: { values: { host: '${environment}' } } },
        },
        ...spec,
      },
    })
  }
  const said = (reason: string, check: (one: Preview, message: string) => unknown = () => true) =>
    expectObject(kube, Previews, ref('shop'), (one) => {
      const ready = conditionOf(one.status?.conditions, 'Ready')
      equal([ready?.reason, ready?.observedGeneration], [reason, one.metadata.generation], ready?.message)
      return check(one, ready?.message ?? '')
    })
  const branches =
    (...wanted: string[]) =>
    (one: Preview) =>
      equal(
        one.status?.environments?.map(({ branch }) => branch),
        wanted,
      )
  const there = (...wanted: string[]) =>
    eventually(async () => {
      const kinds: Kind[] = [Environments, DeploymentTargetClaims, GitOpsDeployments]
      const lists = await Promise.all(kinds.map((kind) => kube.list(kind, { namespace })))
      return lists.every((list) => String(list.map(({ metadata }) => metadata.name).sort()) === String(wanted))
    })
  const eventOf = (reason: string, message: string) =>
    eventually(async () => {
      const { items } = await kube.read<{ items: { reason: string; message: string }[] }>(
        `/api/v1/namespaces/${namespace}/events`,
      )
      return items.some((event) => event.reason === reason && event.message === message)
    })
  /** As the controllers of claims and deployments would say it. */
  const bind = (name: string) =>
    kube.patch(DeploymentTargetClaims, ref(name), { status: { phase: 'Bound' } }, { subresource: 'status' })
  const report = async (name: string, status: 'True' | 'False', message = 'as the test has it') => {
    const { metadata } = await expectObject(kube, GitOpsDeployments, ref(name), () => true)
    const observedGeneration = metadata.generation ?? 0
    const conditions = [
      { type: 'Ready', status, reason: 'Tested', message, observedGeneration, lastTransitionTime: '2030-01-01T00:00:00Z' },
    ]
    await kube.patch(GitOpsDeployments, ref(name), { status: { observedGeneration, conditions } }, { subresource: 'status' })
  }

  it('makes a claim, an Environment and a deployment for each branch, and tells how each is', async () => {
    await create()
    await said('WaitingForRepository')
    await names.tell(BRANCHES, [MAIN, LOGIN, CART])
    await there('shop-cart', 'shop-login')
    const { spec, metadata } = await expectObject(kube, GitOpsDeployments, ref('shop-login'), () => true)
    equal(spec.source, {
      repoURL: 'https://example.com/shop',
      project: `${namespace}/shop`,
      path: 'deploy',
      targetRevision: 'refs/heads/login',
    })
    equal([spec.type, spec.destination, spec.deletionPolicy], ['automated', { environment: 'shop-login' }, undefined])
    equal(spec.variables?.values, { host: 'shop-login' })
    is(metadata.labels?.['berth.dev/preview'], 'shop')
    const claim = await expectObject(kube, DeploymentTargetClaims, ref('shop-login'), () => true)
    is(claim.spec.deploymentTargetClassName, 'dev')

    await said('EnvironmentsNotReady', (one, message) => {
      match(message, 'Environment shop-cart of branch cart (Provisioning), and 1 more')
      return branches('cart', 'login')(one)
    })
    for (const name of ['shop-cart', 'shop-login']) await bind(name)
    await report('shop-cart', 'True')
    await report('shop-login', 'False', 'the pod of it crashes')
    await said('EnvironmentsNotReady', (_, message) =>
      match(message, 'Environment shop-login of branch login (Tested): the pod of it crashes'),
    )
    await report('shop-login', 'True')
    await said('Ready', ({ status }) => equal(status?.counts, { environments: 2, ready: 2, waiting: 0, expired: 0 }))
    is((await kube.list(Previews, { namespace }))[0]?.status?.environments?.[1]?.commit, 'b1')
  })

  it('removes all of it with the branch, and nothing while nobody knows of the branches', async () => {
    await create()
    await said('WaitingForRepository')
    await names.tell(BRANCHES, [LOGIN, CART])
    await there('shop-cart', 'shop-login')
    await names.tell(BRANCHES, new Failure('unavailable', 'kas is away'))
    await said('EnvironmentsNotReady', ({ status }) => is(isTrue(status?.conditions, 'RepositoryInView'), false))
    await operator.stop()
    await start()
    await said('ReconcileFailed')
    await there('shop-cart', 'shop-login')
    await names.tell(BRANCHES, [CART])
    await there('shop-cart')
    await names.tell(BRANCHES, [])
    await there()
    await said('Ready', ({ status }) => equal(status?.environments, []))
  })

  it('has branches wait where there is no room, and takes the next when there is', async () => {
    await create({ maxEnvironments: 1 })
    await said('WaitingForRepository')
    await names.tell(BRANCHES, [LOGIN])
    await there('shop-login')
    await names.tell(BRANCHES, [CART, LOGIN])
    await said('EnvironmentsNotReady', ({ status }, message) => {
      is(status?.counts?.waiting, 1)
      match(message, '1 branch waits')
    })
    await there('shop-login')
    await names.tell(BRANCHES, [CART])
    await there('shop-cart')
  })

  it('lets one go when its time is over or somebody ends it, and makes it anew with the next push', async () => {
    await create({ timeToLive: '2h' })
    await said('WaitingForRepository')
    await names.tell(BRANCHES, [CART, LOGIN])
    await there('shop-cart', 'shop-login')
    await kube.patch(Environments, ref('shop-login'), { metadata: { annotations: { [annotations.previewKeep]: 'forever' } } })
    await said('EnvironmentsNotReady', ({ status }) =>
      equal(
        status?.environments?.map(({ expires }) => expires !== undefined),
        [true, false],
      ),
    )
    ahead = hours(3)
    await operator.stop()
    await start()
    await there('shop-login')
    await said('EnvironmentsNotReady', ({ status }) => equal(status?.expired, [{ branch: 'cart', commit: 'c1' }]))
    await kube.patch(Environments, ref('shop-login'), { metadata: { annotations: { [annotations.previewExpire]: 'b1' } } })
    await there()
    await eventOf('EnvironmentRemoved', 'that of branch login goes: it has expired, or was ended; the next push brings it back')
    await names.tell(BRANCHES, ['refs/heads/cart c2', LOGIN])
    await there('shop-cart')
    await said('EnvironmentsNotReady', ({ status }) => equal(status?.expired, [{ branch: 'login', commit: 'b1' }]))
  })

  it('takes nothing from others, and makes the rest', async () => {
    const foreign = { apiVersion: 'appstudio.redhat.com/v1alpha1', kind: 'DeploymentTargetClaim', metadata: ref('shop-login') }
    await kube.create(DeploymentTargetClaims, { ...foreign, spec: { deploymentTargetClassName: 'mine' } })
    await create()
    await said('WaitingForRepository')
    await names.tell(BRANCHES, [CART, LOGIN])
    await said('EnvironmentsNotReady', ({ status }) => {
      const found = status?.environments?.find(({ branch }) => branch === 'login')
      is(found?.reason, 'NameOccupied')
      match(found?.message ?? '', `DeploymentTargetClaim ${namespace}/shop-login is there, but not this Preview's`)
    })
    await expectObject(kube, Environments, ref('shop-cart'), () => true)
    await names.tell(BRANCHES, [CART])
    await said('EnvironmentsNotReady', branches('cart'))
    const claim = await expectObject(kube, DeploymentTargetClaims, ref('shop-login'), () => true)
    equal([claim.metadata.labels, claim.metadata.ownerReferences], [undefined, undefined])
  })

  it('puts back what somebody changes or deletes, and says what is wrong with its template', async () => {
    await create()
    await said('WaitingForRepository')
    await names.tell(BRANCHES, [LOGIN])
    await there('shop-login')
    const { metadata } = await expectObject(kube, Environments, ref('shop-login'), () => true)
    await kube.patch(Environments, ref('shop-login'), { metadata: { annotations: { [annotations.branch]: 'main' } } })
    await expectObject(kube, Environments, ref('shop-login'), (one) =>
      is(one.metadata.annotations?.[annotations.branch], 'login'),
    )
    await kube.delete(Environments, ref('shop-login'))
    await expectObject(kube, Environments, ref('shop-login'), (one) => ok(one.metadata.uid !== metadata.uid))
    await kube.delete(GitOpsDeploymentSets, ref('shop'))
    await there('shop-login')
    await kube.patch(Previews, ref('shop'), { spec: { template: { spec: { source: { path: '${nothing}' } } } } })
    await said('TemplateInvalid', (_, message) => match(message, /nothing/))
  })

  it('takes out of effect what its template has no more', async () => {
    await create()
    await said('WaitingForRepository')
    await names.tell(BRANCHES, [LOGIN])
    await there('shop-login')
    const template = { spec: { source: { path: 'other' }, variables: null } }
    await kube.patch(Previews, ref('shop'), { spec: { template } })
    await expectObject(kube, GitOpsDeployments, ref('shop-login'), ({ spec }) =>
      equal([spec.source.path, spec.variables], ['other', undefined]),
    )
    await kube.patch(GitOpsDeploymentSets, ref('shop'), { spec: { suspend: true } })
    await expectObject(kube, GitOpsDeploymentSets, ref('shop'), ({ spec }) => ok(!spec.suspend))
  })

  it('gives nobody what another branch has had, and is stopped by no name', async () => {
    const [one, other] = branchesOfOneName()
    await create()
    await said('WaitingForRepository')
    const [first, second] = [`refs/heads/${one} a1`, `refs/heads/${other} a1`]
    await names.tell(BRANCHES, [first, `refs/heads/${'x'.repeat(300)} d1`])
    const [entry] = (await said('EnvironmentsNotReady', branches(one))).status?.environments ?? []
    const claimOfIt = ref(entry?.name ?? '')
    const claim = await expectObject(kube, DeploymentTargetClaims, claimOfIt, () => true)
    await names.tell(BRANCHES, [first, second])
    await said('EnvironmentsNotReady', ({ status }) => is(status?.counts?.waiting, 1))
    await kube.patch(Environments, claimOfIt, { metadata: { annotations: { [annotations.previewExpire]: 'a1' } } })
    await said('EnvironmentsNotReady', (now) => {
      branches(other)(now)
      equal(now.status?.expired, [{ branch: one, commit: 'a1' }])
    })
    await expectObject(kube, DeploymentTargetClaims, claimOfIt, ({ metadata }) => ok(metadata.uid !== claim.metadata.uid))
    const environment = await expectObject(kube, Environments, claimOfIt, () => true)
    is(environment.metadata.annotations?.[annotations.branch], other)
  })

  it('makes no claim of a class that nobody may use any more', async () => {
    await create({ deploymentTargetClassName: 'for-others' })
    await said('WaitingForRepository')
    await names.tell(BRANCHES, [LOGIN])
    await said('EnvironmentsNotReady', ({ status }, message) => {
      is(status?.environments?.[0]?.reason, 'Forbidden')
      match(message, 'ada may not use DeploymentTargetClass "for-others"')
    })
    equal(await kube.list(DeploymentTargetClaims, { namespace }), [])
  })

  it('takes nothing more while it is suspended, and all with it when it is deleted', async () => {
    await create()
    await said('WaitingForRepository')
    await names.tell(BRANCHES, [LOGIN])
    await there('shop-login')
    await kube.patch(Previews, ref('shop'), { spec: { suspend: true } })
    await said('Suspended')
    await names.tell(BRANCHES, [CART])
    await said('Suspended', (_, message) => match(message, '1 to make (shop-cart), 1 to remove (shop-login)'))
    await there('shop-login')
    await kube.delete(Previews, ref('shop'))
    await there()
    await expectGone(kube, GitOpsDeploymentSets, ref('shop'))
  })

  it('is refused with a name or a time that cannot be', async () => {
    const object = (name: string, spec: object) => ({
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'Preview',
      metadata: ref(name),
      spec: { branches: { project: 'shop' }, deploymentTargetClassName: 'dev', template: { spec: {} }, ...spec },
    })
    const refused = (name: string, spec: object = {}) => refusalOf(kube.create(Previews, object(name, spec)))
    match(await refused('x'.repeat(30)), 'at most 29 characters')
    match(await refused('shop', { timeToLive: '5s' }), 'timeToLive is at least a minute')
    match(await refused('shop', { timeToLive: 'soon' }), 'timeToLive')
    match(await refused('shop', { maxEnvironments: 500 }), 'maxEnvironments')
  })
})
