import * as assert from 'uvu/assert'
import { selectorOf } from '../../../src/adapters/kube/selector.ts'
import { effort } from '../../support/effort.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'

const SELECTORS: [selector: string, labels: Record<string, string>, matches: boolean, why: string][] = [
  ['', {}, true, 'an empty one selects all'],
  ['a=b', { a: 'b' }, true, 'equal'],
  ['a == b', { a: 'b' }, true, 'equal, in another writing'],
  ['a=', { a: '' }, true, 'an empty value is a value'],
  ['a=b', {}, false, 'absent is not equal'],
  ['a!=b', {}, true, 'absent is unequal'],
  ['a', { a: '' }, true, 'existence asks for the key'],
  ['!a', { a: 'x' }, false, 'and for its absence'],
  ['toString', {}, false, 'what every object of JavaScript has is no label'],
  ['a in (b, c)', { a: 'c' }, true, 'one of'],
  ['a in(b)', { a: 'b' }, true, 'no space is needed before the parenthesis'],
  ['a notin (b,c)', { a: 'c' }, false, 'none of'],
  ['a notin (b,c)', {}, true, 'absent is none of them'],
  ['a=b,c in (d,e)', { a: 'b', c: 'e' }, true, 'commas inside a set separate values'],
  ['a=b,c', { a: 'b' }, false, 'all terms must hold'],
  ['replicas>1', { replicas: '2' }, true, 'more than'],
  ['replicas > 1', { replicas: 'two' }, false, 'what is no number is not more'],
  ['stamp>1700000000000000000', { stamp: '1700000000000000001' }, true, 'of 64 bits'],
  ['replicas<1', {}, false, 'nor is what is absent less'],
  ['in in (in)', { in: 'in' }, true, 'words of the language are keys as well'],
  ['a in (,b)', { a: '' }, true, 'an empty value in a set'],
  [' a = b , ! c ', { a: 'b' }, true, 'blanks'],
  ['example.com/tier=front', { 'example.com/tier': 'front' }, true, 'a key may have a prefix'],
]

const INVALID: [selector: string, term: string][] = [
  ['a=b,,c', ''],
  ['a=b,', ''],
  ['a=b,c in (d', 'c in (d'],
  ['a in (b,c)x', 'a in (b,c)x'],
  ['a in ()', 'a in ()'],
  ['a in (b c)', 'a in (b c)'],
  ['a in (b|c)', 'a in (b|c)'],
  ['a=b=c', 'a=b=c'],
  ['a|b', 'a|b'],
  ['a>b', 'a>b'],
  ['a>-1', 'a>-1'],
  ['a>9223372036854775808', 'a>9223372036854775808'],
  ['app//web', 'app//web'],
  ['a..b/c', 'a..b/c'],
  ['/web', '/web'],
  ['-a', '-a'],
  ['a=-', 'a=-'],
  [`a=${'b'.repeat(64)}`, `a=${'b'.repeat(64)}`],
]

describe('a label selector', (it) => {
  for (const [selector, labels, matches, why] of SELECTORS) {
    it(`selects by "${selector}" on ${JSON.stringify(labels)}: ${why}`, () => {
      assert.is(selectorOf(selector)(labels), matches, why)
    })
  }

  it('is refused when it is none, with the term that is wrong', async () => {
    for (const [selector, wrong] of INVALID) {
      const { message, remedy } = await failureOf(async () => selectorOf(selector, 'spec.x'))
      assert.is(message, `spec.x: ${JSON.stringify(wrong)} is no term of a label selector`)
      assert.match(remedy ?? '', 'tier in (front,back)')
    }
  })

  it('takes work by its length, whatever is in it', () => {
    for (const piece of [',', '(', '(,', 'a,', 'a in (b),', ' ']) {
      const spent = effort()
      try {
        selectorOf(piece.repeat(200_000))
      } catch {
        // Most of these are none.
      }
      assert.ok(spent() < 10_000, `${piece}: ${spent()} ms`)
    }
  })
})
