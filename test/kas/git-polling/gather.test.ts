import * as assert from 'uvu/assert'
import { gather } from '../../../src/kas/git-polling/gather.ts'
import { createTurnstile, Failure } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

interface File {
  name: string
  size: number
}

const file = (name: string, size = 1): File => ({ name, size })
const textOf = (contents: Uint8Array[]): string[] => contents.map((content) => Buffer.from(content).toString())
const wanted = new AbortController().signal

const passing = (width: number) => {
  const turns = createTurnstile({ width })
  return (work: () => Promise<void>) => turns.pass('', work)
}

describe('reading for many streams', (it) => {
  /** What each process was asked to read. */
  let runs: string[][] = []
  it.beforeEach(() => {
    runs = []
  })
  const reader = ({ width = 1, most = 100 } = {}, fails: (name: string) => boolean = () => false) =>
    gather<File>({
      pass: passing(width),
      most,
      async read(files) {
        runs.push(files.map(({ name }) => name))
        const bad = files.find(({ name }) => fails(name))
        if (bad) throw new Failure('internal', `cannot read ${bad.name}`)
        return files.map(({ name }) => Buffer.from(`content of ${name}`))
      },
    })

  it('one process reads what many ask for at once, and each gets its own', async () => {
    const read = reader()
    const [a, b, c] = await Promise.all([read([file('a'), file('b')], wanted), read([], wanted), read([file('c')], wanted)])
    assert.equal(runs, [['a', 'b', 'c']])
    assert.equal([a, b, c].map(textOf), [['content of a', 'content of b'], [], ['content of c']])
  })

  it('what does not fit goes into the next process, and who wants more than fits has one alone', async () => {
    const read = reader({ most: 10 })
    const asked = [file('a', 6), file('b', 6), file('c', 4), file('large', 50), file('d')]
    const got = await Promise.all(asked.map((one) => read([one], wanted)))
    assert.equal(runs, [['a'], ['b', 'c'], ['large'], ['d']])
    assert.equal(
      got.flatMap(textOf),
      ['a', 'b', 'c', 'large', 'd'].map((name) => `content of ${name}`),
    )
  })

  it('several processes run at once where more are allowed', async () => {
    const gate = Promise.withResolvers<void>()
    let running = 0
    let most = 0
    const read = gather<File>({
      pass: passing(3),
      most: 1,
      async read(files) {
        most = Math.max(most, ++running)
        if (running === 3) gate.resolve()
        await gate.promise
        running--
        return files.map(() => Buffer.from(''))
      },
    })
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => read([file(name)], wanted)))
    assert.is(most, 3)
  })

  it('a failure is told to all whom it concerns, and to nobody else', async () => {
    const read = reader({ most: 2 }, (name) => name === 'b')
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((name) => read([file(name)], wanted)))
    assert.equal(
      outcomes.map(({ status }) => status),
      ['rejected', 'rejected', 'fulfilled'],
    )
  })

  it('nothing is read for who has hung up', async () => {
    const read = reader()
    const ending = new AbortController()
    const gone = read([file('a')], ending.signal).catch((thrown: unknown) => thrown)
    const other = read([file('b')], wanted)
    ending.abort()
    const failure = await gone
    assert.ok(failure instanceof Failure && failure.code === 'cancelled')
    assert.equal(textOf(await other), ['content of b'])
    assert.equal(runs, [['b']])
  })
})
