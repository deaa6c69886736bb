import * as assert from 'uvu/assert'
import { hiding } from '../../../src/engines/gitops/hidden.ts'
import { describe } from '../../support/suite.ts'

const TABLE: [why: string, value: unknown, shown: unknown][] = [
  ['a secret in a text', 'https://me:hunter2@x', 'https://me:***@x'],
  ['the longer of two that overlap', 'hunter2-long', '***'],
  ['a number that was a text', 42, '***'],
  ['another number', 43, 43],
  ['a word that became a boolean', true, '***'],
  ['wherever it stands', { a: ['hunter2'], b: { c: 'x' } }, { a: ['***'], b: { c: 'x' } }],
  ['nothing', undefined, undefined],
]

describe('hiding', (it) => {
  it('masks every value that came from a Secret', () => {
    const hide = hiding(new Set(['hunter2', 'hunter2-long', '42', 'True', '']))
    for (const [why, value, shown] of TABLE) assert.equal(hide.value(value), shown, why)
    assert.is(hide.text('spec.x: "hunter2" is no number'), 'spec.x: "***" is no number')
  })

  it('leaves everything as it is where nothing is secret', () => {
    for (const [why, value] of TABLE) assert.equal(hiding().value(value), value, why)
  })
})
