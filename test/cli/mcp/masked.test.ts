import { equal, is } from 'uvu/assert'
import { masked } from '../../../src/cli/mcp/masked.ts'
import { Failure } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

const said = (message: string, ...values: string[]) => masked(new Failure('invalid', message), values).message

const CASES: [why: string, message: string, values: string[], told: string][] = [
  ['one that begins another', 'no hunter2-prod-key', ['hunter2', 'hunter2-prod-key'], 'no ***'],
  ['as JSON and Go quote it', 'Invalid value: "a\\"b\\\\c\\td"', ['a"b\\c\td'], 'Invalid value: "***"'],
  ['as Go quotes control characters', 'Invalid value: "key\\x01\\a\\x7f-x"', ['key\u0001\u0007\u007f-x'], 'Invalid value: "***"'],
  ['with its lines as one', 'Invalid value: "first\\nsecond"', ['first\nsecond'], 'Invalid value: "***"'],
  ['line by line', 'line 1: first, line 2: second', ['first\r\n  second'], 'line 1: ***, line 2: ***'],
  ['a short one that is quoted', 'a value "a" or `a` is bad', ['a'], 'a value "***" or `***` is bad'],
  ['its beginning before a cut', 'Invalid value: "very-secr… and more', ['very-secret-value'], 'Invalid value: "***… and more'],
  ['with the mark of a cut in it', 'Invalid value: "very…secret"', ['very…secret'], 'Invalid value: "***"'],
  ['an empty one', 'Invalid value: ""', [''], 'Invalid value: ""'],
]

describe('values of variables in what a creation fails with', (it) => {
  it('are masked however they are written', () => {
    for (const [why, message, values, told] of CASES) is(said(message, ...values), told, why)
  })

  it('are masked in its remedy, too, and its code and reason stay', () => {
    const failure = new Failure('conflict', 'no', { remedy: 'Leave very-secret-value out.', reason: 'RefNotFound' })
    const { code, reason, remedy } = masked(failure, ['very-secret-value'])
    equal([code, reason, remedy], ['conflict', 'RefNotFound', 'Leave *** out.'])
  })
})
