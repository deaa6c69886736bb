import { equal } from 'uvu/assert'
import { createTally } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'

describe('a tally', (it) => {
  it('sums what is added and taken away, by key and in all', () => {
    const tally = createTally()
    equal([tally.add('a', 2), tally.add('b', 3), tally.add('a', 5)], [2, 3, 7])
    equal([tally.of('a'), tally.of('b'), tally.of('c'), tally.sum], [7, 3, 0, 10])
    equal([tally.add('a', -7), tally.of('a'), tally.sum], [0, 0, 3])
  })
})
