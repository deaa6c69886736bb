import * as assert from 'uvu/assert'
import type { GitOpsDeployment, GitProject } from '../../../src/api/index.ts'
import { projectOf } from '../../../src/operator/gitops-deployment/source/repository.ts'
import type { SyncCaches } from '../../../src/operator/gitops-deployment/watch/caches.ts'
import { describe } from '../../support/suite.ts'

const project = (namespace: string, name: string, created: string, spec: Partial<GitProject['spec']> = {}): GitProject => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'GitProject',
  metadata: { name, namespace, creationTimestamp: created },
  spec: { url: 'https://git.example/shop.git', path: `${namespace}/${name}`, ...spec },
})
const deployment: GitOpsDeployment = {
  apiVersion: 'managed-gitops.redhat.com/v1alpha1',
  kind: 'GitOpsDeployment',
  metadata: { name: 'shop', namespace: 'team-a' },
  spec: { type: 'automated', source: { repoURL: 'https://git.example/shop.git', path: '.' } },
}
const chosenBy = (one: GitOpsDeployment, ...known: GitProject[]) =>
  projectOf(one, { projects: { by: () => known }, requireWhole: () => undefined } as unknown as SyncCaches).metadata.name
const chosen = (...known: GitProject[]) => chosenBy(deployment, ...known)
/** It has followed this project. */
const after = (followed: string, source: Partial<GitOpsDeployment['spec']['source']> = {}): GitOpsDeployment => ({
  ...deployment,
  spec: { ...deployment.spec, source: { ...deployment.spec.source, ...source } },
  status: {
    reconciledState: {
      source: { repoURL: 'https://git.example/shop.git', path: '.', branch: '', project: followed },
      destination: { name: '', namespace: 'team-a' },
    },
  },
})
const granted = { grants: { serviceAccounts: [{ name: 'default', namespace: 'team-a' }] } }
const base = project('base', 'shop', '2030-02-01T00:00:00Z', granted)
const older = project('evil', 'bait', '2030-01-01T00:00:00Z', granted)

describe('the project of a repository', (it) => {
  it('stays the oldest of the namespace when another one names the same URL later', () => {
    const old = project('team-a', 'shop', '2030-01-01T00:00:00Z')
    assert.is(chosen(project('team-a', 'aaa-added-later', '2030-02-01T00:00:00Z'), old), 'shop')
  })

  it("is the own namespace's before anybody else's", () => {
    const foreign = project('team-b', 'theirs', '2020-01-01T00:00:00Z', { visibility: 'public' })
    assert.is(chosen(foreign, project('team-a', 'ours', '2030-01-01T00:00:00Z')), 'ours')
  })

  it('has charts where a chart is wanted, and a repository where that is', () => {
    const url = 'https://git.example/shop.git'
    const charts = project('team-a', 'charts', '2020-01-01T00:00:00Z', { url, type: 'helm' })
    const code = project('team-a', 'code', '2030-01-01T00:00:00Z')
    const ofChart = { ...deployment, spec: { ...deployment.spec, source: { chart: { repository: url, name: 'web' } } } }
    assert.is(chosen(charts, code), 'code')
    assert.is(chosenBy(ofChart, charts, code), 'charts')
    assert.throws(() => chosenBy(ofChart), /spec\.source\.chart\.repository .* belongs to no GitProject of type helm that/)
    assert.throws(() => chosenBy(ofChart, code), /GitProject team-a\/code of that url is none of Helm charts/)
    assert.throws(() => chosen(charts), /GitProject team-a\/charts of that url is a repository of Helm charts/)
  })

  it('is never a private one of another namespace', () => {
    assert.throws(() => chosen(project('team-b', 'theirs', '2020-01-01T00:00:00Z')), /belongs to no GitProject/)
  })

  it('stays the one of the namespace that was followed, whoever else grants one of that URL', () => {
    assert.is(chosenBy(after('base/shop'), older, base), 'shop')
    assert.is(chosenBy(after('base/former'), older, base), 'shop')
  })

  it("is not a third one's when the one that was followed is gone or grants nothing any more", () => {
    const changed =
      /GitProject base\/shop, which it followed, is not there any more or grants it no access; evil\/bait has the same url/
    assert.throws(() => chosenBy(after('base/shop'), older), changed)
    assert.throws(() => chosenBy(after('base/shop'), { ...base, spec: { ...base.spec, grants: {} } }, older), changed)
    assert.throws(() => chosenBy(after('team-a/shop'), older), /evil\/bait has the same url/)
    assert.is(chosenBy(after('base/shop'), older, project('team-a', 'ours', '2030-03-01T00:00:00Z')), 'ours')
  })

  it('is to be named where two other namespaces grant one, and none was followed yet', () => {
    assert.throws(() => chosen(older, base), /is the url of GitProject evil\/bait and of base\/shop, which both grant access/)
    assert.is(chosenBy(after('', { project: 'base/shop' }), older, base), 'shop')
    assert.is(chosen(older, base, project('team-a', 'ours', '2030-03-01T00:00:00Z')), 'ours')
    assert.is(chosen(base, project('base', 'second', '2030-03-01T00:00:00Z', granted)), 'shop')
  })

  it('is another one when another URL is followed, or the other one is named', () => {
    assert.is(chosenBy({ ...after('base/shop'), status: {} }, older), 'bait')
    assert.is(chosenBy(after('base/shop', { project: 'evil/bait' }), older, base), 'bait')
    assert.throws(
      () => chosenBy(after('base/shop', { project: 'evil/other' }), older, base),
      /no GitProject evil\/other that service/,
    )
  })
})
