import * as assert from 'uvu/assert'
import { openingAt, rememberedOpenings } from '../../../src/operator/gitops-deployment/schedule/windows.ts'
import { describe } from '../../support/suite.ts'

const at = (text: string) => Date.parse(`2030-01-${text}Z`)
const allow = (schedule: string, duration: string, timeZone?: string) =>
  ({ kind: 'Allow', schedule, duration, ...(timeZone && { timeZone }) }) as const
const deny = (schedule: string, duration: string) => ({ kind: 'Deny', schedule, duration }) as const

describe('sync windows', (it) => {
  it('are always open when there are none', () => {
    assert.equal(openingAt(at('01T12:00'), undefined), { isOpen: true, until: undefined })
  })

  it('open and close as the schedule says', () => {
    const night = [allow('0 22 * * *', '2h')]
    assert.equal(openingAt(at('01T21:59'), night), { isOpen: false, until: at('01T22:00') })
    assert.equal(openingAt(at('01T22:00'), night), { isOpen: true, until: at('02T00:00') })
    assert.equal(openingAt(at('01T23:59:59.999'), night), { isOpen: true, until: at('02T00:00') })
    assert.equal(openingAt(at('02T00:00'), night), { isOpen: false, until: at('02T22:00') })
  })

  it('are open outside of what is denied', () => {
    const noon = [deny('0 12 * * *', '1h')]
    assert.equal(openingAt(at('01T11:00'), noon), { isOpen: true, until: at('01T12:00') })
    assert.equal(openingAt(at('01T12:30'), noon), { isOpen: false, until: at('01T13:00') })
  })

  it('let Deny win, and tell when it really opens', () => {
    const both = [allow('0 8 * * *', '10h'), deny('0 8 * * *', '1h'), deny('30 8 * * *', '1h30m')]
    assert.equal(openingAt(at('01T07:00'), both), { isOpen: false, until: at('01T10:00') })
    assert.equal(openingAt(at('01T10:00'), both), { isOpen: true, until: at('01T18:00') })
  })

  it('stay open where windows meet', () => {
    const always = [allow('0 * * * *', '1h')]
    assert.is(openingAt(at('01T11:30'), always).isOpen, true)
  })

  it('keep the time of their zone', () => {
    assert.is(openingAt(at('01T21:30'), [allow('0 22 * * *', '2h', 'Europe/Berlin')]).isOpen, true)
  })

  it('name the field of a schedule or a zone that makes no sense', () => {
    assert.throws(() => openingAt(0, [allow('61 * * * *', '1h')]), /spec\.syncWindows\[0\]\.schedule: "61 \* \* \* \*" minute/)
    assert.throws(() => openingAt(0, [allow('* * * * *', '1h', 'Mars/Base')]), /timeZone: there is no time zone Mars\/Base/)
  })

  it('open when they really do, however much opens and closes before that', () => {
    const rarely = [allow('0 22 1 3 *', '2h'), deny('*/5 * * * *', '1m'), deny('2-59/7 * * * *', '30s')]
    assert.equal(openingAt(at('01T12:00'), rarely), { isOpen: false, until: Date.parse('2030-03-01T22:01:00Z') })
    const often = [...Array.from({ length: 12 }, (_, minute) => allow(`${minute}-59/12 * * * *`, '3h')), deny('0 9 7 * *', '1h')]
    assert.is(openingAt(at('07T05:30'), often).until, at('07T09:00'))
  })

  it('are looked for so often where they follow one another without end', () => {
    assert.equal(openingAt(at('01T12:30'), [deny('0 * * * *', '1h')]), { isOpen: false, until: at('01T20:00') })
  })
})

describe('sync windows that are remembered', (it) => {
  const counted = () => {
    const asked: number[] = []
    const find = rememberedOpenings((now, written) => {
      asked.push(now)
      return openingAt(now, written)
    })
    return { asked, find }
  }
  const night = () => [allow('0 22 * * *', '2h')]

  it('are found out about once until they open or close', () => {
    const { asked, find } = counted()
    for (const time of ['01T12:00', '01T12:01', '01T21:59:59.999'])
      assert.equal(find(at(time), night()), { isOpen: false, until: at('01T22:00') })
    assert.is(asked.length, 1)
    for (const time of ['01T22:00', '01T23:59']) assert.is(find(at(time), night()).isOpen, true)
    assert.is(asked.length, 2)
    find(at('01T23:59'), [allow('0 22 * * *', '1h')])
    assert.is(asked.length, 3)
  })

  it('are found out about again when the clock was set back', () => {
    const { asked, find } = counted()
    assert.is(find(at('01T23:00'), night()).isOpen, true)
    assert.is(find(at('01T21:00'), night()).isOpen, false)
    assert.is(asked.length, 2)
  })

  it('stay as they are where nothing ever changes', () => {
    const { asked, find } = counted()
    for (const time of ['01T12:00', '31T12:00']) assert.is(find(at(time), [allow('0 0 31 4 *', '1h')]).until, undefined)
    assert.is(asked.length, 1)
  })
})
