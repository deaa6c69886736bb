import * as assert from 'uvu/assert'
import type { AnyObject } from '../../../src/api/index.ts'
import { createFileReader, withVariables } from '../../../src/engines/render/index.ts'
import { createYamlReader, isRecord } from '../../../src/std/index.ts'
import { snapshot } from '../../support/builders/snapshots.ts'
import { describe } from '../../support/suite.ts'

const VALUES = {
  name: 'web',
  count: '3',
  quoted: '"8080"',
  empty: '',
  lines: 'a\nb',
  list: '[1, 2]',
  yes: 'true',
  q: '"',
  a: "'",
  line: '5\n',
  crlf: 'x\r\n',
  text: '!!str 5',
  large: '9007199254740993',
}

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
  ['${q}${count}${q}', '3'],
  ['${a}${count}${a}', '3'],
  ['${q}${count}.${count}${q}', '3.3'],
  ['"${name}"', '"web"'],
  ['${q}${name}', '"web'],
  ['${count}${count}', 33],
  ['1${count}', '13'],
  ['${line}', 5],
  ['${crlf}', 'x'],
  ['${line}/${line}', '5/5'],
  ['${text}', '5'],
  ['${q}${large}${q}', '9007199254740993'],
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

  it('refuses an integer that would arrive as another one, and does not tell it', () => {
    assert.throws(
      () => replaced({ n: '${large}' }),
      (thrown: Error) =>
        thrown.message ===
        'a.yaml:1: Widget.example.com w: ${large} stands for an integer beyond 2^53, which would not arrive as it is',
    )
    assert.equal(replaced({ args: ['${large}'] }).spec, { args: ['9007199254740993'] })
  })

  it('replaces in stringData of Secrets, before it becomes data', async () => {
    const text = 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: "${name}", b: x, c: "${large}"}\n'
    const read = createFileReader(createYamlReader())
    const variables = { values: new Map(Object.entries(VALUES)), strict: true }
    const dataOf = async (among: typeof variables | undefined) => {
      const [first] = withVariables(await read(snapshot({ 's.yaml': text }).files), among)
      assert.is(first?.object.stringData, undefined)
      const entries = isRecord(first?.object.data) ? Object.entries(first.object.data) : []
      return entries.map(([key, value]) => `${key}=${Buffer.from(String(value), 'base64')}`)
    }
    assert.equal(await dataOf(variables), ['a=web', 'b=x', 'c=9007199254740993'])
    assert.equal(await dataOf(undefined), ['a=${name}', 'b=x', 'c=${large}'])
  })

  it('keeps texts where a tag says so, also in Lists', async () => {
    const fields = 'spec: {a: [x, !!str "${count}"], b: "${count}", c: ! "${count}", "d.e": {f: !!str "${yes}"}}'
    const head = 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n'
    const item = `  - ${head.replaceAll('\n', '\n    ')}${fields}\n`
    const text = `${head}${fields}\n---\napiVersion: v1\nkind: List\nitems:\n  - ${head.replaceAll('\n', '\n    ')}\n${item}`
    const read = createFileReader(createYamlReader())
    const manifests = await read(snapshot({ 'a.yaml': text }).files)
    const found = withVariables(manifests, { values: new Map(Object.entries(VALUES)), strict: true })
    const spec = { a: ['x', '3'], b: 3, c: '3', 'd.e': { f: 'true' } }
    assert.equal(
      found.map(({ object }) => object.spec),
      [spec, undefined, spec],
    )
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
