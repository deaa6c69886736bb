import * as assert from 'uvu/assert'
import { turnover } from '../../../src/engines/gitops/objects/lists.ts'
import { describe } from '../../support/suite.ts'

const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name }))

const CASES: [why: string, before: unknown[], after: unknown[], gone: unknown[], come: unknown[]][] = [
  ['nothing at all', [], [], [], []],
  ['from nothing', [], [a, b], [], [a, b]],
  ['to nothing', [a, b], [], [a, b], []],
  ['one in the middle is another', [a, b, c], [a, d, c], [b], [d]],
  ['one is put in', [a, c], [a, b, c], [], [b]],
  ['one is taken out', [a, b, c], [a, c], [b], []],
  ['the first and the last are others', [a, b, c], [d, b, e], [a, c], [d, e]],
  ['another order is no change', [a, b, c], [c, a, b], [], []],
  ['the end of one is the beginning of the other', [a, b], [b, c], [a], [c]],
  ['equal is not the same', [a], [{ name: 'a' }], [a], [{ name: 'a' }]],
]

describe('the turnover of a list', (it) => {
  it('is what went and what came', () => {
    for (const [why, before, after, gone, come] of CASES) {
      const found = turnover(before.filter(isObject), after.filter(isObject))
      assert.equal(found, { gone, come }, why)
    }
  })

  it('is nothing for the very same list', () => {
    const list = [{ name: 'a' }]
    assert.equal(turnover(list, list), { gone: [], come: [] })
  })
})

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
