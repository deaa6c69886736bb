import * as assert from 'uvu/assert'
import { type GitOpsDeployment, GitOpsDeploymentSyncRuns, GitOpsDeployments, promotionChainOf } from '../../../src/api/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { at, openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { berth } from '../berth.ts'

const named = (name: string, follows?: string): GitOpsDeployment => ({
  apiVersion: 'managed-gitops.redhat.com/v1alpha1',
  kind: 'GitOpsDeployment',
  metadata: { name, namespace: 'team-a' },
  spec: {
    source: { repoURL: 'https://git.example/shop', path: '.', ...(follows && { follow: { deployment: follows } }) },
    type: 'automated',
  },
})

describe('the chain that commits go through', (it) => {
  const drawn = (name: string, all: GitOpsDeployment[]) =>
    promotionChainOf(all.find(({ metadata }) => metadata.name === name) ?? named(name), all).map(
      ({ deployment, depth }) => `${depth} ${deployment.metadata.name}`,
    )

  it('begins with the one that takes from no other, whoever is asked about', () => {
    const all = [named('prod-us', 'staging'), named('dev'), named('staging', 'dev'), named('prod-eu', 'staging'), named('other')]
    const whole = ['0 dev', '1 staging', '2 prod-eu', '2 prod-us']
    for (const name of ['dev', 'staging', 'prod-eu']) assert.equal(drawn(name, all), whole)
    assert.equal(drawn('other', all), ['0 other'])
    assert.equal(drawn('late', [named('late', 'missing')]), ['0 late'])
  })

  it('goes round no circle', () => {
    const circle = [named('a', 'c'), named('b', 'a'), named('c', 'b')]
    assert.is(drawn('a', circle).length, 3)
  })
})

describe('berth promote', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  let stage: Stage
  it.beforeEach(async () => {
    stage = await openStage(cluster)
    await stage.deploy(at('dev'), 'dev')
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const files = (x: string) => ({ 'dev/a.yaml': configMap('dev', { x }), 'prod/a.yaml': configMap('prod', { x }) })
  const promote = (...words: string[]) => berth(['promote', ...words, '-n', stage.namespace, '--kubeconfig', kubeconfig])
  const follower = (how: { healthyFor?: string; type?: 'manual' | 'automated' } = {}, name = 'prod') => {
    const { type = 'manual', ...others } = how
    const source = { repoURL: at('').source?.repoURL ?? '', path: 'prod', follow: { deployment: 'dev', ...others } }
    return stage.deploy({ source, type }, name)
  }
  const waits = (reason: string) => eventually(async () => (await stage.status('prod')).promotion?.next?.reason === reason)

  it('shows the chain and the change, and asks nobody where there is no terminal', async () => {
    await follower()
    const commit = await stage.git.push(files('1'))
    await waits('WaitingForApproval')
    const { code, stdout, stderr } = await promote('dev', '--to', 'prod')
    assert.is(code, 0, stderr)
    assert.match(stdout, /DEPLOYMENT +COMMIT +STATE +PROMOTED\ndev +\w{12} +Ready\n└─ prod +WaitingForPromotion/)
    assert.match(
      stdout.replace(/\s+/g, ' '),
      `prod: WaitingForApproval: commit ${commit.slice(0, 12)} has been in good health at dev`,
    )
    assert.match(stdout, /\+ ConfigMap gitops-\S+\/prod/)
    assert.match(stderr, `berth promote prod -n ${stage.namespace} --revision ${commit} --approve`)
    assert.is(await stage.configMap('prod'), undefined)
    const data = JSON.parse((await promote('prod', '-o', 'json')).stdout)
    assert.equal(data[1].next.revision, commit)
  })

  it('has the commit taken when it is approved, and keeps what was seen', async () => {
    await follower()
    const commit = await stage.git.push(files('1'))
    await waits('WaitingForApproval')
    const { code, stderr } = await promote('prod', '--approve', '--wait', '--timeout', '60')
    assert.is(code, 0, stderr)
    assert.is((await stage.configMap('prod'))?.data?.x, '1')
    const runs = await kube.list(GitOpsDeploymentSyncRuns, { namespace: stage.namespace })
    const [run] = runs.filter(({ spec }) => !spec.dryRun)
    assert.is(run?.spec.revisionID, commit)
    assert.is(run?.spec.approval?.from, '')
    assert.match(run?.spec.approval?.seen ?? '', /prod with commit \w{12}: 1 to create\.\n\n\+ ConfigMap/)
    const again = await promote('prod', '--approve')
    assert.match(again.stderr, `Nothing waits to be promoted to GitOpsDeployment ${stage.namespace}/prod.`)
    assert.match(again.stdout, /└─ prod +\w{12} +Ready +20\S+/)
  })

  it('takes nothing before its time, unless the commit is named', async () => {
    await follower({ type: 'automated', healthyFor: '5h' })
    const commit = await stage.git.push(files('1'))
    await waits('HealthyTooShort')
    const refused = await promote('prod', '--approve')
    assert.is(refused.code, 1)
    const said = refused.stderr.replace(/\s+/g, ' ')
    assert.match(said, `has nothing to take yet. HealthyTooShort: commit ${commit.slice(0, 12)}`)
    assert.match(said, `To take it all the same, say --revision ${commit}.`)
    const taken = await promote('prod', '--revision', commit, '--approve', '--wait', '--timeout', '60')
    assert.is(taken.code, 0, taken.stderr)
    await stage.synced(commit, 'prod')
    assert.is((await stage.status('prod')).promotion?.revision, commit)
  })

  it('is held by a rollback, and let go by resume with the next commit', async () => {
    await follower({ type: 'automated' })
    const first = await stage.git.push(files('1'))
    await stage.synced(first, 'prod')
    const second = await stage.git.push(files('2'))
    await stage.synced(second, 'prod')
    const common = ['prod', '-n', stage.namespace, '--kubeconfig', kubeconfig]
    const back = await berth(['rollback', ...common, '--wait', '--timeout', '60'])
    assert.is(back.code, 0, back.stderr)
    assert.is((await stage.configMap('prod'))?.data?.x, '1')
    await berth(['resume', ...common, '--automated'])
    await waits('WasInEffect')
    await stage.synced(first, 'prod')
    const third = await stage.git.push(files('3'))
    await stage.synced(third, 'prod')
  })

  it('says which one is to be named', async () => {
    const none = await promote('dev')
    assert.match(
      none.stderr.replace(/\s+/g, ' '),
      /takes commits from no other one. Write spec.source.follow into the one that is to/,
    )
    await follower({}, 'prod-eu')
    await follower({}, 'prod-us')
    assert.match(
      (await promote('dev')).stderr.replace(/\s+/g, ' '),
      /Name with --to which one is to take its commit: prod-eu, prod-us/,
    )
    const missing = await promote('dev', '--to', 'staging')
    assert.match(
      missing.stderr.replace(/\s+/g, ' '),
      /no GitOpsDeployments of staging take the commits of .*dev. Name one of prod-eu, prod-us/,
    )
    const both = await promote('prod-eu', '-o', 'json', '--approve')
    assert.match(both.stderr, /-o prints the chain and changes nothing/)
  })

  it('tells of one that is suspended', async () => {
    await follower()
    const commit = await stage.git.push(files('1'))
    await waits('WaitingForApproval')
    await kube.patch(GitOpsDeployments, { name: 'prod', namespace: stage.namespace }, { spec: { suspend: true } })
    const { code, stderr } = await promote('prod', '--approve', '--revision', commit)
    assert.is(code, 1)
    assert.match(stderr, /is suspended, so nothing would be done/)
  })
})
