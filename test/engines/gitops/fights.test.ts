import * as assert from 'uvu/assert'
import { keyOfId } from '../../../src/engines/apply/object-id.ts'
import { createFights, sayFight } from '../../../src/engines/gitops/watch/fights.ts'
import { minutes, seconds } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'

const id = { group: '', kind: 'ConfigMap', namespace: 'shop', name: 'a' }
const change = { drift: ['/data/x'], by: ['other-operator'] }

describe('repairs of one object', (it) => {
  it('are no fight while there are five in a minute', async () => {
    const clock = steppedClock()
    const fights = createFights(clock)
    for (let repair = 0; repair < 20; repair++) {
      fights.repaired(id, change)
      await clock.step(seconds(12))
    }
    assert.equal([fights.isBackingOff(keyOfId(id)), fights.current()], [false, []])
  })

  it('become a fight with the sixth, and are made ever more seldom', async () => {
    const clock = steppedClock()
    const fights = createFights(clock)
    for (let repair = 0; repair < 5; repair++) fights.repaired(id, change)
    assert.is(fights.isBackingOff(keyOfId(id)), false)
    const backoffs: number[] = []
    for (let repair = 0; repair < 9; repair++) {
      fights.repaired(id, change)
      const until = fights.current()[0]?.until ?? 0
      backoffs.push((until - clock.now()) / 1000)
      assert.is(fights.isBackingOff(keyOfId(id)), true)
      await clock.step(until - clock.now())
      assert.is(fights.isBackingOff(keyOfId(id)), false)
    }
    assert.equal(backoffs, [10, 20, 40, 80, 160, 320, 600, 600, 600])
  })

  it('are forgotten when the other side has been quiet for twice as long as the last rest', async () => {
    const clock = steppedClock()
    const fights = createFights(clock)
    for (let repair = 0; repair < 6; repair++) fights.repaired(id, change)
    await clock.step(seconds(29))
    assert.is(fights.current().length, 1)
    await clock.step(seconds(2))
    assert.equal(fights.current(), [])
    await clock.step(minutes(1))
    for (let repair = 0; repair < 5; repair++) fights.repaired(id, change)
    assert.equal(fights.current(), [])
  })

  it('name the object, the other managers, the fields, and what to do', () => {
    const fights = createFights(steppedClock())
    for (let repair = 0; repair < 6; repair++) fights.repaired(id, { drift: ['/data/x'], by: [`manager-${repair % 2}`] })
    const [fight] = fights.current()
    assert.match(
      fight ? sayFight(fight) : '',
      /^ConfigMap shop\/a: manager-0, manager-1 changes \/data\/x again and again; it was set back 6 times.*spec\.ignore/,
    )
  })
})
