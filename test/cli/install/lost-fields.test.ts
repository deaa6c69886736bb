import { equal } from 'uvu/assert'
import type { FieldSchema } from '../../../src/api/index.ts'
import { lostBetween } from '../../../src/cli/install/lost-fields.ts'
import { describe } from '../../support/suite.ts'

const TEXT: FieldSchema = {}
const KEEPS_UNKNOWN = { 'x-kubernetes-preserve-unknown-fields': true } as const
const object = (properties: Record<string, FieldSchema>): FieldSchema => ({ properties })

describe('the fields that an older kind does not have', (it) => {
  const before = object({
    spec: object({
      ports: { items: object({ number: TEXT, path: TEXT }) },
      labels: { additionalProperties: TEXT },
      env: { additionalProperties: object({ value: TEXT, from: TEXT }) },
      network: object({ ranges: { items: TEXT }, names: { items: TEXT } }),
    }),
    status: object({ phase: TEXT }),
  })
  const lostBy = (after: FieldSchema) => lostBetween(before, after).map(({ steps }) => steps.join(' '))
  const lostWith = (spec: Record<string, FieldSchema>) =>
    lostBy(object({ spec: object({ ...before.properties?.spec?.properties, ...spec }) }))

  it('are none where nothing is other, and those of the status do not count', () => {
    equal(lostWith({}), [])
  })

  it('are found within lists, maps and objects, each by the outermost that goes', () => {
    equal(lostWith({ ports: { items: object({ number: TEXT }) } }), ['spec ports [] path'])
    equal(lostWith({ env: { additionalProperties: object({ value: TEXT }) } }), ['spec env * from'])
    equal(lostWith({ network: object({ ranges: { items: TEXT } }) }), ['spec network names'])
    equal(lostWith({ labels: TEXT }), ['spec labels *'])
    equal(lostBy(object({})), ['spec'])
  })

  it('are none where the older takes whatever is said, but within what it knows', () => {
    equal(lostWith({ network: KEEPS_UNKNOWN }), [])
    equal(lostWith({ network: { additionalProperties: { items: TEXT } } }), [])
    equal(lostBy({ ...object({ spec: object({ ports: TEXT }) }), ...KEEPS_UNKNOWN }), [
      'spec ports []',
      'spec labels',
      'spec env',
      'spec network',
    ])
  })
})
