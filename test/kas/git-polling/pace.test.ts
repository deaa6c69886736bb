import { is, ok } from 'uvu/assert'
import { createPace } from '../../../src/kas/git-polling/pace.ts'
import { seconds } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'

const BUSY = new Set(['busy'])

describe('the pace of looks at Git servers', (it) => {
  it('lets a namespace begin with a hundred, and then each has its turn', () => {
    const pace = createPace(steppedClock())
    for (let look = 0; look < 100; look++) is(pace(BUSY), 0)
    const turns = Array.from({ length: 3 }, () => pace(BUSY))
    is(turns.join(), '200,400,600')
  })

  it('delays nobody else, also not who follows the same', () => {
    const pace = createPace(steppedClock())
    for (let look = 0; look < 500; look++) pace(BUSY)
    is(pace(new Set(['busy', 'calm'])), 0)
    is(pace(new Set(['calm'])), 0)
    ok(pace(BUSY) > seconds(60))
  })

  it('is as before after a quiet time, and counts nothing for nobody', async () => {
    const clock = steppedClock()
    const pace = createPace(clock)
    for (let look = 0; look < 200; look++) pace(BUSY)
    await clock.step(seconds(40))
    is(pace(BUSY), 0)
    is(pace(new Set()), 0)
  })
})
