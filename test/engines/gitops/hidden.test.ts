import * as assert from 'uvu/assert'
import { hiding } from '../../../src/engines/gitops/preview/hidden.ts'
import { Failure } from '../../../src/std/index.ts'
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

  it('masks in sentences as API servers quote it, cut off by us or not, and short texts as whole words only', () => {
    const hide = hiding(new Set(['line "one"\nline two\n', 'hunter2-long', '42']))
    const said: [string, string][] = [
      ['Invalid value: "line \\"one\\"\\nline two\\n": no', 'Invalid value: "***": no'],
      ['starts with line two', 'starts with ***'],
      ['Invalid value: hunter2-l…', 'Invalid value: ***…'],
      ['replicas: 42, commit 0a42b', 'replicas: ***, commit 0a42b'],
    ]
    for (const [text, shown] of said) assert.is(hide.text(text), shown)
  })

  it('shows nothing at all where there is more to mask than can be looked for', () => {
    const hide = hiding(new Set([Array.from({ length: 3000 }, (_, at) => `line-${at}`).join('\n')]))
    assert.is(hide.text('ConfigMap a is not there'), '***')
    assert.is(hide.value({ a: 1 }), '***')
    assert.match(String(hide.failure(new Failure('invalid', 'label hunter2'))), '***')
  })

  it('masks failures down to their causes, and leaves others as they are', () => {
    const hide = hiding(new Set(['hunter2']))
    const other = new Failure('conflict', 'somebody else')
    assert.is(hide.failure(other), other)
    const cause = new Failure('invalid', 'label hunter2')
    const hidden = hide.failure(new Failure('unavailable', 'no', { cause, retryAfter: 5, remedy: 'not hunter2' }))
    assert.instance(hidden, Failure)
    const { code, remedy, retryAfter, cause: inner } = Failure.from(hidden)
    assert.equal([code, remedy, retryAfter, inner instanceof Error && inner.message], ['unavailable', 'not ***', 5, 'label ***'])
  })

  it('leaves everything as it is where nothing is secret', () => {
    for (const [why, value] of TABLE) assert.equal(hiding().value(value), value, why)
  })
})
