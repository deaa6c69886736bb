import { equal, is, match, ok } from 'uvu/assert'
import {
  annotations,
  DeploymentTargetClaims,
  Environments,
  GitOpsDeploymentSets,
  GitOpsDeployments,
  isTrue,
  Previews,
  typeMetaOf,
} from '../../../src/api/index.ts'
import { Failure, hours } from '../../../src/std/index.ts'
import { environment } from '../../support/builders/environments.ts'
import { branchesOfOneName } from '../../support/previews.ts'
import { refusalOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { expectGone, expectObject } from '../../support/verbs.ts'
import { previewStage } from './stage.ts'

const [MAIN, LOGIN, CART] = ['refs/heads/main a1', 'refs/heads/login b1', 'refs/heads/cart c1']

const WITHOUT_VALUE =
  'Environment shop-login: no value for ${nothing} in spec.template. Use ${environment} or ${branch}, give it a default as in ${name:=default}, or write $${name} if it is meant as it stands.'

describe('a Preview', (it) => {
  const stage = previewStage(it)
  const { kube, ref, create, change, tell, said, branches, there, eventOf, bind, report } = stage

  it('makes a claim, an Environment and a deployment for each branch, and tells how each is', async () => {
    await create()
    await said('WaitingForRepository')
    await tell([MAIN, LOGIN, CART])
    await there('shop-cart', 'shop-login')
    const { spec, metadata } = await expectObject(kube, GitOpsDeployments, ref('shop-login'), () => true)
    equal(spec.source, {
      repoURL: 'https://example.com/shop',
      project: `${stage.namespace}/shop`,
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
    is((await kube.list(Previews, { namespace: stage.namespace }))[0]?.status?.environments?.[1]?.commit, 'b1')
  })

  it('removes all of it with the branch, and nothing while nobody knows of the branches', async () => {
    await create()
    await said('WaitingForRepository')
    await tell([LOGIN, CART])
    await there('shop-cart', 'shop-login')
    await tell(new Failure('unavailable', 'kas is away'))
    await said('EnvironmentsNotReady', ({ status }) => is(isTrue(status?.conditions, 'RepositoryInView'), false))
    await stage.restart()
    await said('ReconcileFailed')
    await there('shop-cart', 'shop-login')
    await tell([CART])
    await there('shop-cart')
    await tell([])
    await there()
    await said('Ready', ({ status }) => equal(status?.environments, []))
  })

  it('has branches wait where there is no room, and takes the next when there is', async () => {
    await create({ maxEnvironments: 1 })
    await said('WaitingForRepository')
    await tell([LOGIN])
    await there('shop-login')
    await tell([CART, LOGIN])
    await said('EnvironmentsNotReady', ({ status }, message) => {
      is(status?.counts?.waiting, 1)
      equal(status?.waiting, [{ branch: 'cart', commit: 'c1' }])
      match(message, '1 branch waits')
    })
    await there('shop-login')
    await tell([CART])
    await there('shop-cart')
  })

  it('lets one go when its time is over or somebody ends it, and makes it anew with the next push', async () => {
    await create({ timeToLive: '2h' })
    await said('WaitingForRepository')
    await tell([CART, LOGIN])
    await there('shop-cart', 'shop-login')
    await kube.patch(Environments, ref('shop-login'), { metadata: { annotations: { [annotations.previewKeep]: 'forever' } } })
    await said('EnvironmentsNotReady', ({ status }) =>
      equal(
        status?.environments?.map(({ expires }) => expires !== undefined),
        [true, false],
      ),
    )
    await stage.restart(hours(3))
    await there('shop-login')
    await said('EnvironmentsNotReady', ({ status }) => equal(status?.expired, [{ branch: 'cart', commit: 'c1' }]))
    await kube.patch(Environments, ref('shop-login'), { metadata: { annotations: { [annotations.previewExpire]: 'b1' } } })
    await there()
    await eventOf('EnvironmentRemoved', 'that of branch login goes: it has expired, or was ended; the next push brings it back')
    await tell(['refs/heads/cart c2', LOGIN])
    await there('shop-cart')
    await said('EnvironmentsNotReady', ({ status }) => equal(status?.expired, [{ branch: 'login', commit: 'b1' }]))
  })

  it('takes nothing from others, and makes the rest', async () => {
    const foreign = { apiVersion: 'appstudio.redhat.com/v1alpha1', kind: 'DeploymentTargetClaim', metadata: ref('shop-login') }
    await kube.create(DeploymentTargetClaims, { ...foreign, spec: { deploymentTargetClassName: 'mine' } })
    await create()
    await said('WaitingForRepository')
    await tell([CART, LOGIN])
    await said('EnvironmentsNotReady', ({ status }) => {
      const found = status?.environments?.find(({ branch }) => branch === 'login')
      is(found?.reason, 'NameOccupied')
      match(found?.message ?? '', `DeploymentTargetClaim ${stage.namespace}/shop-login is there, but not this Preview's`)
    })
    await expectObject(kube, Environments, ref('shop-cart'), () => true)
    await tell([CART])
    await said('EnvironmentsNotReady', branches('cart'))
    const claim = await expectObject(kube, DeploymentTargetClaims, ref('shop-login'), () => true)
    equal([claim.metadata.labels, claim.metadata.ownerReferences], [undefined, undefined])
  })

  it('puts back what somebody changes or deletes, and says what is wrong with its template', async () => {
    await create()
    await said('WaitingForRepository')
    await tell([LOGIN])
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
    await change({ template: { spec: { source: { path: '${nothing}' } } } })
    await said('TemplateInvalid', (_, message) => is(message, WITHOUT_VALUE))
    await change({ template: { spec: { source: { path: 'deploy' } } } })
    await kube.create(Environments, environment(stage.namespace, 'mine', {}, { labels: { 'berth.dev/preview': 'shop' } }))
    await said('ElementsInvalid', (_, message) =>
      is(message, 'label berth.dev/preview: Environment mine has no annotation berth.dev/branch. Take the label from it.'),
    )
  })

  it('says of each that is not accepted that it is not, however many they are', async () => {
    await create({ maxEnvironments: 30 })
    const all = Array.from({ length: 22 }, (_, at) => `b${at + 10}`)
    const spec = { source: { repoURL: 'https://example.com/other', path: '.' }, type: 'manual' as const }
    for (const branch of all)
      await kube.create(GitOpsDeployments, { ...typeMetaOf(GitOpsDeployments), metadata: ref(`shop-${branch}`), spec })
    await said('WaitingForRepository')
    await tell(all.map((branch) => `refs/heads/${branch} a1`))
    await there(...all.map((branch) => `shop-${branch}`))
    for (const branch of all) await bind(`shop-${branch}`)
    await said('EnvironmentsNotReady', ({ status }) => {
      const reasons = status?.environments?.map(({ reason }) => reason)
      equal([...new Set(reasons)].sort(), ['DeploymentRefused', 'NameOccupied'])
      match(status?.environments?.at(-1)?.message ?? '', 'It is not accepted, like others. GitOpsDeployment shop-b10: ')
    })
  })

  it('takes out of effect what its template has no more', async () => {
    await create()
    await said('WaitingForRepository')
    await tell([LOGIN])
    await there('shop-login')
    const template = { spec: { source: { path: 'other' }, variables: null } }
    await change({ template })
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
    await tell([first, `refs/heads/${'x'.repeat(300)} d1`])
    const [entry] = (await said('EnvironmentsNotReady', branches(one))).status?.environments ?? []
    const claimOfIt = ref(entry?.name ?? '')
    const claim = await expectObject(kube, DeploymentTargetClaims, claimOfIt, () => true)
    await tell([first, second])
    await said('EnvironmentsNotReady', ({ status }) => is(status?.counts?.waiting, 1))
    await kube.patch(Environments, claimOfIt, { metadata: { annotations: { [annotations.previewExpire]: 'a1' } } })
    await said('EnvironmentsNotReady', (now) => {
      branches(other)(now)
      equal(now.status?.expired, [{ branch: one, commit: 'a1' }])
    })
    await expectObject(kube, DeploymentTargetClaims, claimOfIt, ({ metadata }) => ok(metadata.uid !== claim.metadata.uid))
    const taken = await expectObject(kube, Environments, claimOfIt, () => true)
    is(taken.metadata.annotations?.[annotations.branch], other)
  })

  it('makes no claim of a class that nobody may use any more', async () => {
    await create({ deploymentTargetClassName: 'for-others' })
    await said('WaitingForRepository')
    await tell([LOGIN])
    await said('EnvironmentsNotReady', ({ status }, message) => {
      is(status?.environments?.[0]?.reason, 'Forbidden')
      match(message, 'ada may not use DeploymentTargetClass "for-others"')
    })
    equal(await kube.list(DeploymentTargetClaims, { namespace: stage.namespace }), [])
  })

  it('takes nothing more while it is suspended, and all with it when it is deleted', async () => {
    await create()
    await said('WaitingForRepository')
    await tell([LOGIN])
    await there('shop-login')
    await change({ suspend: true })
    await said('Suspended')
    await tell([CART])
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
