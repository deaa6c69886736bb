import * as assert from 'uvu/assert'
import { durationOf } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'

describe('a duration', (it) => {
  it('is the sum of its hours, minutes and seconds, in milliseconds', () => {
    assert.equal(['20s', '1m30s', '1h30m', '24h'].map(durationOf), [20_000, 90_000, 5_400_000, 86_400_000])
  })
})
