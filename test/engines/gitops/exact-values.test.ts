import * as assert from 'uvu/assert'
import { createFileReader } from '../../../src/engines/render/index.ts'
import { createYamlReader } from '../../../src/std/index.ts'
import { snapshot } from '../../support/builders/snapshots.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'

const secret = (fields: string) => `apiVersion: v1\nkind: Secret\nmetadata: {name: w}\n${fields}\n`

/** Manifests that are refused. */
const REFUSED: [why: string, text: string, said: RegExp][] = [
  ...['0123', '1e3', '0x10', '1.50', '1_000'].map((value): [string, string, RegExp] => [
    `stringData of ${value}`,
    secret(`stringData: {ok: x, a: ${value}}`),
    /^a\.yaml:1: document 1 \(Secret\) has a stringData\.a that is a number, and no text; put it in quotes$/,
  ]),
  ['stringData of yes', secret('stringData: {a: yes}'), /stringData\.a that is a boolean, and no text; put it in quotes/],
  ['stringData of a mapping', secret('stringData: {a: {b: c}}'), /stringData\.a that is a mapping; only texts may stand there/],
  ['stringData of a list', secret('stringData: {a: [x]}'), /stringData\.a that is a list; only texts may stand there/],
  ['a list for stringData', secret('stringData: [a]'), /\(Secret\) has a stringData that is no mapping/],
  ['a list for data', secret('stringData: {a: x}\ndata: [a]'), /\(Secret\) has a data that is no mapping/],
]

describe('a value', (it) => {
  const read = createFileReader(createYamlReader())

  for (const [why, text, said] of REFUSED)
    it(`is refused where it is ${why}`, async () => {
      const { reason, message } = await failureOf(() => read(snapshot({ 'a.yaml': text }).files))
      assert.is(reason, 'RenderFailed')
      assert.match(message, said)
    })
})
