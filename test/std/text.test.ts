import * as assert from 'uvu/assert'
import { beginningOf, harmlessLine, withoutEnd } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'

describe('a text', (it) => {
  it('loses given characters at its end', () => {
    assert.is(withoutEnd('https://host//', '/'), 'https://host')
    assert.is(withoutEnd('a-.-', '-.'), 'a')
    assert.is(withoutEnd('---', '-'), '')
    assert.is(withoutEnd('-a', '-'), '-a')
  })

  it('is cut where it gets too long', () => {
    assert.is(beginningOf('x'.repeat(4096)), 'x'.repeat(4096))
    assert.is(beginningOf('x'.repeat(4097)), `${'x'.repeat(4096)}…`)
  })

  it('of several lines becomes one', () => {
    assert.is(harmlessLine('one  \n\n  two\nthree'), 'one two three')
    assert.is(harmlessLine('  one  '), '  one  ')
    assert.is(harmlessLine('\n one \n'), ' one ')
  })
})
