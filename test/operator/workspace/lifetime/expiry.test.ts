import * as assert from 'uvu/assert'
import type { Workspace, WorkspaceClassSpec, WorkspaceSpec } from '../../../../src/api/index.ts'
import { nextTurn, type Times, timesOf } from '../../../../src/operator/workspace/lifetime/expiry.ts'
import { timestamp } from '../../../../src/std/index.ts'
import { describe } from '../../../support/suite.ts'

type State = Parameters<typeof timesOf>[1]

const at = (time: string) => Date.parse(`2030-01-${time}:00Z`)
const NOON = at('01T12:00')

interface Given {
  state?: State
  spec?: WorkspaceSpec
  status?: Times
  annotations?: Record<string, string>
  settings?: WorkspaceClassSpec
  now?: number
}

const workspace = ({ spec = {}, status = {}, annotations = {} }: Given): Workspace => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'Workspace',
  metadata: { name: 'web', namespace: 'team-a', creationTimestamp: timestamp(NOON), annotations },
  spec,
  status,
})
const HOURS: WorkspaceClassSpec = { maxActiveHoursBeforeStop: 2, maxStoppedHoursBeforeTermination: 10 }
const times = ({ state = 'Running', settings = HOURS, now = NOON, ...given }: Given): Times =>
  timesOf(workspace(given), state, settings, now)
const turn = ({ state = 'Running', settings = HOURS, now = NOON, ...given }: Given) => {
  const next = nextTurn(workspace(given), state, settings, now)
  return next && [next.becomes, next.reason, timestamp(next.at)]
}
/** Running since noon. */
const up = times({})

describe('workspace: limits of the class', (it) => {
  it('count from the first Running after a stop', () => {
    assert.is(up.startedAt, '2030-01-01T12:00:00Z')
    assert.equal([up.willStopAt, up.willStopReason], ['2030-01-01T14:00:00Z', 'MaxActiveHours'])
    assert.equal(times({ status: up, now: at('01T12:01') }), up)
    assert.equal(times({ status: up, now: at('01T12:01'), state: 'Failed' }), up)
  })

  it('count a stop until the termination, and begin anew with the next start', () => {
    const stopped = times({ status: up, state: 'Stopped', spec: { desiredState: 'Stopped' }, now: at('01T12:01') })
    assert.is(stopped.willStopAt, undefined)
    assert.equal([stopped.willTerminateAt, stopped.willTerminateReason], ['2030-01-01T22:01:00Z', 'MaxStoppedHours'])
    assert.is(times({ status: stopped, now: at('01T12:02') }).willStopAt, '2030-01-01T14:02:00Z')
    const spec: WorkspaceSpec = { desiredState: 'Stopped' }
    const next = turn({ status: stopped, state: 'Stopped', spec, now: at('01T12:02') })
    assert.equal(next, ['Terminated', 'MaxStoppedHours', '2030-01-01T22:01:00Z'])
  })

  it('tell a start from the one before, though the stop between them took no second', () => {
    const stopped = times({ status: up, state: 'Stopped', spec: { desiredState: 'Stopped' } })
    const again = times({ status: stopped })
    assert.equal([again.startedAt, again.willStopAt], ['2030-01-01T12:00:01Z', '2030-01-01T14:00:01Z'])
    assert.equal(times({ status: again }), again)
    const stoppedAgain = times({ status: again, state: 'Stopped', spec: { desiredState: 'Stopped' } })
    assert.is(stoppedAgain.stoppedAt, '2030-01-01T12:00:01Z')
    assert.is(times({ status: stoppedAgain }).startedAt, '2030-01-01T12:00:02Z')
  })

  it('do not restart the count when the state was unknown for a while', () => {
    const spec: WorkspaceSpec = { desiredState: 'Stopped' }
    const stopped = times({ status: up, state: 'Stopped', spec, now: at('01T12:01') })
    const unknown = times({ status: stopped, state: 'Unknown', spec, now: at('01T12:02') })
    assert.is(times({ status: unknown, state: 'Stopped', spec, now: at('01T12:03') }).willTerminateAt, '2030-01-01T22:01:00Z')
  })

  it('stop one that never came up, too', () => {
    const failing = times({ state: 'Failed' })
    assert.is(failing.startedAt, undefined)
    assert.equal(turn({ state: 'Failed', status: failing }), ['Stopped', 'MaxActiveHours', '2030-01-01T14:00:00Z'])
  })

  it('begin anew with a restart', () => {
    const spec: WorkspaceSpec = { desiredState: 'RestartRequested' }
    const between = times({ status: up, state: 'Stopped', spec, now: at('01T13:59') })
    assert.is(between.activeSince, '2030-01-01T13:59:00Z')
    assert.is(times({ status: between, now: at('01T14:01') }).willStopAt, '2030-01-01T16:01:00Z')
  })

  it('end a life a year after its creation at the latest, whatever it does', () => {
    assert.equal([up.willTerminateAt, up.willTerminateReason], ['2031-01-01T12:00:00Z', 'MaxLifeHours'])
    const settings = { ...HOURS, maxLifeHours: 1 }
    assert.equal(turn({ status: up, settings }), ['Terminated', 'MaxLifeHours', '2030-01-01T13:00:00Z'])
  })
})

describe('workspace: idleness', (it) => {
  const settings = { ...HOURS, idle: { stopAfterMinutes: 30 } }
  const seen = (last: string | undefined, watched: string) => ({
    'berth.dev/activity-watched-at': timestamp(at(watched)),
    ...(last && { 'berth.dev/last-activity': timestamp(at(last)) }),
  })
  const IDLE: { why: string; annotations: Record<string, string>; now: string; stops: string }[] = [
    { why: 'stops half an hour after the last use', annotations: seen('01T12:20', '01T12:45'), now: '01T12:46', stops: '12:50' },
    { why: 'counts the start as use', annotations: seen(undefined, '01T12:20'), now: '01T12:21', stops: '12:30' },
    { why: 'does not count a use before the start', annotations: seen('01T09:00', '01T12:20'), now: '01T12:21', stops: '12:30' },
    { why: 'stops nothing while nobody watches', annotations: {}, now: '01T13:00', stops: '14:00' },
    {
      why: 'stops nothing that was seen too long ago',
      annotations: seen('01T12:00', '01T12:30'),
      now: '01T12:41',
      stops: '14:00',
    },
    {
      why: 'does not know a use that is not watched',
      annotations: { 'berth.dev/last-activity': timestamp(NOON) },
      now: '01T13:00',
      stops: '14:00',
    },
    {
      why: 'does not believe a clock that is far ahead',
      annotations: seen('01T12:00', '01T19:00'),
      now: '01T12:45',
      stops: '14:00',
    },
    { why: 'does not take a time to come for a use', annotations: seen('09T12:00', '01T12:45'), now: '01T12:46', stops: '13:16' },
    {
      why: 'does not read what is no time',
      annotations: { 'berth.dev/activity-watched-at': 'soon' },
      now: '01T12:46',
      stops: '14:00',
    },
  ]
  for (const { why, annotations, now, stops } of IDLE)
    it(why, () => {
      const { willStopAt, willStopReason } = times({ status: up, settings, annotations, now: at(now) })
      assert.equal([willStopAt, willStopReason], [`2030-01-01T${stops}:00Z`, stops === '14:00' ? 'MaxActiveHours' : 'Idle'], why)
    })

  it('does not count while the workspace is not running', () => {
    const annotations = seen('01T12:20', '01T12:45')
    assert.is(times({ status: up, state: 'Failed', settings, annotations, now: at('01T12:46') }).willStopReason, 'MaxActiveHours')
  })
})

describe('workspace: more time', (it) => {
  const keep = (until: string): WorkspaceSpec => ({ keepUntil: timestamp(at(until)) })

  it('moves the stop', () => {
    const kept = times({ status: up, spec: keep('01T15:00'), now: at('01T13:30') })
    assert.equal(kept.kept, { asked: '2030-01-01T15:00:00Z', until: '2030-01-01T15:00:00Z' })
    assert.is(kept.willStopAt, '2030-01-01T15:00:00Z')
  })

  it('is no more than the limit from when it was asked for, however often it is looked at', () => {
    const spec = keep('31T00:00')
    const kept = times({ status: up, spec, now: at('01T13:30') })
    assert.is(kept.kept?.until, '2030-01-01T15:30:00Z')
    assert.is(times({ status: kept, spec, now: at('01T15:00') }).willStopAt, '2030-01-01T15:30:00Z')
  })

  it('moves no termination', () => {
    const settings = { ...HOURS, maxLifeHours: 2 }
    assert.is(times({ status: up, settings, spec: keep('01T15:00') }).willTerminateAt, '2030-01-01T14:00:00Z')
  })
})

describe('workspace: schedule', (it) => {
  const schedule = { start: '0 8 * * mon-fri', stop: '0 19 * * mon-fri', timeZone: 'Europe/Berlin' }
  // The first of January 2030 is a Tuesday; Berlin is an hour ahead.
  const day = { ...HOURS, maxActiveHoursBeforeStop: 100 }

  it('stops in the evening of its own time zone', () => {
    const { willStopAt, willStopReason } = times({ status: up, settings: day, spec: { schedule } })
    assert.equal([willStopAt, willStopReason], ['2030-01-01T18:00:00Z', 'Schedule'])
  })

  it("is the workspace's own where it has one, and the class's where not", () => {
    assert.is(times({ status: up, settings: { ...day, schedule } }).willStopAt, '2030-01-01T18:00:00Z')
    const own = { schedule: { stop: '0 20 * * *', timeZone: 'UTC' } }
    assert.is(times({ status: up, settings: { ...day, schedule }, spec: own }).willStopAt, '2030-01-01T20:00:00Z')
  })

  const STARTS: { why: string; stopped: string; now: string; starts: string }[] = [
    { why: 'starts in the next morning', stopped: '01T18:00', now: '01T18:01', starts: '02T07:00' },
    { why: 'starts on Monday after a Friday', stopped: '04T18:00', now: '04T18:01', starts: '07T07:00' },
    { why: 'makes up for a start that was missed', stopped: '01T18:00', now: '02T09:00', starts: '02T07:00' },
    { why: 'does not make up for it after the evening', stopped: '01T18:00', now: '02T21:00', starts: '03T07:00' },
    { why: 'does not start at once what was stopped in the day', stopped: '02T10:00', now: '02T10:01', starts: '03T07:00' },
  ]
  for (const { why, stopped, now, starts } of STARTS)
    it(why, () => {
      const status = { startedAt: '2029-12-31T00:00:00Z', stoppedAt: timestamp(at(stopped)) }
      const given: Given = {
        state: 'Stopped',
        spec: { desiredState: 'Stopped', schedule },
        settings: { ...day, maxStoppedHoursBeforeTermination: 744 },
        status,
        now: at(now),
      }
      assert.is(times(given).willStartAt, `2030-01-${starts}:00Z`, why)
      assert.equal(turn(given), ['Running', 'Schedule', `2030-01-${starts}:00Z`], why)
    })

  it('does nothing while it cannot be read', () => {
    const spec = { schedule: { stop: 'at night' } }
    assert.is(times({ status: up, settings: day, spec }).willStopReason, 'MaxActiveHours')
  })
})
