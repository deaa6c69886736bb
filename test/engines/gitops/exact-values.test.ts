import * as assert from 'uvu/assert'
import { createFileReader } from '../../../src/engines/render/index.ts'
import { createYamlReader } from '../../../src/std/index.ts'
import { snapshot } from '../../support/builders/snapshots.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'

const secret = (fields: string) => `apiVersion: v1\nkind: Secret\nmetadata: {name: w}\n${fields}\n`

/** Manifests that are refused, and no others with them. */
const REFUSED: [why: string, text: string, said: RegExp][] = [
  ...['0123', '1e3', '0x10', '1.50', '1_000'].map((value): [string, string, RegExp] => [
    `stringData of ${value}`,
    secret(`stringData: {ok: x, a: ${value}}`),
    /^has a stringData\.a that is a number, and no text; put it in quotes$/,
  ]),
  ['stringData of yes', secret('stringData: {a: yes}'), /stringData\.a that is a boolean, and no text; put it in quotes/],
  ['stringData of a mapping', secret('stringData: {a: {b: c}}'), /stringData\.a that is a mapping; only texts may stand there/],
  ['stringData of a list', secret('stringData: {a: [x]}'), /stringData\.a that is a list; only texts may stand there/],
  ['a list for stringData', secret('stringData: [a]'), /^has a stringData that is no mapping/],
  ['a list for data', secret('stringData: {a: x}\ndata: [a]'), /^has a data that is no mapping/],
]

const holding = (value: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: w}\ndata: {a: "${value}"}\n`
const utf16 = Buffer.from(`\ufeff${holding('b')}`, 'utf16le')

/** Files whose bytes are no text. */
const NO_TEXTS: [why: string, data: Uint8Array, said: RegExp][] = [
  ['bytes of Latin-1', Buffer.from(holding('caf\u00e9'), 'latin1'), /^a\.yaml:4: is not UTF-8$/],
  ['half of a character', Buffer.concat([Buffer.from('# '), Buffer.from('\u20ac').subarray(0, 2)]), /^a\.yaml:1: is not UTF-8$/],
  ['UTF-16', utf16, /^a\.yaml:1: is UTF-16, and must be UTF-8$/],
  ['UTF-16 of the other order', Buffer.from(utf16).swap16(), /^a\.yaml:1: is UTF-16, and must be UTF-8$/],
]

describe('a value', (it) => {
  const read = createFileReader(createYamlReader())

  for (const [why, text, said] of REFUSED)
    it(`is refused where it is ${why}`, async () => {
      const [refused, other] = await read(snapshot({ 'a.yaml': `${text}---\n${holding('b')}` }).files)
      assert.match(refused?.problem ?? '', said)
      assert.equal(
        [refused?.source, refused?.object],
        ['a.yaml:1', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'w' } }],
      )
      assert.equal([other?.problem, other?.object.data], [undefined, { a: 'b' }])
    })

  for (const [why, data, said] of NO_TEXTS)
    it(`is refused in a file of ${why}`, async () => {
      const { reason, message } = await failureOf(() => read([{ source: 'a.yaml', data }]))
      assert.is(reason, 'RenderFailed')
      assert.match(message, said)
    })

  it('arrives whatever the language, and behind a mark of UTF-8', async () => {
    for (const value of ['caf\u00e9', '\u20ac', '\u{1f600}', '\ufffd'])
      for (const mark of ['', '\ufeff']) {
        const [found] = await read(snapshot({ 'a.yaml': mark + holding(value) }).files)
        assert.equal(found?.object.data, { a: value })
      }
  })
})
