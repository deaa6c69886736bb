import * as assert from 'uvu/assert'
import { type Cron, lastMatch, nextMatch, parseCron } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'

const cron = (text: string): Cron => {
  const parsed = parseCron(text)
  if ('wrong' in parsed) throw new Error(`${text}: ${parsed.wrong}`)
  return parsed
}
const iso = (time: number | undefined) => (time === undefined ? undefined : new Date(time).toISOString().slice(0, 16))
const at = (text: string) => Date.parse(`${text}Z`)

/** A schedule, a moment, a zone, and the first matching minute after it. */
const NEXT: [string, string, string, string | undefined][] = [
  ['* * * * *', '2030-01-01T00:00:30', 'UTC', '2030-01-01T00:01'],
  ['0 22 * * *', '2030-01-01T22:00:00', 'UTC', '2030-01-02T22:00'],
  ['*/15 9-17 * * mon-fri', '2030-01-05T12:00:00', 'UTC', '2030-01-07T09:00'],
  ['5/20 * * * *', '2030-01-01T00:06:00', 'UTC', '2030-01-01T00:25'],
  ['0 0 29 2 *', '2030-01-01T00:00:00', 'UTC', '2032-02-29T00:00'],
  ['0 0 31 4 *', '2030-01-01T00:00:00', 'UTC', undefined],
  ['0 0 13 * fri', '2030-01-01T00:00:00', 'UTC', '2030-01-04T00:00'],
  ['0 0 1,15 jan,JUL *', '2030-01-15T00:00:00', 'UTC', '2030-07-01T00:00'],
  ['0 12 * * 7', '2030-01-01T00:00:00', 'UTC', '2030-01-06T12:00'],
  ['@weekly', '2030-01-01T00:00:00', 'UTC', '2030-01-06T00:00'],
  ['0 22 * * *', '2030-01-01T12:00:00', 'Europe/Berlin', '2030-01-01T21:00'],
  ['0 22 * * *', '2030-07-01T12:00:00', 'Europe/Berlin', '2030-07-01T20:00'],
  ['30 0 * * *', '2030-03-30T12:00:00', 'Europe/Berlin', '2030-03-30T23:30'],
  ['30 0 * * mon', '2030-03-31T12:00:00', 'Europe/Berlin', '2030-03-31T22:30'],
  ['30 2 31 3 *', '2030-03-01T00:00:00', 'Europe/Berlin', '2031-03-31T00:30'],
  ['30 23 * * *', '2030-01-01T00:00:00', 'Asia/Kathmandu', '2030-01-01T17:45'],
]

const WRONG: [string, RegExp][] = [
  ['* * * *', /has 4 fields/],
  ['60 * * * *', /minute: "60" is not between 0 and 59/],
  ['* 24 * * *', /hour/],
  ['* * 0 * *', /day of the month/],
  ['* * * 13 *', /month/],
  ['* * * * 8', /day of the week/],
  ['*/0 * * * *', /no meaning/],
  ['5-1 * * * *', /no range/],
  ['a * * * *', /minute: "a"/],
  ['1-2-3 * * * *', /no range/],
]

describe('cron', (it) => {
  for (const [text, from, zone, expected] of NEXT) {
    it(`finds ${expected ?? 'nothing'} after ${from} for ${text} in ${zone}`, () => {
      const found = nextMatch(cron(text), at(from), zone)
      assert.is(iso(found), expected)
      if (found !== undefined) assert.is(lastMatch(cron(text), found + 59_000, at(from), zone), found)
    })
  }

  for (const [text, wrong] of WRONG) {
    it(`refuses ${text}`, () => {
      const parsed = parseCron(text)
      assert.match('wrong' in parsed ? parsed.wrong : '', wrong)
    })
  }

  it('looks back only as far as it is told', () => {
    assert.is(lastMatch(cron('0 0 1 1 *'), at('2030-03-01T00:00:00'), at('2030-01-02T00:00:00')), undefined)
    assert.is(iso(lastMatch(cron('0 0 1 1 *'), at('2030-03-01T00:00:00'), at('2030-01-01T00:00:00'))), '2030-01-01T00:00')
  })

  it('finds every match of a month by steps back that it finds by steps ahead', () => {
    for (const zone of ['UTC', 'America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe']) {
      const every = cron('17 3,23 * * *')
      const [from, to] = [at('2030-03-05T00:00:00'), at('2030-04-10T00:00:00')]
      const ahead: number[] = []
      for (let time = nextMatch(every, from, zone); time !== undefined && time < to; time = nextMatch(every, time, zone))
        ahead.push(time)
      const back: number[] = []
      for (let time = lastMatch(every, to, from, zone); time !== undefined; time = lastMatch(every, time - 60_000, from, zone))
        back.unshift(time)
      assert.equal(ahead.map(iso), back.map(iso), zone)
      assert.ok(ahead.length >= 71, `${zone}: ${ahead.length}`)
    }
  })
})
