import { equal, is, match } from 'uvu/assert'
import { parse } from 'yaml'
import {
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  Environments,
  GitOpsDeployments,
  GitProjects,
  Secrets,
  Workspaces,
} from '../../src/api/index.ts'
import { targetLifecycle } from '../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../src/operator/deployment-target-claim/binding/index.ts'
import { environments } from '../../src/operator/environment/index.ts'
import { managedEnvironments } from '../../src/operator/managed-environment/index.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { testCluster } from '../support/control-plane.ts'
import { openStage } from '../support/deployments.ts'
import { type RunningOperator, startOperator } from '../support/operator.ts'
import { describe } from '../support/suite.ts'
import { credentialsSecret, target, targetClass } from '../support/targets.ts'
import { berth } from './berth.ts'

describe('berth create', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let namespace = ''
  let operator: RunningOperator
  it.before(async () => {
    namespace = await cluster.namespace('cli-create')
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [
        claimBinding(context),
        targetLifecycle(context),
        environments(context),
        managedEnvironments(context),
      ],
    })
    await kube.create(Secrets, credentialsSecret(namespace))
    await kube.create(DeploymentTargets, target(namespace, 'south'))
    await kube.create(DeploymentTargetClasses, targetClass(namespace, { bindingMode: 'WaitForFirstConsumer' }))
  })
  it.after(async () => {
    await operator.stop()
    await kube.delete(DeploymentTargetClasses, { name: namespace })
    await cluster.close()
  })

  const run = (...words: string[]) => berth(['create', ...words, '-n', namespace, '--kubeconfig', cluster.kubeconfig])
  const at = (name: string) => ({ name, namespace })

  it('claims the target that is named, of its class, and waits until it is bound', async () => {
    const { code, stdout, stderr } = await run('claim', 'south', '--target', 'south', '--wait', '--timeout', '60')
    is(code, 0, stderr)
    match(
      stdout,
      `DeploymentTargetClaim ${namespace}/south is made. See how it does with \`berth get claim south -n ${namespace}\`.`,
    )
    match(
      stdout,
      `DeploymentTargetClaim ${namespace}/south is Ready: has DeploymentTarget south, which leads to namespace team-a.`,
    )
    const made = await kube.get(DeploymentTargetClaims, at('south'))
    equal([made?.spec.deploymentTargetClassName, made?.status?.phase], ['by-hand', 'Bound'])
  })

  it('does not wait for what will not come by itself', async () => {
    const { code, stderr } = await run('claim', 'later', '--class', namespace, '--wait', '--timeout', '60')
    is(code, 1)
    match(
      stderr.replaceAll(/\s+/g, ' '),
      `berth: DeploymentTargetClaim ${namespace}/later is not Ready. WaitingForFirstConsumer: waiting for an Environment`,
    )
  })

  it('makes an environment of a claim, and a project', async () => {
    const made = await run('environment', 'south', '--claim', 'south', '--display-name', 'The south', '--strategy', 'Manual')
    is(made.code, 0, made.stderr)
    const { displayName, deploymentStrategy, configuration } = (await kube.get(Environments, at('south')))?.spec ?? {}
    equal(
      [displayName, deploymentStrategy, configuration?.target?.deploymentTargetClaim.claimName],
      ['The south', 'Manual', 'south'],
    )
    const waits = await run('environment', 'north', '--claim', 'north')
    match(waits.stderr, `There is no DeploymentTargetClaim ${namespace}/north, and the environment waits until there is.`)
    const url = 'https://git.example.com/web.git'
    match((await run('project', 'web', '--url', url, '--branch', 'main')).stdout, `GitProject ${namespace}/web is made.`)
    equal((await kube.get(GitProjects, at('web')))?.spec, {
      ...{ url, path: `${namespace}/web`, defaultBranch: 'main', visibility: 'private', pollInterval: '20s' },
    })
  })

  it('says first that there is no such project where the devfile is wrong as well', async () => {
    const { code, stderr } = await run('wrong', '--project', 'no/such', '--devfile', 'package.json')
    is(code, 3, stderr)
    match(stderr, `there is no GitProject with the path no/such in namespace ${namespace}.`)
  })

  it('makes a deployment of a project, by its name or its path, or of a URL', async () => {
    await run('project', 'shop', '--url', 'https://git.example.com/shop.git')
    const more = [
      '--revision',
      'v1',
      '--path',
      'deploy',
      '--environment',
      'south',
      '--target-namespace',
      'x',
      '--manual',
      '--no-prune',
    ]
    is((await run('deployment', 'shop', '--project', 'shop', ...more)).code, 0)
    const { source, destination, type, prune } = (await kube.get(GitOpsDeployments, at('shop')))?.spec ?? {}
    equal(
      { source, destination, type, prune },
      {
        source: {
          ...{ repoURL: 'https://git.example.com/shop.git', project: `${namespace}/shop`, path: 'deploy', targetRevision: 'v1' },
        },
        destination: { environment: 'south', namespace: 'x' },
        ...{ type: 'manual', prune: false },
      },
    )
    is((await run('deployment', 'second', '--project', `${namespace}/shop`)).code, 0)
    is((await run('deployment', 'third', '--url', 'https://git.example.com/shop.git')).code, 0)
    match(
      (await run('deployment', 'none')).stderr,
      'a deployment follows one repository. Name it with either --project or --url.',
    )
    match((await run('deployment', 'none', '--project', 'shp')).stderr, `there is no GitProject shp in namespace ${namespace}.`)
    match((await run('deployment', 'none', '--project', 'shop', '--manual', '--wait')).stderr, 'would wait in vain')
  })

  it('makes a deployment of a published chart, from a web server or a registry', async () => {
    const [web, registry] = ['https://charts.example.com', 'oci://example.com/charts']
    is((await run('project', 'charts', '--url', web, '--type', 'helm')).code, 0)
    is((await kube.get(GitProjects, at('charts')))?.spec.type, 'helm')
    is((await run('deployment', 'redis', '--project', 'charts', '--chart', 'redis', '--revision', '^18')).code, 0)
    is((await run('deployment', 'valkey', '--url', registry, '--chart', 'valkey')).code, 0)
    const sourceOf = async (name: string) => (await kube.get(GitOpsDeployments, at(name)))?.spec.source
    equal(await sourceOf('redis'), {
      project: `${namespace}/charts`,
      chart: { repository: web, name: 'redis', version: '^18' },
    })
    equal(await sourceOf('valkey'), { chart: { oci: registry, name: 'valkey' } })
    const mixed = await run('deployment', 'none', '--url', web, '--chart', 'redis', '--path', 'deploy')
    match(mixed.stderr, 'a published chart has no path.')
  })

  it('only shows with --dry-run what it would make, once the API server has looked it over', async () => {
    const requests = ['--requests', 'cpu=2,memory=4Gi']
    const { stdout, code } = await run('claim', 'dry', '--class', namespace, ...requests, '--dry-run', '--wait')
    is(code, 0)
    equal(parse(stdout), {
      apiVersion: 'appstudio.redhat.com/v1alpha1',
      kind: 'DeploymentTargetClaim',
      metadata: at('dry'),
      spec: { deploymentTargetClassName: namespace, resources: { requests: { cpu: '2', memory: '4Gi' } } },
    })
    is(await kube.get(DeploymentTargetClaims, at('dry')), undefined)
    const refused = await run('project', 'dry', '--url', 'https://ada:secret@git.example.com/x', '--dry-run')
    equal([refused.code, refused.stdout], [7, ''])
    match(refused.stderr, 'url must not contain credentials')
    is(JSON.parse((await run('web', '--stopped', '--dry-run', '-o', 'json')).stdout).spec.desiredState, 'Stopped')
    is(await kube.get(Workspaces, at('web')), undefined)
  })

  it('says what is there already, and which class may be meant', async () => {
    const again = await run('claim', 'south', '--target', 'south')
    equal([again.code, again.stdout], [1, ''])
    match(
      again.stderr,
      `there is a DeploymentTargetClaim ${namespace}/south already. Choose another name, or look at it with \`berth get claim south -n ${namespace}\`.`,
    )
    await kube.create(DeploymentTargetClasses, targetClass(`${namespace}-2`))
    const unsure = await run('claim', 'unsure')
    await kube.delete(DeploymentTargetClasses, { name: `${namespace}-2` })
    is(unsure.code, 7)
    match(unsure.stderr, 'no class is named, and Berth cannot tell which one is meant. Name it with --class: there is ')
    match((await run('claim', 'bad', '--requests', 'cpu')).stderr, 'Write it like cpu=2,memory=4Gi.')
  })

  it('still makes workspaces, whatever they are called', async () => {
    is((await run('web', '--stopped')).code, 0)
    is((await run('workspace/help', '--stopped')).code, 0)
    is((await run('help', '--stopped')).stderr.includes('there is a Workspace'), true)
    is((await run('workspace', 'claim', '--stopped')).code, 0)
    is((await run('workspace/project', '--stopped')).code, 0)
    for (const name of ['web', 'help', 'claim', 'project'])
      is((await kube.get(Workspaces, at(name)))?.spec.desiredState, 'Stopped')
  })

  it('takes options before the kind, too', async () => {
    const words = ['create', '-n', namespace, '--kubeconfig', cluster.kubeconfig, 'claim', 'early', '--class', namespace]
    is((await berth(words)).code, 0)
    match(
      (await berth([...words.slice(0, -3), 'late', '-o', 'yaml', '--class', namespace])).stdout,
      /^kind: DeploymentTargetClaim$/m,
    )
    const wrong = await berth(['create', '--stopped', 'claim', 'wrong', '--kubeconfig', cluster.kubeconfig])
    is(wrong.code, 2)
    match(wrong.stderr, "error: unknown option '--stopped'")
  })
})

describe('berth create deployment', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  it('waits until what it deploys is Ready', async () => {
    const stage = await openStage(cluster)
    await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    const words = ['--project', 'shop', '--path', 'deploy', '--wait', '--timeout', '60']
    const { code, stdout, stderr } = await berth([
      'create',
      'deployment',
      'web',
      ...words,
      '-n',
      stage.namespace,
      '--kubeconfig',
      cluster.kubeconfig,
    ])
    await stage.stop()
    is(code, 0, stderr)
    match(stdout, `GitOpsDeployment ${stage.namespace}/web is Ready.`)
  })
})
