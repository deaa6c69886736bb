import { is } from 'uvu/assert'
import { createLooks } from '../../../src/kas/kubernetes-api/looks.ts'
import { pause, seconds } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'

/** Looks that take so many milliseconds each, and whose they are when they begin. */
function given(takes: number) {
  const clock = steppedClock()
  const looks = createLooks(clock)
  const begun: string[] = []
  const look = (namespace: string) => {
    void looks(namespace, () => {
      begun.push(namespace)
      return pause(clock, takes)
    })
  }
  return { clock, begun, look }
}

describe('kas: how often rights are looked for again', (it) => {
  it('is as often as something changes, while that takes little time', async () => {
    const { clock, begun, look } = given(10)
    for (let at = 0; at < 100; at++) look('evil')
    await clock.step(seconds(1.2))
    is(begun.length, 100)
  })

  it('is a tenth of the time for the agents of one namespace, after five seconds of it, and as before for others', async () => {
    const { clock, begun, look } = given(500)
    for (let at = 0; at < 100; at++) look('evil')
    await clock.step(seconds(10))
    const before = begun.length
    await clock.step(seconds(60))
    is(begun.length - before, 12)
    look('team-a')
    await clock.step(1)
    is(begun.at(-1), 'team-a')
  })
})
