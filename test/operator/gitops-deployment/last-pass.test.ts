import * as assert from 'uvu/assert'
import type { GitOpsDeployment } from '../../../src/api/index.ts'
import type { HealthStatus } from '../../../src/engines/health/index.ts'
import { isCompareDue, lastPassOf, rememberPass } from '../../../src/operator/gitops-deployment/pass/last-pass.ts'
import type { LastPass } from '../../../src/operator/gitops-deployment/services/services.ts'
import { seconds } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'

const deployment: GitOpsDeployment = {
  apiVersion: 'managed-gitops.redhat.com/v1alpha1',
  kind: 'GitOpsDeployment',
  metadata: { name: 'shop', namespace: 'team-a', uid: 'uid-1', generation: 1 },
  spec: { source: { repoURL: 'https://git.example.com/shop.git', path: 'deploy' }, type: 'automated' },
}

const INTERVAL = seconds(60)

/** Passes one after another, each as long after the one before as `gaps` says; tells which of them compared. */
async function comparisons(gaps: readonly number[], status: HealthStatus = 'Healthy') {
  const clock = steppedClock()
  const memory = { lastPasses: new Map<string, LastPass>() }
  const observed = { health: { status }, objects: [], until: Number.POSITIVE_INFINITY }
  const compared: boolean[] = []
  for (const gap of gaps) {
    await clock.step(gap)
    const before = lastPassOf(deployment, memory)
    const compare = isCompareDue(before, INTERVAL, clock.now())
    compared.push(compare)
    rememberPass(deployment, { compare }, { commitId: 'c0ffee', changes: [], observed, repairsLater: [] }, memory, clock.now())
  }
  return compared
}

describe('when a deployment reads the objects that no watch tells about', (it) => {
  it('is its first pass, and then every interval, however often something else wakes it in between', async () => {
    const woken = [0, 20, 20, 19, 1, 20, 40].map(seconds)
    assert.equal(await comparisons(woken), [true, false, false, false, true, false, true])
  })

  it('is every pass while its objects are on their way', async () => {
    assert.equal(await comparisons([0, 1, 1].map(seconds), 'Progressing'), [true, true, true])
  })
})
