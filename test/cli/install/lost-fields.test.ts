import { equal } from 'uvu/assert'
import type { FieldSchema } from '../../../src/api/index.ts'
import { findLostFields, lostBetween } from '../../../src/cli/install/lost-fields.ts'
import { describe } from '../../support/suite.ts'

const TEXT: FieldSchema = {}
const KEEPS_UNKNOWN = { 'x-kubernetes-preserve-unknown-fields': true } as const
const object = (properties: Record<string, FieldSchema>): FieldSchema => ({ properties })

const definition = (schema: FieldSchema) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'boats.example.com' },
  spec: {
    group: 'example.com',
    names: { kind: 'Boat', plural: 'boats' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  },
})

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

  it('are lost by the objects that have them, unless the API server has put them there itself', async () => {
    const sails: FieldSchema = object({ count: { default: 2 }, cloth: { default: 'linen' } })
    const newer = definition(object({ spec: object({ sails, oars: { default: [] }, home: TEXT }) }))
    const boat = (name: string, spec: object) => ({ apiVersion: 'example.com/v1', kind: 'Boat', metadata: { name }, spec })
    const boats = [
      boat('as-made', { sails: { count: 2, cloth: 'linen' }, oars: [] }),
      boat('rigged', { sails: { count: 3, cloth: 'linen' }, oars: [] }),
      boat('manned', { oars: ['ann'], home: '' }),
    ]
    const kube = {
      get: async () => newer,
      async *pages() {
        yield* boats.map((each) => [each])
      },
    } as never
    equal(await findLostFields(kube, [definition(object({ spec: object({}) }))]), [
      { field: 'spec.sails', objects: ['Boat rigged'] },
      { field: 'spec.oars', objects: ['Boat manned'] },
      { field: 'spec.home', objects: ['Boat manned'] },
    ])
  })
})
