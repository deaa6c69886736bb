import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { equal, is, match, ok } from 'uvu/assert'
import { conditionOf, Environments, GitOpsDeploymentSets, GitOpsDeployments, GitProjects } from '../../../src/api/index.ts'
import { deploymentSets } from '../../../src/operator/gitops-deployment-set/index.ts'
import { Failure } from '../../../src/std/index.ts'
import { environment } from '../../support/builders/environments.ts'
import { testCluster } from '../../support/control-plane.ts'
import { at, openStage, type Stage } from '../../support/deployments.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { refusalOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { apply, eventually, expectObject } from '../../support/verbs.ts'

import { envs, setStage, source } from './stage.ts'

describe('a GitOpsDeploymentSet', (it) => {
  const stage = setStage(it)
  const { kube, names, ref, create, change, namesNow, there, deployment, said, report, pathOf } = stage

  it('makes one for each element, counts those that are healthy, and writes nothing when all is well', async () => {
    await create({})
    await there('shop-dev', 'shop-prod')
    const { spec, metadata } = await deployment('shop-prod')
    equal([spec.source.path, spec.type, metadata.labels?.env], ['prod', 'automated', 'prod'])
    const [owner] = metadata.ownerReferences ?? []
    equal([owner?.kind, owner?.name, owner?.controller], ['GitOpsDeploymentSet', 'shop', true])
    await said('DeploymentsNotReady', ({ status }, message) => {
      equal(status?.deployments, { total: 2, updated: 2, ready: 0 })
      match(message, 'GitOpsDeployment shop-dev is not in effect and healthy (Pending), and so are 1 more')
    })
    await report('shop-dev', 'True')
    await report('shop-prod', 'False')
    await said('DeploymentsNotReady', ({ status }) => {
      equal(status?.unready, [{ name: 'shop-prod', reason: 'Tested', message: 'as the test has it' }])
    })
    await report('shop-prod', 'True')
    const before = await said('Ready', ({ status }) => equal(status?.deployments, { total: 2, updated: 2, ready: 2 }))
    // Whoever begins anew finds all as it should be.
    await stage.restart()
    await createAnother()
    await stage.operator.quiet()
    equal((await kube.get(GitOpsDeploymentSets, ref('shop')))?.metadata.resourceVersion, before.metadata.resourceVersion)
  })

  /** Another set, to know that the first one was looked at. */
  const createAnother = async () => {
    await kube.create(GitOpsDeploymentSets, {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'GitOpsDeploymentSet',
      metadata: ref('zebra'),
      spec: { generators: envs('a'), template: { metadata: { name: 'zebra-${env}' }, spec: { source, type: 'manual' } } },
    })
    await deployment('zebra-a')
  }

  it('waits for nobody who rests as the template says: all steps are made', async () => {
    const rollout = { steps: [{ labelSelector: 'env=a' }, { labelSelector: 'env=b' }] }
    const template = {
      metadata: { name: 'shop-${env}', labels: { env: '${env}' } },
      spec: { source, type: 'automated', suspend: true },
    }
    await create({ generators: envs('a', 'b'), template, rollout })
    await there('shop-a', 'shop-b')
  })

  it('follows the Environments of the namespace', async () => {
    await kube.create(Environments, environment(stage.namespace, 'eu', {}, { labels: { tier: 'prod' } }))
    await kube.create(Environments, environment(stage.namespace, 'test', {}, { labels: { tier: 'test' } }))
    const template = {
      metadata: { name: 'shop-${environment}' },
      spec: { source: { ...source, path: 'deploy' }, type: 'manual', destination: { environment: '${environment}' } },
    }
    await create({ generators: [{ environments: { labelSelector: 'tier=prod' } }], template })
    await there('shop-eu')
    await kube.create(Environments, environment(stage.namespace, 'us', {}, { labels: { tier: 'prod' } }))
    await there('shop-eu', 'shop-us')
    is((await deployment('shop-us')).spec.destination?.environment, 'us')
    await kube.patch(Environments, ref('eu'), { metadata: { labels: { tier: 'old' } } })
    await there('shop-us')
  })

  it('follows the branches and directories of a repository, and waits until they are known', async () => {
    const template = {
      metadata: { name: 'shop-${slug}' },
      spec: { source: { ...source, path: '${path:=deploy}', targetRevision: '${branch:=main}' }, type: 'manual' },
    }
    await create({ generators: [{ branches: { project: 'shop', pattern: 'feature/*', except: ['*/draft-*'] } }], template })
    await said('GitProjectNotFound', (_, message) =>
      match(message, 'spec.generators[0].branches.project: there is no GitProject shop that service account'),
    )
    const project = {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'GitProject',
      metadata: ref('shop'),
      spec: { url: source.repoURL, path: `${stage.namespace}/shop` },
    }
    await kube.create(GitProjects, project)
    await said('WaitingForRepository')
    const branches = 'shop refs/heads/feature/* ** true'
    equal(names.asked(), [branches])
    await names.tell(branches, ['refs/heads/feature/login', 'refs/heads/feature/draft-1', 'refs/heads/feature/Ä'])
    await said('DeploymentsNotReady', ({ status }) => is(status?.deployments?.total, 2))
    const made = await kube.list(GitOpsDeployments, { namespace: stage.namespace })
    equal(made.map(({ spec }) => spec.source.targetRevision).sort(), ['feature/login', 'feature/Ä'])
    for (const { metadata } of made) match(metadata.name, /^shop-feature(?:-login)?-[0-9a-f]{20}$/)
    // A kas that does not answer takes nothing away, also after a restart.
    await names.tell(branches, new Failure('unavailable', 'kas is away'))
    const inView = (status: string) =>
      expectObject(kube, GitOpsDeploymentSets, ref('shop'), (one) => {
        const condition = conditionOf(one.status?.conditions, 'RepositoryInView')
        equal([condition?.status, one.status?.deployments?.total], [status, 2], condition?.message)
      })
    await inView('False')
    is((await namesNow()).length, 2)
    names.inView()
    await inView('True')
    await stage.restart()
    await said('ReconcileFailed', (_, message) => match(message, 'kas is away'))
    is((await namesNow()).length, 2)
    await names.tell(branches, ['refs/heads/feature/login'])
    await said('DeploymentsNotReady', ({ status }) => is(status?.deployments?.total, 1))
    await eventually(async () => (await namesNow()).length === 1)
    await change({
      generators: [
        { directories: { project: `${stage.namespace}/shop`, revision: 'v1', pattern: 'apps/*', except: ['apps/old'] } },
      ],
      removal: { allowEmpty: true },
    })
    const directories = 'shop v1 apps/** true'
    await eventually(() => String(names.asked()) === directories)
    await names.tell(directories, [
      'apps/readme.md',
      'apps/old/x.yaml',
      'apps/web/a/b.yaml',
      'apps/web/c.yaml',
      'apps/api/x.yaml',
    ])
    await eventually(async () => /^shop-apps-api-[0-9a-f]{20},shop-apps-web-[0-9a-f]{20}$/.test(String(await namesNow())))
    await kube.delete(GitOpsDeploymentSets, ref('shop'))
    await eventually(() => names.asked().length === 0)
  })

  it('brings a change into effect step by step, and stops where one is not healthy', async () => {
    const steps = [{ labelSelector: 'env=dev' }, { labelSelector: 'env in (eu,us)', maxAtOnce: 1 }]
    await create({ generators: envs('dev', 'eu', 'us', 'x'), rollout: { steps } })
    await there('shop-dev')
    await report('shop-dev', 'True')
    await there('shop-dev', 'shop-eu')
    await report('shop-eu', 'False')
    await said('RollingOut', ({ status }, message) => {
      equal([status?.step, status?.deployments], [2, { total: 4, updated: 2, ready: 1 }])
      match(message, '2 of 4 are to be made or changed in step 2 of the rollout; shop-eu is not in effect and healthy (Tested).')
    })
    equal(await namesNow(), ['shop-dev', 'shop-eu'])
    await report('shop-eu', 'True')
    await there('shop-dev', 'shop-eu', 'shop-us')
    await report('shop-us', 'True')
    await there('shop-dev', 'shop-eu', 'shop-us', 'shop-x')
    await report('shop-x', 'True')
    await said('Ready', ({ status }) => is(status?.step, undefined))
    // A change goes the same way.
    await change({ template: { spec: { source: { path: 'v2/${env}' } } } })
    await deployment('shop-dev', (one) => pathOf(one) === 'v2/dev')
    await said('RollingOut', ({ status }) => equal([status?.step, status?.deployments?.updated], [1, 1]))
    equal(await Promise.all(['shop-eu', 'shop-x'].map(async (name) => pathOf(await deployment(name)))), ['eu', 'x'])
    await report('shop-dev', 'True')
    await deployment('shop-eu', (one) => pathOf(one) === 'v2/eu')
  })

  it('puts back what was changed by hand, takes away what left the template, and leaves alone what it never named', async () => {
    const spec = { source, type: 'automated', interval: '5m', prune: false }
    await create({ template: { metadata: { name: 'shop-${env}', labels: { team: 'a' } }, spec } })
    await there('shop-dev', 'shop-prod')
    await kube.patch(GitOpsDeployments, ref('shop-dev'), { spec: { source: { path: 'mine' }, suspend: true } })
    await kube.patch(GitOpsDeployments, ref('shop-prod'), { metadata: { labels: { team: null, mine: 'yes' } } })
    await deployment('shop-dev', (one) => pathOf(one) === 'dev')
    await deployment('shop-prod', ({ metadata }) => metadata.labels?.team === 'a')
    equal([(await deployment('shop-dev')).spec.suspend, (await deployment('shop-prod')).metadata.labels?.mine], [true, 'yes'])
    await change({ template: { spec: { interval: null } } })
    await deployment('shop-dev', (one) => one.spec.interval === '10m')
    is((await deployment('shop-dev')).spec.prune, false)
  })

  it('tells what is long in as much as there is room for, and makes what the example has', async () => {
    const example = await readFile(join(import.meta.dirname, '../../../examples/deployment-set.yaml'), 'utf8')
    await kube.create(Environments, environment(stage.namespace, 'one', {}, { labels: { tier: 'dev' } }))
    await kube.create(Environments, environment(stage.namespace, '2024', {}, { labels: { tier: 'dev' } }))
    await apply(kube, example, { namespace: stage.namespace })
    await there('api-2024', 'api-one', 'web-2024', 'web-one')
    const { spec } = await deployment('web-2024')
    equal([spec.destination?.environment, spec.variables?.values], ['2024', { replicas: '3' }])
    await report('web-one', 'False', 'x'.repeat(2000))
    await expectObject(kube, GitOpsDeploymentSets, ref('shop'), ({ status }) => {
      is(status?.unready?.find(({ name }) => name === 'web-one')?.message?.length, 1024)
    })
  })

  it('takes nobody’s GitOpsDeployment, goes on with the others, and says which', async () => {
    const theirs = {
      apiVersion: 'managed-gitops.redhat.com/v1alpha1',
      kind: 'GitOpsDeployment',
      metadata: ref('shop-dev'),
      spec: { source: { ...source, path: 'theirs' }, type: 'manual' as const },
    }
    await kube.create(GitOpsDeployments, theirs)
    await create({})
    await there('shop-dev', 'shop-prod')
    await said('DeploymentRefused', ({ status }, message) => {
      match(message, 'GitOpsDeployment shop-dev: GitOpsDeployment shop-dev is there, but not this set')
      equal(status?.unready?.[0]?.reason, 'NameOccupied')
    })
    is(pathOf(await deployment('shop-dev')), 'theirs')
    await kube.patch(GitOpsDeployments, ref('shop-dev'), { metadata: { labels: { 'gitops.berth.dev/set': 'shop' } } })
    await deployment('shop-dev', (one) => pathOf(one) === 'dev')
  })

  it('says what the API server says of a template that it does not accept, and what no template may be', async () => {
    await create({ template: { metadata: { name: 'shop-${env}' }, spec: { source, type: 'sometimes' } } })
    await said('DeploymentRefused', (_, message) => match(message, 'spec type must be manual or automated'))
    equal(await namesNow(), [])
    await change({ template: { metadata: { name: 'shop' } } })
    await said('NameNotUnique')
    await change({ template: { metadata: { name: 'Shop ${env}!' }, spec: { type: 'manual' } } })
    await said('TemplateInvalid', (_, message) => match(message, 'makes "Shop dev!" of it, which is no name'))
    const refused = (generators: unknown) => refusalOf(change({ generators }))
    match(await refused([{}]), 'exactly one of list, environments, branches, directories and product')
    match(await refused([]), 'spec.generators')
    match(await refusalOf(change({ rollout: { steps: [{ maxAtOnce: '0%' }] } })), 'maxAtOnce')
    match(await refusalOf(change({ rollout: { steps: [{ maxAtOnce: 0 }] } })), 'maxAtOnce')
  })

  it('counts nothing as gone while it is suspended', async () => {
    await create({ generators: envs('a', 'b', 'c') })
    await there('shop-a', 'shop-b', 'shop-c')
    await change({ suspend: true, generators: envs('a', 'b') })
    await said('Suspended', ({ status }) => is(status?.deployments?.leaving, 1))
    for (const name of ['shop-a', 'shop-b', 'shop-a']) {
      await report(name, 'True')
      await report(name, 'False')
    }
    await said('Suspended', ({ status }) => is(status?.removals, undefined))
    await change({ suspend: false })
    await there('shop-a', 'shop-b')
    await said('DeploymentsNotReady', ({ status }) => equal([status?.removals?.total, status?.removals?.gone], [3, 1]))
  })

  it('does nothing while it is suspended', async () => {
    await create({ suspend: true })
    await said('Suspended', (_, message) => match(message, '2 are to be made or changed'))
    equal(await namesNow(), [])
    await change({ suspend: false })
    await there('shop-dev', 'shop-prod')
  })

  it('has a thousand, and an unchanged one costs no request', async () => {
    const many = Array.from({ length: 1000 }, (_, index) => `n${String(index).padStart(3, '0')}`)
    await create({ generators: envs(...many) })
    await said('DeploymentsNotReady', ({ status }) => equal(status?.deployments, { total: 1000, updated: 1000, ready: 0 }))
    is((await namesNow()).length, 1000)
    await stage.operator.quiet()
    const before = { ...stage.operator.requests }
    await report('shop-n007', 'True')
    await said('DeploymentsNotReady', ({ status }) => is(status?.deployments?.ready, 1))
    await stage.operator.quiet()
    const now = { ...stage.operator.requests }
    // Its status, and nothing of the others.
    ok(
      Object.keys(now).every((verb) => verb === 'watch' || (now[verb] ?? 0) - (before[verb] ?? 0) <= (verb === 'patch' ? 1 : 0)),
      JSON.stringify([before, now]),
    )
  })
})

describe('a GitOpsDeploymentSet with the controller of GitOpsDeployments', (it) => {
  const cluster = testCluster()
  let stage: Stage
  let operator: RunningOperator
  it.before(async () => {
    stage = await openStage(cluster)
    const { namespace } = stage
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [deploymentSets(context, stage.git.source)],
    })
  })
  it.after(async () => {
    await operator.stop()
    await stage.stop()
    await cluster.close()
  })

  const configMap = (name: string, value: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: { text: value },
  })
  const text = async (name: string) => (await stage.configMap(name))?.data?.text

  it('brings a folder for each into effect, one after the other, and stops at one that cannot be', async () => {
    const { namespace, git } = stage
    const ref = { name: 'folders', namespace }
    await git.push({
      'a/1.yaml': configMap('a', '${word}'),
      'b/1.yaml': { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' }, data: { text: 5 } },
      'c/1.yaml': configMap('c', '${word}'),
    })
    const elements = ['a', 'b', 'c'].map((folder) => ({ folder }))
    await cluster.kube.create(GitOpsDeploymentSets, {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'GitOpsDeploymentSet',
      metadata: ref,
      spec: {
        generators: [{ list: { elements } }],
        template: {
          metadata: { name: 'in-${folder}' },
          spec: { ...at('${folder}'), type: 'automated', variables: { values: { word: 'of ${folder}' } } },
        },
        rollout: { steps: [{ maxAtOnce: 1 }] },
      },
    })
    const ready = (reason: string, check: (message: string) => unknown = () => true) =>
      expectObject(cluster.kube, GitOpsDeploymentSets, ref, ({ status }) => {
        const condition = conditionOf(status?.conditions, 'Ready')
        is(condition?.reason, reason, condition?.message)
        return check(condition?.message ?? '')
      })
    await ready('RollingOut', (message) => message.includes('in-b is not in effect and healthy'))
    equal([await text('a'), await text('c')], ['of a', undefined])
    await git.push({
      'a/1.yaml': configMap('a', '${word}'),
      'b/1.yaml': configMap('b', '${word}'),
      'c/1.yaml': configMap('c', '${word}'),
    })
    await ready('Ready')
    equal([await text('b'), await text('c')], ['of b', 'of c'])
  })
})
