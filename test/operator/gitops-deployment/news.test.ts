import * as assert from 'uvu/assert'
import { type Notification, newsIn, type Result, resultFor } from '../../../src/operator/gitops-deployment/notify/news.ts'
import {
  type CommitOutcome,
  type LastTrouble,
  outcomeAfter,
  outcomeOf,
  troubleAfter,
} from '../../../src/operator/gitops-deployment/status/outcome.ts'
import { minutes, timestamp } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

const one: CommitOutcome = { revision: 'a', result: 'Succeeded' }
const failed: CommitOutcome = { revision: 'a', result: 'Failed' }
const next: CommitOutcome = { ...one, revision: 'b' }
const BEGAN = '2030-01-01T00:00:00Z'
const ENDED = '2030-01-01T00:05:00Z'
const open: LastTrouble = { revision: 'a', since: BEGAN }
const over: LastTrouble = { ...open, until: ENDED }

describe('news', (it) => {
  const resultsIn = (...[before, after]: Parameters<typeof newsIn>) => newsIn(before, after)?.results

  it('is an outcome that was not there before', () => {
    assert.equal(newsIn({}, { lastOutcome: one }), { results: ['Succeeded'], commit: one, since: undefined })
    assert.is(newsIn({ lastOutcome: one }, { lastOutcome: one }), undefined)
    assert.is(newsIn({ lastOutcome: one }, {}), undefined)
    assert.equal(resultsIn({ lastOutcome: one }, { lastOutcome: next }), ['Succeeded'])
    assert.equal(resultsIn({ lastOutcome: one }, { lastOutcome: { ...next, result: 'Failed' } }), ['Failed'])
  })

  it('is that objects fell ill, and that they are well again, of the commit that they are of', () => {
    const written = { ...one, author: 'Ann', subject: 'Mend it' }
    assert.equal(newsIn({ lastOutcome: written }, { lastOutcome: written, lastTrouble: open }), {
      results: ['Degraded'],
      commit: written,
      since: BEGAN,
    })
    assert.is(newsIn({ lastOutcome: one, lastTrouble: open }, { lastOutcome: one, lastTrouble: open }), undefined)
    assert.equal(resultsIn({ lastOutcome: one, lastTrouble: open }, { lastOutcome: one, lastTrouble: over }), ['Recovered'])
    const later = { lastOutcome: { ...next, result: 'Failed' as const }, lastTrouble: over }
    assert.equal(newsIn({ ...later, lastTrouble: open }, later)?.commit, { revision: 'a' })
  })

  it('is nothing when it began and was over before anybody looked', () => {
    assert.is(newsIn({ lastOutcome: one }, { lastOutcome: one, lastTrouble: over }), undefined)
  })

  it('is a recovery too when a commit succeeds after one that failed, or ends a trouble', () => {
    assert.equal(resultsIn({ lastOutcome: failed }, { lastOutcome: next }), ['Succeeded', 'Recovered'])
    assert.equal(resultsIn({ lastOutcome: failed }, { lastOutcome: one }), ['Succeeded', 'Recovered'])
    assert.equal(resultsIn({ lastOutcome: one, lastTrouble: open }, { lastOutcome: next, lastTrouble: over }), [
      'Succeeded',
      'Recovered',
    ])
  })

  const receiver = (outcomes?: Result[]): Notification => ({
    kind: 'Webhook',
    secretRef: { name: 's' },
    ...(outcomes && { outcomes }),
  })
  for (const [outcomes, results, told] of [
    [undefined, ['Succeeded', 'Recovered'], 'Succeeded'],
    [undefined, ['Failed'], 'Failed'],
    [undefined, ['Degraded'], undefined],
    [undefined, ['Recovered'], undefined],
    [['Degraded', 'Recovered'], ['Succeeded', 'Recovered'], 'Recovered'],
    [['Degraded', 'Recovered'], ['Succeeded'], undefined],
    [['Recovered', 'Succeeded'], ['Succeeded', 'Recovered'], 'Succeeded'],
  ] as [Result[] | undefined, Result[], Result | undefined][])
    it(`of ${results.join(' and ')} is told as ${told ?? 'nothing'} to who wants ${outcomes?.join(' and ') ?? 'the usual'}`, () => {
      assert.is(resultFor(receiver(outcomes), { results, commit: one }), told)
    })
})

describe('the outcome of a commit', (it) => {
  it('is not that it fails when it has succeeded', () => {
    assert.is(newsIn({ lastOutcome: one }, { lastOutcome: outcomeAfter(one, failed) }), undefined)
    assert.equal(outcomeAfter(one, { ...failed, revision: 'b' }), { ...failed, revision: 'b' })
  })

  it('keeps who wrote it, though that is not known any more', () => {
    assert.equal(outcomeAfter({ ...failed, author: 'Ann' }, one), { ...one, author: 'Ann' })
  })

  it('has the words of strangers on one line each, short, and with nothing that hides or moves', () => {
    const { author, subject } = outcomeOf({ commitId: 'a', author: ' A\u202en\u0007n\n', subject: 'Mend\nit\u001b[2J' }, 'Failed')
    assert.equal([author, subject], ['A\\u202en\\u0007n', 'Mend it\\u001b[2J'])
    const long = outcomeOf({ commitId: 'a', author: '🎈'.repeat(500), subject: '\u0000'.repeat(5000) }, 'Failed')
    assert.is(long.author, `${'🎈'.repeat(63)}\ufffd…`)
    assert.is(long.subject?.length, 256)
    assert.equal(outcomeOf({ commitId: 'a' }, 'Failed'), { revision: 'a', result: 'Failed' })
  })
})

describe('a trouble', (it) => {
  const at = (minute: number) => timestamp(Date.parse(BEGAN) + minutes(minute))
  const after = (before: LastTrouble | undefined, health: string, minute: number, outcome: CommitOutcome | undefined = one) =>
    troubleAfter(before, { revision: 'a', health, outcome, now: at(minute) })

  it('begins when what had succeeded is Degraded, and is over when all is Healthy', () => {
    assert.equal(after(undefined, 'Degraded', 0), open)
    for (const health of ['Progressing', 'Missing', 'Unknown', 'Suspended', 'Degraded'])
      assert.is(after(open, health, 1), open, health)
    assert.equal(after(open, 'Healthy', 5), over)
    assert.is(after(over, 'Healthy', 6), over)
  })

  it('is nothing that happens while a commit is on its way, or after it failed', () => {
    for (const health of ['Progressing', 'Missing', 'Unknown', 'Suspended', 'Healthy'])
      assert.is(after(undefined, health, 0), undefined, health)
    assert.is(after(undefined, 'Degraded', 0, failed), undefined)
    assert.is(after(undefined, 'Degraded', 0, next), undefined)
    assert.is(troubleAfter(undefined, { revision: 'a', health: 'Degraded', outcome: undefined, now: BEGAN }), undefined)
  })

  it('comes once in ten minutes at most, and in the end where it lasts', () => {
    let trouble: LastTrouble | undefined
    const told = new Set<string>()
    for (let minute = 0; minute < 60; minute++) {
      trouble = after(trouble, minute % 2 === 0 ? 'Degraded' : 'Healthy', minute)
      if (trouble) told.add(trouble.since)
    }
    assert.equal([...told], [0, 10, 20, 30, 40, 50].map(at))
    assert.is(after(over, 'Degraded', 9), over)
    assert.equal(after(over, 'Degraded', 10), { revision: 'a', since: at(10) })
  })
})
