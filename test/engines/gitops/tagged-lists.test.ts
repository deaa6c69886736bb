import { equal, is, ok } from 'uvu/assert'
import { manifestsIn } from '../../../src/engines/render/manifest.ts'
import { parseYaml } from '../../../src/std/index.ts'
import { effort } from '../../support/effort.ts'
import { describe } from '../../support/suite.ts'

const object = (name: string, value: string) =>
  `{ apiVersion: v1, kind: ConfigMap, metadata: { name: ${name} }, data: { a: ${value} } }`
const list = (...items: string[]) => `{ apiVersion: v1, kind: List, items: [${items.join(', ')}] }`
const TAGGED = '!!str "${b}"'

describe('values that are tagged as texts', (it) => {
  it('are those of the object in which they are, also in lists within lists', () => {
    const text = list(object('a', TAGGED), list(object('b', '"${b}"'), object('c', TAGGED)))
    const marks = (from: string) => manifestsIn(parseYaml(from)).objects.map(({ texts }) => [...(texts ?? [])])
    equal(marks(text), [['["data","a"]'], [], ['["data","a"]']])
    equal(marks(object('d', TAGGED)), [['["data","a"]']])
    equal(marks(`{ apiVersion: v1, kind: Shop, metadata: { name: e }, items: [${TAGGED}] }`), [['["items","[0]"]']])
  })

  it('are found in a list of twenty thousand in the time of a look at each', () => {
    const items = Array.from({ length: 20_000 }, (_, n) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `m${n}` },
      data: { a: '${b}' },
    }))
    const texts = items.map((_, n) => ['items', `[${n}]`, 'data', 'a'])
    const spent = effort()
    const { objects } = manifestsIn({ documents: [{ line: 1, value: { apiVersion: 'v1', kind: 'List', items }, texts }] })
    // Of the CPU, in milliseconds: with a look at all for each it were 2,500.
    const took = spent()
    ok(took < 1000, `took ${Math.round(took)} ms`)
    is(objects.filter(({ texts: marks }) => marks?.has('["data","a"]')).length, 20_000)
  })
})
