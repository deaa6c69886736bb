import * as assert from 'uvu/assert'
import type { AnyObject } from '../../../src/api/index.ts'
import { withVariables } from '../../../src/engines/render/index.ts'
import { describe } from '../../support/suite.ts'

const VALUES = { name: 'web', count: '3', quoted: '"8080"', empty: '', lines: 'a\nb', list: '[1, 2]', yes: 'true' }

const replaced = (spec: unknown, { strict = true, metadata = {} } = {}): AnyObject => {
  const object: AnyObject = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', ...metadata }, spec }
  const variables = { values: new Map(Object.entries(VALUES)), strict }
  const [first] = withVariables([{ object, source: 'a.yaml:1' }], variables)
  return first?.object ?? object
}

/** A value as it is written, and what stands in its place. */
const ROWS: [string, unknown][] = [
  ['${name}', 'web'],
  ['${name}-${count}', 'web-3'],
  ['x${nothing:=y}z', 'xyz'],
  ['x${nothing:-y}z', 'xyz'],
  ['${nothing:=}', ''],
  ['${name:=other}', 'web'],
  ['${empty:=other}', ''],
  ['$${name}', '${name}'],
  ['$${name}-${name}', '${name}-web'],
  ['$$${name}', '$${name}'],
  ['${nothing:-${name}', '${name'],
  ['${name ${name}', '${name web'],
  ['} ${name} }', '} web }'],
  ['${count}', 3],
  ['${nothing:=4}', 4],
  ['${quoted}', '8080'],
  ['${yes}', true],
  ['port ${count}', 'port 3'],
  ['${lines}', 'a\nb'],
  ['${list}', '[1, 2]'],
  ['$name', '$name'],
  ['${name', '${name'],
  ['${}', '${}'],
  ['${1st}', '${1st}'],
  ['${file.name}', '${file.name}'],
  ['${name%-*}', '${name%-*}'],
  ['$(name)', '$(name)'],
]

describe('variables', (it) => {
  for (const [written, expected] of ROWS) {
    it(`puts ${JSON.stringify(expected)} in the place of ${written}`, () => {
      assert.equal(replaced({ value: [written] }).spec, { value: [expected] })
    })
  }

  it('replaces values at every depth, and keys never', () => {
    assert.equal(replaced({ a: [{ '${name}': '${name}' }], n: 1, no: null }).spec, { a: [{ '${name}': 'web' }], n: 1, no: null })
  })

  it('keeps texts where only texts may stand', () => {
    const object = replaced(
      { env: [{ name: 'N', value: '${count}' }], selector: { matchLabels: { n: '${count}' } }, args: ['${yes}'] },
      { metadata: { labels: { n: '${count}' }, annotations: { yes: '${yes}' }, name: '${name}' } },
    )
    assert.equal(object.spec, {
      env: [{ name: 'N', value: '3' }],
      selector: { matchLabels: { n: '3' } },
      args: ['true'],
    })
    assert.equal(object.metadata, { name: 'web', labels: { n: '3' }, annotations: { yes: 'true' } })
  })

  it('leaves an object alone that is annotated so', () => {
    const annotations = { 'gitops.berth.dev/variables': 'disabled' }
    assert.is(replaced('${name}', { metadata: { annotations } }).spec, '${name}')
  })

  it('names every variable without a value, with its place and what to do', () => {
    assert.throws(
      () => replaced(['${nothing}', '${nowhere}']),
      /no value for \$\{nothing\} in a\.yaml:1: Widget\.example\.com w, \$\{nowhere\} in a\.yaml:1/,
    )
  })

  it('puts nothing in its place where that is asked for', () => {
    assert.is(replaced('a${nothing}b', { strict: false }).spec, 'ab')
  })

  it('does not replace in what it has put there', () => {
    const variables = {
      values: new Map([
        ['a', '${b}'],
        ['b', 'c'],
      ]),
      strict: true,
    }
    const object: AnyObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { k: '${a}' } }
    assert.equal(withVariables([{ object, source: 'x:1' }], variables)[0]?.object.data, { k: '${b}' })
  })

  it('ends an expansion that grows without measure', () => {
    const variables = { values: new Map([['big', 'x'.repeat(65_536)]]), strict: true }
    const object: AnyObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { k: '${big}'.repeat(300) } }
    assert.throws(() => withVariables([{ object, source: 'x:1' }], variables), /more than 16777216 characters/)
  })
})
