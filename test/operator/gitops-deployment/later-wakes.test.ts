import { equal, is } from 'uvu/assert'
import { createLaterWakes } from '../../../src/operator/gitops-deployment/watch/caches.ts'
import { seconds } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'

const shop = { namespace: 'team-a', name: 'shop' }
const blog = { namespace: 'team-a', name: 'blog' }

function given() {
  const clock = steppedClock()
  const start = clock.now()
  const end = new AbortController()
  const woken: [name: string, at: number][] = []
  const wake = ({ name }: { name: string }) => void woken.push([name, clock.now() - start])
  const wakeLater = createLaterWakes(wake, { clock, pace: seconds(1), signal: end.signal })
  return { clock, end, woken, wakeLater }
}

describe('wakes of deployments whose variables change', (it) => {
  it('come a second after the change, one for each deployment', async () => {
    const { clock, woken, wakeLater } = given()
    wakeLater(shop)
    wakeLater(blog)
    await clock.step(seconds(0.9))
    equal(woken, [])
    await clock.step(seconds(10))
    equal(woken, [
      ['shop', 1000],
      ['blog', 1000],
    ])
  })

  it('lose no change that comes while one is due: whoever read before it reads once more', async () => {
    const { clock, woken, wakeLater } = given()
    wakeLater(shop)
    await clock.step(seconds(0.9))
    wakeLater(shop)
    await clock.step(seconds(10))
    equal(woken, [
      ['shop', 1000],
      ['shop', 2000],
    ])
    wakeLater(shop)
    await clock.step(seconds(10))
    is(woken.length, 3)
  })

  it('come once a second, however often it changes', async () => {
    const { clock, woken, wakeLater } = given()
    for (let change = 0; change < 100; change++) {
      wakeLater(shop)
      await clock.step(seconds(0.1))
    }
    await clock.step(seconds(10))
    equal(
      woken.map(([, at]) => at),
      Array.from({ length: 11 }, (_, at) => (at + 1) * 1000),
    )
  })

  it('come no more when the operator stops', async () => {
    const { clock, end, woken, wakeLater } = given()
    wakeLater(shop)
    end.abort()
    await clock.step(seconds(10))
    equal([woken, clock.waiting()], [[], 0])
  })
})
