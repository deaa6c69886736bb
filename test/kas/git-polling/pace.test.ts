import { equal, is } from 'uvu/assert'
import { createPace, type Turn } from '../../../src/kas/git-polling/pace.ts'
import { seconds } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'

const never = new AbortController().signal

function given() {
  const clock = steppedClock()
  const pace = createPace(clock)
  const looked: string[] = []
  const look = (name: string, namespaces = ['busy'], turn: Partial<Turn> = {}) =>
    void pace.turn(new Set(namespaces), { isUrgent: false, signal: never, ...turn }).then(() => looked.push(name))
  const many = (count: number) => {
    for (let at = 0; at < count; at++) look('many')
  }
  return { clock, looked, look, many }
}

describe('the pace of looks at Git servers', (it) => {
  it('lets a namespace begin with a thousand, and then each has its turn, who is waited for before the others', async () => {
    const { clock, looked, look, many } = given()
    many(1000)
    await clock.step(0)
    is(looked.length, 1000)
    for (const name of ['a', 'b']) look(name)
    look('poked', ['busy'], { isUrgent: true })
    await clock.step(seconds(0.1))
    equal(looked.slice(1000), ['poked'])
    await clock.step(seconds(0.2))
    equal(looked.slice(1000), ['poked', 'a', 'b'])
    is(clock.waiting(), 0)
  })

  it('delays nobody else, also not who follows the same', async () => {
    const { clock, looked, look, many } = given()
    many(2000)
    look('shared', ['busy', 'calm'])
    look('calm', ['calm'])
    await clock.step(0)
    equal(looked.slice(1000), ['shared', 'calm'])
  })

  it('gives the turn to the first of several namespaces that has one, once', async () => {
    const { clock, looked, look, many } = given()
    many(1100)
    for (let at = 0; at < 1000; at++) look('other', ['other'])
    look('shared', ['busy', 'other'])
    await clock.step(seconds(0.1))
    equal(looked.slice(2000), ['many', 'shared'])
    await clock.step(seconds(20))
    is(looked.filter((name) => name === 'shared').length, 1)
    is(looked.length, 1100 + 1000 + 1)
    is(clock.waiting(), 0)
  })

  it('takes no turn for who has left the line', async () => {
    const { clock, looked, look, many } = given()
    many(1000)
    const leaving = new AbortController()
    look('left', ['busy'], { signal: leaving.signal })
    look('stays')
    leaving.abort()
    await clock.step(seconds(0.1))
    equal(looked.slice(1000), ['left', 'stays'])
  })

  it('is as before after a quiet time, and takes nothing for nobody', async () => {
    const { clock, looked, look, many } = given()
    many(1000)
    await clock.step(seconds(100))
    look('nobody', [])
    many(1000)
    await clock.step(0)
    is(looked.length, 2001)
  })
})
