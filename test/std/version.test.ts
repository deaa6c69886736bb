import { is } from 'uvu/assert'
import { areTooFarApart } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'

const PAIRS = [
  ['0.1.0', '0.1.0', false],
  ['0.1.0', 'v0.1.9', false],
  ['0.1.0', '0.2.0-rc.1', false],
  ['0.3.0', '0.1.9', true],
  ['0.9.0', '0.10.0', false],
  ['1.0.0', '0.9.0', true],
  ['latest', '0.1.0', false],
  ['', '0.1.0', false],
] as const

describe('two versions', (it) => {
  for (const [one, other, expected] of PAIRS)
    it(`${one || 'of which one is unknown'} and ${other} ${expected ? 'are too far apart' : 'work together'}`, () => {
      is(areTooFarApart(one, other), expected)
      is(areTooFarApart(other, one), expected)
    })
})
