import { equal, is } from 'uvu/assert'
import { accessRulesOf } from '../../../src/engines/access/index.ts'
import { createStreams } from '../../../src/proxy/reception/streams.ts'
import type { MayOpen, RoutedWorkspace } from '../../../src/proxy/web/ports.ts'
import { hours, seconds } from '../../../src/std/index.ts'
import { published } from '../../engines/access/neighbourhood.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'

const workspace: RoutedWorkspace = {
  ...{ uid: 'u', ref: { name: 'web', namespace: 'team-a' }, rules: accessRulesOf(published('web')), status: {} },
  ...{
    sshKeys: new Set(),
    isWanted: true,
    isWatched: false,
    terminal: undefined,
    lastActivity: 0,
    watchedAt: 0,
    upstreams: new Map(),
  },
}

/** Somebody whom a role has let in, and what the roles say from then on. */
function letIn(mayOpen: MayOpen, lasts = hours(1)) {
  const clock = steppedClock()
  const cuts: string[] = []
  const hearing = new Set<(isTouched: (namespace: string) => boolean) => void>()
  const streams = createStreams(
    {
      routes: { workspace: () => workspace, onChange: () => () => undefined },
      sessions: { holds: () => true, onSignOut: () => () => undefined },
      mayOpen,
      onRoles: (listener) => {
        hearing.add(listener)
        return () => hearing.delete(listener)
      },
      clock,
    },
    (why) => cuts.push(why),
  )
  const session = { person: { user: 'grace@example.com', groups: [] }, since: clock.now(), until: clock.now() + lasts }
  const until = clock.now() + seconds(10)
  const leave = streams.enter({ uid: 'u', port: 3000, session, links: [], as: 'role', until, cut: () => leave() })
  const changeRoles = (...namespaces: string[]) => {
    for (const listener of hearing) listener((namespace) => namespaces.includes(namespace))
  }
  return { clock, cuts, streams, changeRoles }
}

describe('visitors who have not signed in', (it) => {
  it('have so much under way from one network, and take no place of another’s', async () => {
    const { streams } = letIn(async () => true)
    const [near, far] = ['2001:db8:1:2::1', '192.0.2.1']
    const visitor = (from: string) => ({ uid: 'u', session: undefined, from })
    const one = { ...visitor(near), port: 3000, links: [], as: 'public', until: Number.POSITIVE_INFINITY, cut: () => undefined }
    const leaves = Array.from({ length: 1000 }, () => streams.enter(one))
    is(streams.isFull(visitor('2001:db8:1:2::2')), true)
    is(streams.isFull(visitor(far)), false)
    leaves[0]?.()
    is(streams.isFull(visitor(near)), false)
    streams.stop()
  })
})

describe('what a role has let in', (it) => {
  it('stays for as long as the role does', async () => {
    let may = true
    const { clock, cuts, streams } = letIn(async () => may)
    await clock.step(seconds(60))
    equal([cuts, streams.size], [[], 1])
    may = false
    await clock.step(seconds(5))
    equal([cuts, streams.size], [['changed'], 0])
    streams.stop()
    is(clock.waiting(), 0)
  })

  it('is asked for again at once when roles of its namespace change', async () => {
    let may = true
    const { clock, cuts, streams, changeRoles } = letIn(async () => may)
    changeRoles('team-a')
    await clock.step(1)
    equal(cuts, [])
    may = false
    changeRoles('team-b')
    await clock.step(1)
    equal(cuts, [])
    changeRoles('team-a')
    await clock.step(1)
    equal([cuts, streams.size], [['changed'], 0])
    streams.stop()
  })

  it('ends when nobody can tell any more', async () => {
    const { clock, cuts } = letIn(() => Promise.reject(new TypeError('no answer')))
    await clock.step(seconds(9))
    equal(cuts, [])
    await clock.step(seconds(2))
    equal(cuts, ['over'])
  })

  it('lasts no longer than the session', async () => {
    const { clock, cuts } = letIn(async () => true, seconds(30))
    await clock.step(seconds(29))
    equal(cuts, [])
    await clock.step(seconds(2))
    equal(cuts, ['over'])
  })
})
