import { equal, is } from 'uvu/assert'
import { remembered, seconds } from '../../src/std/index.ts'
import { steppedClock } from '../support/clock.ts'
import { describe } from '../support/suite.ts'

function asked() {
  const clock = steppedClock()
  const questions: string[] = []
  const ask = async (question: string) => {
    questions.push(question)
    if (question === 'wrong') throw new Error('no answer')
    return `answer to ${question}`
  }
  return { clock, questions, answer: remembered(ask, (question) => question, clock, { fresh: seconds(10), most: 3 }) }
}

describe('remembered answers', (it) => {
  it('are the same for all who ask within their time, and for nobody after it', async () => {
    const { clock, questions, answer } = asked()
    equal(await Promise.all([answer('a'), answer('a')]), ['answer to a', 'answer to a'])
    await clock.step(9999)
    await answer('a')
    equal(questions, ['a'])
    await clock.step(1)
    await answer('a')
    equal(questions, ['a', 'a'])
  })

  it('get no younger by a clock that is set back', async () => {
    const { clock, questions, answer } = asked()
    await answer('a')
    clock.setBack(seconds(60))
    await answer('a')
    equal(questions, ['a', 'a'])
  })

  it('are not failures', async () => {
    const { questions, answer } = asked()
    const failures = [await answer('wrong').catch(String), await answer('wrong').catch(String)]
    equal(failures, ['Error: no answer', 'Error: no answer'])
    equal(questions, ['wrong', 'wrong'])
  })

  it('are so many at most: what was asked for longest ago goes', async () => {
    const { questions, answer } = asked()
    for (const question of ['a', 'b', 'c', 'a', 'd', 'a', 'b']) await answer(question)
    is(questions.join(' '), 'a b c d b')
  })
})
