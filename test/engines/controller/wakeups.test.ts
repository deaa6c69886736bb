import { equal, is, throws } from 'uvu/assert'
import { createWakeups } from '../../../src/engines/controller/index.ts'
import { describe } from '../../support/suite.ts'

const SHOP = { namespace: 'team', name: 'shop' }

describe('wakeups', (it) => {
  it('keep what comes before the loop begins, and pass on the rest', () => {
    const wakeups = createWakeups()
    const woken: string[] = []
    wakeups.wake(SHOP)
    wakeups.wake(SHOP)
    wakeups.begin((key) => void woken.push(key), new AbortController().signal)
    equal(woken, ['team/shop'])
    wakeups.wake({ name: 'cluster-wide' })
    equal(woken, ['team/shop', 'cluster-wide'])
  })

  it('say when the loop has begun, and end with it', () => {
    const begun: boolean[] = []
    const ending = new AbortController()
    const wakeups = createWakeups(({ signal }) => void begun.push(signal.aborted))
    equal(begun, [])
    wakeups.begin(() => undefined, ending.signal)
    equal(begun, [false])
    is(wakeups.signal.aborted, false)
    ending.abort()
    is(wakeups.signal.aborted, true)
  })

  it('have ended before they begin where the loop has', () => {
    const wakeups = createWakeups()
    wakeups.begin(() => undefined, AbortSignal.abort())
    is(wakeups.signal.aborted, true)
  })

  it('are begun once', () => {
    const wakeups = createWakeups()
    wakeups.begin(() => undefined, new AbortController().signal)
    throws(() => wakeups.begin(() => undefined, new AbortController().signal), /begun twice/)
  })
})
