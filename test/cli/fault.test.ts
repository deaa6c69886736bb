import * as assert from 'uvu/assert'
import type { AnyObject } from '../../src/api/index.ts'
import { causesFirst, faultOf } from '../../src/cli/fault.ts'
import { ownKinds } from '../../src/cli/manifests.ts'
import { describe } from '../support/suite.ts'
import { ROOT } from './berth.ts'

const object = (kind: string, status: object): AnyObject => ({ apiVersion: 'x/v1', kind, metadata: { name: 'one' }, status })
const ready = (status: string, reason: string, message = 'said so') => ({ type: 'Ready', status, reason, message })
const error = (message: string) => ({ type: 'ErrorOccurred', status: 'True', reason: 'ErrorOccurred', message })

describe('faults', (it) => {
  it('are what a status calls wrong: a phase, a state, a condition', () => {
    const table: [AnyObject, string][] = [
      [object('DeploymentTarget', { phase: 'Failed', conditions: [ready('False', 'UnableToTerminate')] }), 'UnableToTerminate'],
      [object('DeploymentTargetClaim', { phase: 'Lost', conditions: [ready('False', 'TargetGone')] }), 'TargetGone'],
      [object('Environment', { conditions: [ready('False', 'ClaimNotFound'), error('no claim')] }), 'ClaimNotFound'],
      [object('GitProject', { conditions: [ready('False', 'FetchFailed')] }), 'FetchFailed'],
      [object('Workspace', { actualState: 'Error', failure: { reason: 'DevfileInvalid', message: 'x' } }), 'DevfileInvalid'],
    ]
    for (const [each, reason] of table) assert.is(faultOf(each)?.reason, reason, each.kind)
  })

  it('are told in the words of Ready, which say what helps, rather than in those that older clients compare', () => {
    const conditions = [ready('False', 'ClaimNotFound', 'there is none. Make one.'), error('unable to find it')]
    const fault = faultOf(object('Environment', { conditions }))
    assert.equal(fault, { reason: 'ClaimNotFound', message: 'there is none. Make one.', remedy: '' })
    const silent = faultOf(object('Environment', { conditions: [ready('True', 'Connected'), error('unable to find it')] }))
    assert.is(silent?.message, 'unable to find it')
  })

  it('are not what only waits, is well, or has no status yet', () => {
    const calm = [
      object('DeploymentTargetClaim', { phase: 'Pending', conditions: [ready('False', 'WaitingForTarget')] }),
      object('Workspace', { actualState: 'Starting', failure: { reason: 'Unschedulable', message: 'x' } }),
      object('GitProject', { conditions: [ready('Unknown', 'NotLookedAt')] }),
      object('GitProject', { conditions: [ready('True', 'Fetched')] }),
      { apiVersion: 'x/v1', kind: 'Agent', metadata: { name: 'new' } },
    ]
    for (const each of calm) assert.is(faultOf(each), undefined, each.kind)
  })

  it('of what others stand on come first, and each kind of Berth has its place', () => {
    const kinds = ownKinds(ROOT).map(({ kind }) => object(kind, {}))
    const ordered = causesFirst([...kinds, object('Unknown', {})]).map(({ kind }) => kind)
    assert.is(ordered[0], 'Unknown')
    assert.is(ordered.at(-1), 'Workspace')
    assert.ok(ordered.indexOf('DeploymentTarget') < ordered.indexOf('Environment'))
    assert.is(ordered.filter((kind) => causesFirst([object('Unknown', {}), object(kind, {})])[0]?.kind === kind).length, 1)
  })
})
