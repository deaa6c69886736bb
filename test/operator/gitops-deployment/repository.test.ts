import * as assert from 'uvu/assert'
import type { GitOpsDeployment, GitProject } from '../../../src/api/index.ts'
import type { Books } from '../../../src/operator/gitops-deployment/books.ts'
import { projectOf } from '../../../src/operator/gitops-deployment/repository.ts'
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
const chosen = (...known: GitProject[]) =>
  projectOf(deployment, { projects: { by: () => known } } as unknown as Books).metadata.name

describe('the project of a repository', (it) => {
  it('stays the oldest of the namespace when another one names the same URL later', () => {
    const old = project('team-a', 'shop', '2030-01-01T00:00:00Z')
    assert.is(chosen(project('team-a', 'aaa-added-later', '2030-02-01T00:00:00Z'), old), 'shop')
  })

  it("is the own namespace's before anybody else's", () => {
    const foreign = project('team-b', 'theirs', '2020-01-01T00:00:00Z', { visibility: 'public' })
    assert.is(chosen(foreign, project('team-a', 'ours', '2030-01-01T00:00:00Z')), 'ours')
  })

  it('is never a private one of another namespace', () => {
    assert.throws(() => chosen(project('team-b', 'theirs', '2020-01-01T00:00:00Z')), /belongs to no GitProject/)
  })
})
