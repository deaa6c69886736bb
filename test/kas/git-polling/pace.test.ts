import { equal, is } from 'uvu/assert'
import { createPace, type PollTurn } from '../../../src/kas/git-polling/pace.ts'
import { seconds } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'

function given() {
  const clock = steppedClock()
  const pace = createPace(clock)
  const looked: string[] = []
  const look = (name: string, namespaces = ['busy'], isUrgent = false): PollTurn => {
    const standing = pace.stand(namespaces, isUrgent)
    void standing.over.then(() => looked.push(name))
    return standing
  }
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
    look('poked', ['busy'], true)
    await clock.step(seconds(0.2))
    equal(looked.slice(1000), ['poked'])
    await clock.step(seconds(0.4))
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
    await clock.step(seconds(0.2))
    equal(looked.slice(2000), ['many', 'shared'])
    await clock.step(seconds(40))
    is(looked.filter((name) => name === 'shared').length, 1)
    is(looked.length, 1100 + 1000 + 1)
    is(clock.waiting(), 0)
  })

  it('takes no turn for who has left the line', async () => {
    const { clock, looked, look, many } = given()
    many(1000)
    const leaving = look('left')
    look('stays')
    leaving.leave()
    await clock.step(seconds(0.2))
    equal(looked.slice(1000), ['left', 'stays'])
  })

  it('keeps the places of who comes to stand in one more line', async () => {
    const { clock, looked, look, many } = given()
    many(1000)
    const first = look('first')
    many(5)
    for (let at = 0; at < 1000; at++) look('other', ['other'])
    first.join('other')
    await clock.step(seconds(0.2))
    is(looked.slice(2000).includes('first'), true)
    const joined = look('joined')
    joined.join('calm')
    await clock.step(0)
    is(looked.includes('joined'), true)
  })

  it('is as before after a quiet time, and takes nothing for nobody', async () => {
    const { clock, looked, look, many } = given()
    many(1000)
    await clock.step(seconds(200))
    look('nobody', [])
    many(1000)
    await clock.step(0)
    is(looked.length, 2001)
  })
})
