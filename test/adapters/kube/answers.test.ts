import { equal, is, match, ok } from 'uvu/assert'
import { type Answers, createAnswers } from '../../../src/adapters/kube/index.ts'
import { hasMoreMarks } from '../../../src/adapters/kube/marks.ts'
import { splitLines } from '../../../src/adapters/kube/reading.ts'
import { Failure, isFailure } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const KIBIBYTE = 2 ** 10
const MEBIBYTE = 2 ** 20
const MOST = 8 * MEBIBYTE

describe('the memory for what strangers answer', (it) => {
  /** Answers of so many bytes that are being read, and those of them that may go on. */
  const read = (answers: Answers, ...tenants: string[]) => {
    const going: string[] = []
    const begun = tenants.map((tenant, at) => {
      const share = answers.open(tenant, MOST)
      const ending = new AbortController()
      const reading = share.grow(MEBIBYTE, ending.signal).then(() => going.push(`${tenant}${at}`))
      return { share, ending, reading }
    })
    return { going, begun }
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve))

  it('lets a small answer in, whoever holds the places for large ones', async () => {
    const answers = createAnswers()
    const { going } = read(answers, 'a', 'a', 'b', 'b', 'c', 'c', 'd')
    await settled()
    equal(going, ['a0', 'a1', 'b2', 'b3', 'c4', 'c5'])
    is(await answers.open('e', MOST).grow(100 * KIBIBYTE), false)
  })

  it('gives one tenant two places, and another one the next', async () => {
    const answers = createAnswers()
    const { going, begun } = read(answers, 'a', 'a', 'a', 'a', 'b')
    await settled()
    equal(going, ['a0', 'a1', 'b4'])
    begun[1]?.share.clear()
    await settled()
    equal(going, ['a0', 'a1', 'b4', 'a2'])
  })

  it('gives the place of one who left to nobody who has gone as well', async () => {
    const answers = createAnswers()
    const { going, begun } = read(answers, 'a', 'a', 'a', 'a')
    const left = begun[2]?.reading.catch((thrown: unknown) => thrown)
    begun[2]?.ending.abort(new Failure('cancelled', 'gone'))
    ok(isFailure(await left, 'cancelled'))
    begun[0]?.share.clear()
    begun[0]?.share.clear()
    await settled()
    equal(going, ['a0', 'a1', 'a3'])
    const late = read(answers, 'a')
    await settled()
    equal(late.going, [])
  })

  it('counts small answers together: when there are very many, they too need places', async () => {
    const answers = createAnswers()
    const grown = await Promise.all(Array.from({ length: 256 }, () => answers.open('a', MOST).grow(128 * KIBIBYTE)))
    equal(new Set(grown), new Set([false]))
    const [first, second, third] = [answers.open('b', MOST), answers.open('b', MOST), answers.open('b', MOST)]
    equal([await first.grow(1), await second.grow(1)], [true, true])
    const waiting = third.grow(1)
    first.clear()
    is(await waiting, true)
  })

  it('refuses what is too large', async () => {
    const share = createAnswers().open('a', MOST)
    const large = await share.grow(MOST + 1).catch((thrown: unknown) => thrown)
    ok(isFailure(large, 'too-large'))
    match(large.message, 'the answer has more than 8388608 bytes')
    is(large.reason, 'AnswerTooLarge')
    share.clear()
    is(await share.grow(MOST), true)
  })

  it('lets a tenant have answers parsed for a twentieth of the time, once it has had five seconds, and others for theirs', async () => {
    const clock = steppedClock()
    const answers = createAnswers(clock)
    const ready: string[] = []
    const ask = (tenant: string, signal?: AbortSignal) =>
      answers
        .open(tenant)
        .ready(signal)
        .then(() => ready.push(tenant))
    answers.open('a').spend(4990)
    await ask('a')
    answers.open('a').spend(1009)
    const ending = new AbortController()
    const [waiting, called] = [ask('a'), ask('a', ending.signal)]
    await ask('b')
    await clock.step(19_000)
    equal(ready, ['a', 'b'])
    ending.abort()
    await called
    await clock.step(2000)
    await waiting
    equal(ready, ['a', 'b', 'a', 'a'])
    is(clock.waiting(), 0)
  })

  it('reads on more slowly where there are very many lines, however short', async () => {
    const clock = steppedClock()
    const answers = createAnswers(clock)
    const ending = new AbortController()
    let chunks = 0
    const endless = async function* () {
      for (; !ending.signal.aborted; chunks++) yield Buffer.alloc(2 ** 16, '\n')
    }
    const bounds = { share: answers.open('a'), signal: ending.signal, hurry: () => () => undefined }
    const reading = (async () => {
      for await (const line of splitLines(endless(), bounds)) is(line, '')
    })()
    await eventually(() => clock.waiting() > 0)
    // Five seconds, at a microsecond for each.
    ok(chunks > 20 && chunks < 100, `${chunks} chunks`)
    const before = chunks
    await clock.step(10_000)
    await eventually(() => clock.waiting() > 0)
    ok(chunks > before && chunks < before + 20, `${chunks - before} chunks`)
    ending.abort()
    await reading
  })
})

const MARKS: [why: string, text: string, marks: number][] = [
  ['objects and lists', '{"a":[{},[]]}', 5],
  ['elements', '[1,2,"x",null]', 4],
  ['fields', '{"a":1,"b":2}', 2],
  ['nothing in strings', '"{[,"', 0],
  ['escaped quotes', String.raw`["{\"[,","\\",{}]`, 4],
  ['a string without end', '[1,"{{{{', 2],
]

describe('the marks of a JSON text', (it) => {
  it('are counted as a parser sees them', () => {
    for (const [why, text, marks] of MARKS) {
      const padded = text + ' '.repeat(10)
      ok(!hasMoreMarks(padded, marks), why)
      if (marks > 0) ok(hasMoreMarks(padded, marks - 1), why)
    }
  })
})
