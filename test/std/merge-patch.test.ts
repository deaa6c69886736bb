import * as assert from 'uvu/assert'
import { mergePatch } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'

const TABLE: [why: string, from: Record<string, unknown>, to: Record<string, unknown>, patch: object | undefined][] = [
  ['nothing differs', { a: { b: [1] } }, { a: { b: [1] } }, undefined],
  ['a value', { a: 1, b: 1 }, { a: 2, b: 1 }, { a: 2 }],
  ['one that comes', {}, { a: { b: 1 } }, { a: { b: 1 } }],
  ['one that goes is null', { a: 1, b: { c: 1, d: 1 } }, { b: { d: 1 } }, { a: null, b: { c: null } }],
  ['one that is undefined goes, too', { a: 1 }, { a: undefined }, { a: null }],
  ['a list is written whole', { a: [1, 2] }, { a: [1, 3] }, { a: [1, 3] }],
  ['another sort of value', { a: { b: 1 } }, { a: 'x' }, { a: 'x' }],
  [
    'names of what every object has',
    { constructor: 'x' },
    JSON.parse('{"__proto__": "y"}'),
    JSON.parse('{"constructor": null, "__proto__": "y"}'),
  ],
]

describe('a merge patch', (it) => {
  it('has what differs', () => {
    for (const [why, from, to, patch] of TABLE) assert.is(JSON.stringify(mergePatch(from, to)), JSON.stringify(patch), why)
  })

  it('compares each value once, however deep it is', () => {
    let reads = 0
    const chain = (depth: number, value: string): Record<string, unknown> => {
      if (depth > 0) return { below: chain(depth - 1, value) }
      return {
        get counted() {
          return ++reads > 0
        },
        value,
      }
    }
    assert.match(JSON.stringify(mergePatch(chain(50, 'old'), chain(50, 'new'))), '{"value":"new"}')
    assert.is(reads, 2)
  })
})
