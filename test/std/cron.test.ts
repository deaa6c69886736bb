import * as assert from 'uvu/assert'
import { type Cron, lastMatch, nextMatch, parseCron, timeZoneOf } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'

const cron = (text: string, zone?: string): Cron => {
  const parsed = parseCron(text, zone)
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
  ['0 0 29 2 */7', '2033-01-01T00:00:00', 'UTC', '2060-02-29T00:00'],
  ['0 0 13 * */5', '2030-01-01T00:00:00', 'UTC', '2030-01-13T00:00'],
  ['0 0 * * fri/2', '2030-01-04T00:00:00', 'UTC', '2030-01-06T00:00'],
  ['0 0 * * sat-sun', '2030-01-05T00:00:00', 'UTC', '2030-01-06T00:00'],
  ['30 2 * * *', '2030-03-30T12:00:00', 'Europe/Berlin', '2030-04-01T00:30'],
  ['30,30 2 * * *', '2030-03-30T12:00:00', 'Europe/Berlin', '2030-04-01T00:30'],
  ['30 2 * * *', '2030-10-27T00:30:00', 'Europe/Berlin', '2030-10-27T01:30'],
  ['* * * 4 *', '2030-01-01T00:00:00', 'Antarctica/Troll', '2030-03-31T22:00'],
  ['@daily', '2018-11-03T12:00:00', 'America/Sao_Paulo', '2018-11-05T02:00'],
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
  ['* * L * *', /day of the month: "L" is not between 1 and 31/],
  ['* * 15W * *', /day of the month: "15W"/],
  ['* * LW * *', /day of the month/],
  ['* * ? * *', /day of the month/],
  ['* * * 0 *', /month: "0" is not between 1 and 12/],
  ['* * * 1,feb,mon *', /month: "mon"/],
  ['* * * * fri#2', /day of the week/],
  ['* * * * friL', /day of the week/],
  ['* * * * 5L', /day of the week/],
  ['* * * * +mon', /day of the week/],
  ['* * * * */9', /day of the week: "\*\/9" has no meaning between 0 and 7/],
  ['60/5 * * * *', /minute/],
  ['* 24/2 * * *', /hour: "24\/2" has no meaning between 0 and 23/],
  ['* * 32/1 * *', /day of the month/],
  ['* * * 13/2 *', /month/],
  ['/5 * * * *', /minute/],
  ['*, * * * *', /minute/],
  ['0 0 12 1 1 *', /has 6 fields/],
  ['@reboot', /has 1 fields/],
  ['2030-01-01T00:00:00', /has 1 fields/],
  ['2030-01-01T00:00 * * * *', /minute/],
]

describe('cron', (it) => {
  for (const [text, from, zone, expected] of NEXT) {
    it(`finds ${expected ?? 'nothing'} after ${from} for ${text} in ${zone}`, () => {
      const found = nextMatch(cron(text, zone), at(from))
      assert.is(iso(found), expected)
      if (found !== undefined) assert.is(lastMatch(cron(text, zone), found + 59_000, at(from)), found)
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

  it('looks back over a hole of half an hour', () => {
    const first = cron('* 1 * * *', 'Australia/Lord_Howe')
    assert.is(iso(lastMatch(first, at('2033-10-01T19:30:30'), at('2033-09-01T00:00:00'))), '2033-10-01T15:29')
  })

  it('knows time zones in any case, and those that there are', () => {
    assert.is(timeZoneOf('europe/BERLIN'), 'Europe/Berlin')
    assert.is(timeZoneOf('Mars/Olympus'), undefined)
    assert.is(timeZoneOf(''), undefined)
  })

  it('finds every match of a month by steps back that it finds by steps ahead', () => {
    for (const zone of ['UTC', 'America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe']) {
      const every = cron('17 3,23 * * *', zone)
      const [from, to] = [at('2030-03-05T00:00:00'), at('2030-04-10T00:00:00')]
      const ahead: number[] = []
      for (let time = nextMatch(every, from); time !== undefined && time < to; time = nextMatch(every, time)) ahead.push(time)
      const back: number[] = []
      for (let time = lastMatch(every, to, from); time !== undefined; time = lastMatch(every, time - 60_000, from))
        back.unshift(time)
      assert.equal(ahead.map(iso), back.map(iso), zone)
      assert.ok(ahead.length >= 71, `${zone}: ${ahead.length}`)
    }
  })
})
