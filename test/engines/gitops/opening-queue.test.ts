import { equal, is, ok } from 'uvu/assert'
import { createOpeningQueue } from '../../../src/engines/gitops/watch/opening-queue.ts'
import { hours, seconds } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'

function given() {
  const clock = steppedClock()
  const opened: number[] = []
  const queue = createOpeningQueue<number>(clock, async (entry) => void opened.push(entry))
  const add = (count: number) => {
    for (let n = 0; n < count; n++) queue.add(n)
  }
  return { clock, opened, queue, add }
}

describe('what waits for a calm moment', (it) => {
  it('is opened at once when nothing is written, in order', async () => {
    const { clock, opened, add } = given()
    add(100)
    await clock.step(1)
    equal(
      opened,
      Array.from({ length: 100 }, (_, n) => n),
    )
  })

  it('waits while something is written, and a moment longer', async () => {
    const { clock, opened, queue, add } = given()
    const release = queue.beginWrite()
    add(3)
    await clock.step(seconds(30))
    is(opened.length, 0)
    release()
    await clock.step(100)
    is(opened.length, 0)
    await clock.step(300)
    is(opened.length, 3)
  })

  it('has its turn after a minute of writing, but only some each second', async () => {
    const { clock, opened, queue, add } = given()
    const release = queue.beginWrite()
    add(1000)
    await clock.step(seconds(59))
    is(opened.length, 0)
    for (let second = 0; second < 11; second++) await clock.step(seconds(1))
    ok(opened.length >= 100 && opened.length <= 200, `${opened.length} in ten seconds`)
    release()
    for (let second = 0; second < 2; second++) await clock.step(seconds(1))
    is(opened.length, 1000)
  })

  it('waits no longer because the clock was set back', async () => {
    const { clock, opened, queue, add } = given()
    queue.beginWrite()()
    add(3)
    await clock.step(100)
    clock.setBack(hours(2))
    await clock.step(200)
    is(opened.length, 3)
  })

  it('opens nothing and leaves no timer when it is closed', async () => {
    const { clock, opened, queue, add } = given()
    queue.beginWrite()
    add(20)
    await clock.step(100)
    queue.close()
    await clock.step(1)
    equal([opened.length, clock.waiting()], [0, 0])
    add(1)
    await clock.step(seconds(1))
    equal([opened.length, clock.waiting()], [0, 0])
  })
})
