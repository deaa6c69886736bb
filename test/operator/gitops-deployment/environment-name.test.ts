import * as assert from 'uvu/assert'
import type { GitOpsDeployment } from '../../../src/api/index.ts'
import { noEnvironment } from '../../../src/operator/gitops-deployment/services/targets.ts'
import { environmentNames } from '../../../src/operator/gitops-deployment/watch/caches.ts'
import { describe } from '../../support/suite.ts'

const leadingTo = (environment: string): GitOpsDeployment => ({
  apiVersion: 'managed-gitops.redhat.com/v1alpha1',
  kind: 'GitOpsDeployment',
  metadata: { name: 'shop', namespace: 'team-a' },
  spec: { source: { repoURL: 'https://example.com/shop', path: '.' }, type: 'automated', destination: { environment } },
})

describe('the environment of a deployment', (it) => {
  it('is looked for under the name itself, then under the one that Berth makes of it', () => {
    assert.equal(environmentNames(leadingTo('staging').spec), ['staging', 'managed-environment-staging'])
  })

  it('is called by the name of the Environment when there is none, whichever name was written', () => {
    for (const written of ['staging', 'managed-environment-staging']) {
      const { message, remedy = '' } = noEnvironment(leadingTo(written))
      assert.match(message, `spec.destination.environment "${written}": Environment staging in namespace team-a does not exist`)
      assert.match(remedy, 'Create Environment staging, or mend')
      assert.not.match(message + remedy, 'managed-environment-managed-environment')
    }
  })
})
