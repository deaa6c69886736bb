import { equal, is, match, not, ok } from 'uvu/assert'
import { parse } from 'yaml'
import { DeploymentTargetClaims, DeploymentTargets, GitOpsDeployments, SpaceTiers, Workspaces } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { apply } from '../support/verbs.ts'
import { berth, tooWide } from './berth.ts'

describe('berth get', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let namespace = ''
  let empty = ''
  const claim = (name: string, team: string, className = 'standard') => ({
    apiVersion: 'appstudio.redhat.com/v1alpha1',
    kind: DeploymentTargetClaims.kind,
    metadata: { name, namespace, labels: { team } },
    spec: { deploymentTargetClassName: className },
  })
  it.before(async () => {
    namespace = await cluster.namespace('cli-get')
    empty = await cluster.namespace('cli-get-empty')
    const source = { repoURL: 'https://git.example.com/shop.git', path: '.' }
    await apply(kube, [
      claim('shared', 'web'),
      claim('other', 'data'),
      {
        apiVersion: 'managed-gitops.redhat.com/v1alpha1',
        kind: GitOpsDeployments.kind,
        metadata: { name: 'shop', namespace },
        ...{ spec: { source, type: 'manual' } },
      },
      { apiVersion: 'berth.dev/v1alpha1', kind: Workspaces.kind, metadata: { name: 'web', namespace }, ...{ spec: {} } },
    ])
    await kube.patch(
      DeploymentTargetClaims,
      { name: 'shared', namespace },
      { status: { phase: 'Bound' } },
      { subresource: 'status' },
    )
  })
  it.after(() => cluster.close())

  const run = (...words: string[]) => berth([...words, '-n', namespace, '--kubeconfig', cluster.kubeconfig])

  it('lists a kind with the columns of its definition, by any of its names', async () => {
    const { stdout, code } = await run('get', 'claims')
    is(code, 0)
    match(stdout, /^NAME +PHASE +TARGET +CLASS +REASON +AGE$/m)
    match(stdout, /^shared +Bound +standard +\d+s$/m)
    match(stdout, /^other /m)
    for (const word of ['claim', 'dtc', 'DeploymentTargetClaim', 'deploymenttargetclaims.appstudio.redhat.com'])
      match((await run('get', word)).stdout, /^shared +Bound/m, word)
    match((await run('get', 'deployments')).stdout, /^shop /m)
    match((await run('get', 'workspaces')).stdout, /^NAME +STATE +AGE +OWNER +NOTE\nweb /m)
  })

  it('shows the ones that are named, by KIND NAME and KIND/NAME', async () => {
    const { stdout } = await run('get', 'claim', 'shared')
    match(stdout, /^shared /m)
    not.match(stdout, 'other')
    equal((await run('get', 'claim', 'other', 'shared')).stdout.match(/^(other|shared) /gm), ['other ', 'shared '])
    match((await run('get', 'gitopsdeployment/shop')).stdout, /^shop /m)
    match((await run('get', 'workspace', 'web')).stdout, /^web /m)
    const absent = await run('get', 'claim', 'shard')
    is(absent.code, 3)
    match(
      absent.stderr,
      `there is no DeploymentTargetClaim shard in namespace ${namespace}. In that namespace there is shared, other.`,
    )
  })

  it('prints names that every verb understands', async () => {
    const { stdout } = await run('get', 'deployments', '-o', 'name')
    is(stdout, 'gitopsdeployment.managed-gitops.redhat.com/shop\n')
    match((await run('suspend', stdout.trim())).stdout, `GitOpsDeployment ${namespace}/shop is suspended.`)
    match((await run('history', 'deployment/shop')).stderr, `GitOpsDeployment ${namespace}/shop has not been in effect`)
    is((await run('get', 'web', '-o', 'name')).stdout, 'workspace.berth.dev/web\n')
    match((await run('describe', 'ws/web')).stdout, `Workspace ${namespace}/web`)
  })

  it('prints objects as they are for programs, and workspaces as rows', async () => {
    const one = JSON.parse((await run('get', 'claim', 'shared', '-o', 'json')).stdout)
    equal([one.kind, one.metadata.name, one.status.phase], ['DeploymentTargetClaim', 'shared', 'Bound'])
    not('managedFields' in one.metadata)
    const all = parse((await run('get', 'claims', '-o', 'yaml')).stdout)
    equal([all.kind, all.items.length, all.items[0].kind], ['List', 2, 'DeploymentTargetClaim'])
    const [row] = JSON.parse((await run('get', '-o', 'json')).stdout)
    is(row.name, 'web')
  })

  it('takes labels, and all namespaces', async () => {
    equal((await run('get', 'claims', '-l', 'team=web', '-o', 'name')).stdout.match(/\/\w+/g), ['/shared'])
    equal(JSON.parse((await run('get', '-l', 'team=web', '-o', 'json')).stdout), [])
    match(
      (await run('get', 'claims', '-l', 'team=none')).stderr,
      `There is no claim with the labels team=none in namespace ${namespace}.`,
    )
    match((await run('get', 'claims', '-A')).stdout, new RegExp(`^${namespace} +shared`, 'm'))
  })

  it('lists what belongs to no namespace', async () => {
    await apply(kube, { apiVersion: 'berth.dev/v1alpha1', kind: SpaceTiers.kind, metadata: { name: namespace }, ...{ spec: {} } })
    match((await run('get', 'tiers')).stdout, new RegExp(`^${namespace} `, 'm'))
    match((await run('get', 'tier', 'no-such-tier')).stderr, 'there is no SpaceTier no-such-tier. There is ')
    await kube.delete(SpaceTiers, { name: namespace })
  })

  it('keeps to 80 columns, says what has no room, and has it all with -o wide', async () => {
    const spec = {
      deploymentTargetClassName: 'a-class-with-a-long-name-for-the-teams-of-the-south',
      kubernetesCredentials: {
        apiURL: 'https://api.example.com:6443',
        clusterCredentialsSecret: 'credentials',
        defaultNamespace: 'a-namespace-with-a-long-name',
      },
    }
    const apiVersion = 'appstudio.redhat.com/v1alpha1'
    await apply(kube, { apiVersion, kind: DeploymentTargets.kind, metadata: { name: 'south', namespace }, ...{ spec } })
    const { stdout, stderr } = await run('get', 'targets')
    equal(tooWide(stdout), [])
    match(stdout, /^NAME +PHASE +CLAIM +DEFAULT-NAMESPACE +REASON +AGE\nsouth /)
    is(stderr, 'Without CLASS, for which there is no room: -o wide shows all.\n')
    const wide = await run('get', 'targets', '-o', 'wide')
    match(wide.stdout, /a-class-with-a-long-name.* https:\/\/api.example.com:6443/)
    is(wide.stderr, '')
    match((await run('get', '-o', 'wide')).stdout, /^NAME +STATE +AGE +OWNER +CLASS +URL +NOTE\nweb /)
  })

  it('says where there is nothing', async () => {
    const { stdout, stderr, code } = await berth(['get', 'spaces', '-n', empty, '--kubeconfig', cluster.kubeconfig])
    equal([code, stdout, stderr], [0, '', `There is no space in namespace ${empty}.\n`])
    const none = await berth(['get', 'agents', '-n', empty, '-o', 'json', '--kubeconfig', cluster.kubeconfig])
    equal(JSON.parse(none.stdout).items, [])
  })

  it('names the kinds that there are where it knows none of that name', async () => {
    const kinds = 'Kinds are workspaces, claims, targets, environments, deployments, projects, agents, spaces'
    for (const words of [['pods', 'web'], ['pods/web'], ['web', 'api']]) {
      const { code, stderr } = await run('get', ...words)
      is(code, 2)
      match(stderr, kinds)
    }
    const { code, stderr } = await run('get', 'clams')
    is(code, 3)
    match(stderr, `there is no Workspace clams in namespace ${namespace}. In that namespace there is web. ${kinds}`)
  })

  it('refuses what cannot be meant', async () => {
    match((await run('get', 'claims', '--owner', 'ada')).stderr, '--owner is for workspaces')
    match((await run('get', 'claim', 'shared', '-A')).stderr, 'name that with -n instead of -A')
    match((await run('get', 'web', '-l', 'team=web')).stderr, 'exclude each other')
    match((await run('get', 'claim/shared', 'target/south')).stderr, 'That is of kind DeploymentTarget ')
  })

  it('reads long lists page by page', async () => {
    const many = await cluster.namespace('cli-get-many')
    const names = Array.from({ length: 501 }, (_, at) => `claim-${String(at).padStart(3, '0')}`)
    const spec = { deploymentTargetClassName: 'standard' }
    const apiVersion = 'appstudio.redhat.com/v1alpha1'
    const kind = DeploymentTargetClaims.kind
    while (names.length > 0)
      await Promise.all(
        names
          .splice(0, 50)
          .map((name) => kube.create(DeploymentTargetClaims, { apiVersion, kind, metadata: { name, namespace: many }, spec })),
      )
    const { stdout } = await berth(['get', 'claims', '-n', many, '--kubeconfig', cluster.kubeconfig])
    is(stdout.match(/^claim-/gm)?.length, 501)
    ok(stdout.includes('claim-500'))
  })
})
