import * as assert from 'uvu/assert'
import {
  type Assessment,
  assess,
  durationInWords,
  type Evidence,
  isThere,
  STAGES,
} from '../../../../src/operator/workspace/actual-state/index.ts'
import { describe } from '../../../support/suite.ts'
import {
  ago,
  container,
  creating,
  DOWN,
  deployment,
  exit,
  fallen,
  homeless,
  is,
  live,
  NEW,
  NODE,
  NOW,
  pod,
  running,
  SET_UP,
  starting,
  stopped,
  timedOut,
  UP,
  waiting,
} from './objects.ts'

const look = (given: Omit<Evidence, 'now'>): Assessment => assess({ now: NOW, ...given })
/** In how many seconds the answer may be another. */
const next = (given: Omit<Evidence, 'now'>): number | undefined => {
  const { recheckAt } = look(given)
  return recheckAt === undefined ? undefined : (recheckAt - NOW) / 1000
}

describe('actual state: when to look again', (it) => {
  it('looks more closely once a start takes three seconds', () => {
    assert.is(look({ deployment: starting, pods: [pod({ age: 2, main: [creating] })] }).needsLook, false)
    assert.is(next({ deployment: starting, pods: [pod({ age: 2, main: [creating] })] }), 1)
    assert.is(look({ deployment: starting, pods: [pod({ age: 3, main: [creating] })] }).needsLook, true)
  })
  it('needs no closer look at what runs, is stopped or has no pod', () => {
    assert.is(look({ deployment: running, pods: [pod({ main: [live({ ready: true })] })] }).needsLook, false)
    assert.is(look({ deployment: stopped, pods: [pod({ main: [live()] })] }).needsLook, false)
    assert.is(look({ deployment: starting }).needsLook, false)
    assert.is(look({}).needsLook, false)
  })
  it('does not look again at what runs or is stopped', () => {
    assert.is(next({ deployment: running, pods: [pod({ age: 1, main: [live({ ready: true })] })] }), undefined)
    assert.is(next({ deployment: stopped }), undefined)
  })
  it('looks again when a wait is over', () => {
    assert.is(next({ deployment: starting, pods: [homeless('0/1 nodes are available: 1 Insufficient cpu.', 299)] }), 1)
    assert.is(next({ deployment: timedOut, pods: [homeless('0/1 nodes are available: 1 Insufficient cpu.', 299)] }), undefined)
  })
  it('looks again when silence becomes a trouble', () => {
    assert.is(next({ deployment: starting, pods: [pod({ node: undefined, age: 4, conditions: [] })] }), 6)
    assert.is(next({ deployment: deployment({ wanted: 1, seen: undefined, age: 4 }) }), 6)
    assert.is(next({ deployment: deployment({ progress: NEW, available: UP, wanted: 1, up: 1, seen: 2 }) }), 10)
  })
  it('looks again when a workspace that was up is down for too long', () => {
    const down = deployment({ progress: NEW, available: DOWN, wanted: 1, up: 0, down: 1, downFor: 590 })
    assert.is(next({ deployment: down, pods: [pod({ main: [live()] })] }), 10)
  })
  it('looks again when a container that was started again has stayed up', () => {
    const again = (restartCount: number) =>
      pod({ main: [container('tools', { running: { startedAt: ago(4) } }, { restartCount, lastState: exit(3), ready: true })] })
    assert.is(next({ deployment: running, pods: [again(1)] }), 6)
    assert.is(next({ deployment: running, pods: [again(2)] }), 6)
    assert.is(next({ deployment: running, pods: [again(2)], steadyAfter: 30_000 }), 26)
    assert.is(next({ deployment: stopped, pods: [again(2)] }), undefined)
  })
  it('looks again when a pod should have ended', () => {
    const after = next({ deployment: stopped, pods: [pod({ late: 10, main: [live()] })] })
    assert.ok(after !== undefined && after > 20 && after < 20.1, String(after))
  })
  it('tells a change that nobody looks at by the step that it began', () => {
    const changed = deployment({ progress: NEW, available: UP, wanted: 1, up: 1, seen: 2 })
    const since = (name: string, failure?: Evidence['before']) =>
      look({ deployment: changed, before: { step: { name, since: ago(20) }, ...failure } }).trouble?.reason
    assert.is(since('Admission'), 'ControllerSilent')
    assert.is(since('Probes'), undefined)
    assert.is(since('Admission', { waiting: { reason: 'WebhookUnavailable', since: ago(20) } }), undefined)
  })
})

describe('actual state: steps and stages', (it) => {
  const done = (given: Omit<Evidence, 'now'>) => STAGES.slice(0, look(given).stages)
  it('keeps the time at which a step began, and begins anew with the next', () => {
    const before = { step: { name: 'Volume', since: ago(42) } }
    const pods = [pod({ main: [creating] })]
    assert.is(look({ deployment: starting, pods, before }).step?.since, NOW - 42_000)
    assert.is(look({ deployment: starting, pods: [pod({ main: [live()] })], before }).step?.since, NOW)
    const other = { step: { name: 'Image', container: 'other', since: ago(42) } }
    assert.is(
      look({ deployment: starting, pods: [pod({ main: [creating], conditions: [NODE, SET_UP] })], before: other }).step?.since,
      NOW,
    )
  })
  it('counts what is done of a start', () => {
    assert.equal(done({ deployment: starting }), [])
    assert.equal(done({ deployment: starting, pods: [pod({ node: undefined, conditions: [] })] }), ['PodAdmitted'])
    assert.equal(done({ deployment: starting, pods: [pod({ node: undefined, main: [creating] })] }), [
      'PodAdmitted',
      'PodScheduled',
    ])
    assert.equal(done({ deployment: starting, pods: [pod({ conditions: [], main: [creating] })] }), [
      'PodAdmitted',
      'PodScheduled',
    ])
    const prepared = [container('clone', { running: {} }), container('more', waiting('PodInitializing'))]
    assert.equal(done({ deployment: starting, pods: [pod({ init: prepared })] }), STAGES.slice(0, 3))
    const initialized = [container('clone', exit(0))]
    assert.equal(done({ deployment: starting, pods: [pod({ init: initialized, main: [creating] })] }), STAGES.slice(0, 4))
    const sidecar = pod({
      init: [container('sidecar', { running: {} })],
      main: [creating],
      conditions: [is('Initialized', 'True')],
    })
    assert.equal(done({ deployment: starting, pods: [sidecar] }), STAGES.slice(0, 4))
    assert.equal(done({ deployment: starting, pods: [pod({ main: [live()] })] }), STAGES)
  })
  it('counts everything of what runs, and nothing of what is stopped', () => {
    assert.equal(done({ deployment: running }), STAGES)
    assert.equal(done({ deployment: stopped, pods: [pod({ main: [live()] })] }), [])
    assert.equal(done({ deployment: fallen }), [])
  })
  it('tells pods that hold something from those that are only remembered', () => {
    assert.is(isThere(pod({ main: [live()] })), true)
    assert.is(isThere(pod({ status: { phase: 'Failed' } })), false)
    assert.is(isThere(pod({ status: { phase: 'Succeeded' } })), false)
    assert.is(isThere(pod({ status: { phase: 'Failed' }, late: 1 })), true)
  })
  it('spells times as people do', () => {
    assert.equal([30_000, 60_000, 180_000].map(durationInWords), ['30 seconds', '1 minute', '3 minutes'])
  })
})
