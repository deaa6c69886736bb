import * as assert from 'uvu/assert'
import { type History, historyAfter } from '../../../src/operator/gitops-deployment/status/outcome.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const entry = (revision: string, path = 'deploy') => ({ revision, path, at: '2030-01-01T00:00:00Z' })
const grown = (...all: string[]): History =>
  all.reduce<History>((history, revision) => historyAfter(history, entry(revision)), [])
const revisions = (history: History | undefined) => history?.map(({ revision }) => revision)

describe('the history of a deployment', (it) => {
  it('has the newest revision first, each once while it is in effect', () => {
    assert.equal(revisions(grown('a', 'a', 'b', 'b')), ['b', 'a'])
  })

  it('keeps the time at which a revision came into effect', () => {
    const [first] = historyAfter(grown('a'), { ...entry('a'), at: '2031-01-01T00:00:00Z' })
    assert.is(first?.at, '2030-01-01T00:00:00Z')
  })

  it('has a revision that comes back twice', () => {
    assert.equal(revisions(grown('a', 'b', 'a')), ['a', 'b', 'a'])
  })

  it('has the same revision of another directory as a new entry', () => {
    assert.is(historyAfter(grown('a'), entry('a', 'elsewhere')).length, 2)
  })

  it('has ten entries at most', () => {
    const all = grown(...Array.from({ length: 14 }, (_, index) => `r${index}`))
    assert.equal([all.length, all[0]?.revision, all[9]?.revision], [10, 'r13', 'r4'])
  })
})

describe('the history in the status', (it) => {
  const cluster = testCluster()
  let stage: Stage

  it.beforeEach(async () => {
    stage = await openStage(cluster)
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  it('lists what was in effect as a whole, and leaves out what never was; a restart adds nothing', async () => {
    await stage.deploy()
    const one = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) }, undefined, { subject: '  Add x\u0007' })
    await stage.synced(one)
    await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '2' }), 'deploy/b.yaml': configMap('Not A Name') })
    await stage.complains('SyncFailed')
    const three = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '3' }) })
    const { history } = await stage.synced(three)
    assert.equal(revisions(history), [three, one])
    assert.equal(
      history?.map(({ path, subject }) => [path, subject]),
      [
        ['deploy', undefined],
        ['deploy', 'Add x\\u0007'],
      ],
    )
    await stage.restart()
    const back = await stage.git.push({ 'deploy/a.yaml': configMap('a', { x: '1' }) })
    assert.equal(revisions((await stage.synced(back)).history), [one, three, one])
  })

  it('of a manual deployment grows with its runs', async () => {
    await stage.deploy({ type: 'manual' })
    const commit = await stage.git.push({ 'deploy/a.yaml': configMap('a') })
    await stage.complains('WaitingForSyncRun')
    assert.is((await stage.status()).history, undefined)
    await stage.run('one')
    await stage.synced(commit)
    await eventually(async () => assert.equal(revisions((await stage.status()).history), [commit]) ?? true)
  })
})
