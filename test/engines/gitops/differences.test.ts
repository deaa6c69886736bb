import * as assert from 'uvu/assert'
import { differences } from '../../../src/engines/apply/differences.ts'
import { describe } from '../../support/suite.ts'

const ROWS: [why: string, desired: unknown, live: unknown, expected: string[]][] = [
  ['equal', { data: { x: '1' } }, { data: { x: '1' } }, []],
  ['a value is another', { data: { x: '1' } }, { data: { x: '2' } }, ['/data/x']],
  ['a value is gone', { data: { x: '1', y: '1' } }, { data: { y: '1' } }, ['/data/x']],
  ['a whole branch is gone', { spec: { a: { b: 1 } } }, { spec: {} }, ['/spec/a']],
  ['others added something', { data: { x: '1' } }, { data: { x: '1', other: 'y' }, more: 1 }, []],
  ['an item of a list is another', { list: [{ a: 1 }, { a: 2 }] }, { list: [{ a: 1 }, { a: 3, b: 1 }] }, ['/list/1/a']],
  ['a list is longer', { list: [1] }, { list: [1, 2] }, ['/list']],
  ['another type', { a: { b: 1 } }, { a: 'text' }, ['/a']],
  ['null stands for nothing', { a: null, b: { c: null }, d: {} }, {}, []],
  ['names with slashes and tildes', { 'a/b~c': 1 }, { 'a/b~c': 2 }, ['/a~1b~0c']],
]

describe('the differences of two objects', (it) => {
  for (const [why, desired, live, expected] of ROWS) it(why, () => assert.equal(differences(desired, live), expected))
  it('are not counted for ever', () => {
    const object = (value: number) => Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, value]))
    assert.is(differences(object(1), object(2)).length, 64)
  })
})
