import { equal, is, match } from 'uvu/assert'
import { decideRemoval, type RemovalRule, type Removals } from '../../../src/operator/removal-guard/index.ts'
import { minutes } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

/** As sets have it. */
const RULE: RemovalRule = { what: 'GitOpsDeployments', because: '', all: 1, share: { of: 10, from: 1 }, countsNew: false }

describe('the removals of a GitOpsDeploymentSet', (it) => {
  const now = Date.UTC(2030, 0, 1)
  const since = '2030-01-01T00:00:00Z'
  const decide = (
    leaving: number,
    made: number,
    policy: Parameters<typeof decideRemoval>[1] = {},
    before?: Removals,
    { at = now, isHeld = false } = {},
  ) => decideRemoval({ leaving, made, before, isHeld, now: at }, policy, RULE)
  const holdOf = (...of: Parameters<typeof decide>) => decide(...of).hold

  it('are kept back where they could be an accident', () => {
    equal(decide(0, 5), { hold: undefined, removals: undefined })
    match(holdOf(1, 1) ?? '', 'all 1 GitOpsDeployments that there were would go')
    equal(decide(1, 1, { allowEmpty: true }), { hold: undefined, removals: { since, total: 1, gone: 0 } })
    is(holdOf(8, 9), undefined)
    match(holdOf(6, 10) ?? '', '6 of 10 GitOpsDeployments would go within minutes, which is more than 50%')
    is(holdOf(5, 10), undefined)
    is(holdOf(6, 10, { maxPercent: 60 }), undefined)
    is(holdOf(20, 20, { allowEmpty: true }), undefined)
  })

  it('count together within minutes, and no longer', () => {
    equal(decide(5, 20), { hold: undefined, removals: { since, total: 20, gone: 0 } })
    const second = { since, total: 20, gone: 5 }
    equal(decide(5, 15, {}, second, { at: now + minutes(1) }), { hold: undefined, removals: second })
    const third = { since, total: 20, gone: 10 }
    match(holdOf(5, 10, {}, third, { at: now + minutes(9) }) ?? '', '15 of 20')
    // Who waits does not become less by waiting, and whoever is done begins anew.
    match(holdOf(5, 10, {}, third, { at: now + minutes(60), isHeld: true }) ?? '', '15 of 20')
    equal(decide(0, 10, {}, third, { at: now + minutes(9) }).removals, third)
    equal(decide(0, 10, {}, third, { at: now + minutes(11) }).removals, undefined)
    const later = decide(5, 10, {}, third, { at: now + minutes(11) })
    equal([later.hold, later.removals?.total, later.removals?.gone], [undefined, 10, 0])
  })

  it('wait on for somebody when some of them are there again', () => {
    const held = decide(20, 20)
    match(holdOf(3, 20, {}, held.removals, { isHeld: true }) ?? '', 'all 20')
    is(holdOf(3, 20, { allowEmpty: true }, held.removals, { isHeld: true }), undefined)
    const many = decide(6, 10)
    match(holdOf(1, 10, {}, many.removals, { at: now + minutes(60), isHeld: true }) ?? '', '6 of 10')
    is(holdOf(1, 10, { maxPercent: 60 }, many.removals, { isHeld: true }), undefined)
    equal(decide(0, 10, {}, many.removals, { at: now + minutes(60), isHeld: true }), { hold: undefined, removals: undefined })
  })

  it('are as many when each is replaced under another name, one after the other', () => {
    const half = { since, total: 10, gone: 5 }
    match(holdOf(1, 11, {}, half, { at: now + minutes(1) }) ?? '', '6 of 10')
  })

  it('are not made few by those that take their places', () => {
    const first = decide(20, 20)
    match(first.hold ?? '', 'all 20')
    match(holdOf(20, 40, {}, first.removals, { at: now + minutes(60), isHeld: true }) ?? '', 'all 20')
    is(holdOf(20, 40, { allowEmpty: true }, first.removals, { at: now + minutes(1) }), undefined)
  })
})
