import { is } from 'uvu/assert'
import { Failure, sayFailure } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'

describe('a failure in words', (it) => {
  it('ends its message before the remedy begins, and only once', () => {
    const say = (message: string) => sayFailure(new Failure('invalid', message, { remedy: 'Correct the file.' }))
    is(say('there is no key gitop'), 'there is no key gitop. Correct the file.')
    is(say('did you mean gitops?'), 'did you mean gitops? Correct the file.')
    is(say('it is gone.'), 'it is gone. Correct the file.')
    is(sayFailure(new Failure('invalid', 'it is gone')), 'it is gone')
  })
})
