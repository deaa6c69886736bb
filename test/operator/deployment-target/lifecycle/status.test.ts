import * as assert from 'uvu/assert'
import { type Condition, conditionOf, type DeploymentTarget, withConditions } from '../../../../src/api/index.ts'
import { statusAfter } from '../../../../src/operator/deployment-target/lifecycle/status.ts'
import { Failure } from '../../../../src/std/index.ts'
import { describe } from '../../../support/suite.ts'
import { target } from '../../../support/targets.ts'

describe('status of a target after a failure', (it) => {
  const was: Condition = {
    type: 'Ready',
    status: 'True',
    reason: 'Bound',
    message: '',
    lastTransitionTime: '2030-01-01T00:00:00Z',
  }
  const usable = { usable: true, reason: 'Valid', message: '' }
  const unusable = { usable: false, reason: 'SecretNotFound', message: 'there is none' }
  const failure = new Failure('forbidden', 'may not be written', { reason: 'Forbidden', remedy: 'Grant it' })

  const ready = (object: DeploymentTarget, credentials: typeof usable) =>
    conditionOf(withConditions(object.status?.conditions, statusAfter(object, failure, credentials).conditions, ''), 'Ready')

  it('leaves Ready to a Bound target that goes on serving, and takes it from every other', () => {
    const bound: DeploymentTarget = { ...target('any', 'any'), status: { phase: 'Bound', conditions: [was] } }
    const leaving = { ...bound, metadata: { ...bound.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } }
    const free: DeploymentTarget = { ...bound, status: { phase: 'Available', conditions: [was] } }
    const cases = [
      { object: bound, credentials: usable, status: 'True', why: 'it serves its claim' },
      { object: bound, credentials: unusable, status: 'False', why: 'the Secret is gone' },
      { object: leaving, credentials: usable, status: 'False', why: 'it is being deleted' },
      { object: free, credentials: usable, status: 'False', why: 'nothing new is promised' },
    ]
    for (const { object, credentials, status, why } of cases) assert.is(ready(object, credentials)?.status, status, why)
  })

  it('names the failure and its remedy, and keeps the phase and what was asked', () => {
    const asked = { apiURL: 'https://api.example', secretVersion: 'a/1' }
    const object: DeploymentTarget = { ...target('any', 'any'), status: { phase: 'Available', asked, conditions: [was] } }
    assert.is(ready(object, usable)?.message, 'may not be written. Grant it')
    const status: Record<string, unknown> = statusAfter(object, failure, usable)
    assert.equal([status.phase, status.asked], ['Available', asked])
  })
})
