import { equal, is } from 'uvu/assert'
import { ANSWER_TOO_LARGE } from '../../../src/adapters/kube/answers.ts'
import { createPageSize } from '../../../src/adapters/kube/page-limit.ts'
import { Failure } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

describe('the size of pages', (it) => {
  it('is small where objects are large, and grows again behind them', async () => {
    const ask = createPageSize(100)
    const sizes: number[] = []
    /** Ten objects of which two are too much, and two thousand small ones. */
    const answer = async (begin: number, limit: number) => {
      if (begin < 10 && limit > 1) throw new Failure('too-large', 'too much', { reason: ANSWER_TOO_LARGE })
      sizes.push(limit)
      return begin + limit
    }
    for (let at = 0; at < 2010; ) {
      const begin = at
      at = await ask((limit) => answer(begin, limit))
    }
    equal(
      sizes.slice(0, 10),
      Array.from({ length: 10 }, () => 1),
    )
    is(sizes.at(-1), 100)
    is(sizes.length < 80, true)
  })
})
