import { equal } from 'uvu/assert'
import { createKeyPair, keyPairFrom } from '../../../src/adapters/ssh/index.ts'
import { describe } from '../../support/suite.ts'

/** So many that one in three hundred that is wrong would be found. */
const MANY = 2000

describe('a key pair for SSH', (it) => {
  it('can be read by whoever has it, every time', () => {
    for (let at = 0; at < MANY; at++) {
      const made = createKeyPair()
      equal(keyPairFrom(made.secret).line, made.line)
    }
  })
})
