import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { equal, ok } from 'uvu/assert'
import { parse } from 'yaml'
import { describe } from '../support/suite.ts'

interface Schema {
  type?: string
  description?: string
  default?: unknown
  enum?: string[]
  format?: string
  maxLength?: number
  maxItems?: number
  maxProperties?: number
  properties?: Record<string, Schema>
  additionalProperties?: Schema
  items?: Schema
  'x-kubernetes-list-type'?: string
  'x-kubernetes-list-map-keys'?: string[]
  'x-kubernetes-preserve-unknown-fields'?: boolean
}

interface Crd {
  metadata: { name: string }
  spec: {
    group: string
    scope: string
    names: { kind: string; plural: string; shortNames: string[]; categories: string[] }
    versions: {
      name: string
      subresources: object
      additionalPrinterColumns: { name: string; priority?: number }[]
      schema: { openAPIV3Schema: Schema }
    }[]
  }
}

const folder = join(import.meta.dirname, '../../crds')
const files = readdirSync(folder).filter((name) => name !== 'kustomization.yaml')
const read = (file: string): Crd => parse(readFileSync(join(folder, file), 'utf8'))
const crds = files.map((file) => ({ file, crd: read(file) }))

/** Every field below a schema, with its path. */
function fieldsOf(schema: Schema, path: string): [string, Schema][] {
  const inner = Object.entries(schema.properties ?? {})
  return [
    ...inner.flatMap(([name, field]): [string, Schema][] => [[`${path}.${name}`, field], ...fieldsOf(field, `${path}.${name}`)]),
    ...(schema.items ? fieldsOf(schema.items, `${path}[]`) : []),
  ]
}

/** Without a bound, CEL has to assume the worst and a single object can fill the store. */
function isBounded(schema: Schema): boolean {
  if (schema.type === 'string') return Boolean(schema.enum || schema.format || schema.maxLength !== undefined)
  if (schema.type === 'array') return schema.maxItems !== undefined && isBounded(schema.items ?? {})
  if (schema.additionalProperties) return schema.maxProperties !== undefined && isBounded(schema.additionalProperties)
  return true
}

describe('the CRDs', (it) => {
  it('are the fifteen kinds of the design', () => {
    equal(crds.map(({ crd }) => crd.spec.names.kind).sort(), [
      'Agent',
      'DeploymentTarget',
      'DeploymentTargetClaim',
      'DeploymentTargetClass',
      'Environment',
      'GitOpsDeployment',
      'GitOpsDeploymentManagedEnvironment',
      'GitOpsDeploymentSet',
      'GitOpsDeploymentSyncRun',
      'GitProject',
      'Preview',
      'SpaceRequest',
      'SpaceTier',
      'Workspace',
      'WorkspaceClass',
    ])
  })
  it('show of a GitOpsDeployment its sync, health, revision and age', () => {
    const columns = crds.find(({ crd }) => crd.spec.names.kind === 'GitOpsDeployment')?.crd.spec.versions[0]
      ?.additionalPrinterColumns
    const shown = (columns ?? []).filter(({ priority = 0 }) => priority === 0).map(({ name }) => name)
    equal(shown, ['Sync Status', 'Health Status', 'Ready', 'Reason', 'Revision', 'Age'])
  })

  it('use each short name once', () => {
    const names = crds.flatMap(({ crd }) => crd.spec.names.shortNames)
    equal(names.length, new Set(names).size)
  })

  for (const { file, crd } of crds) {
    const { group, names, versions, scope } = crd.spec
    const [version] = versions
    const root = version?.schema.openAPIV3Schema ?? {}
    const { spec = {}, status = {} } = root.properties ?? {}
    const fields = [...fieldsOf(spec, 'spec'), ...fieldsOf(status, 'status')]

    it(`${names.kind}: is where its name says, and listed with its likes`, () => {
      equal(file, `${group}_${names.plural}.yaml`)
      equal(crd.metadata.name, `${names.plural}.${group}`)
      equal(names.categories, ['berth'])
      ok(names.shortNames.length > 0)
      ok(scope === 'Namespaced' || scope === 'Cluster')
    })
    it(`${names.kind}: has a status of its own, an age and columns`, () => {
      equal(version?.subresources, { status: {} })
      const columns = version?.additionalPrinterColumns.map(({ name }) => name) ?? []
      ok(columns.includes('Age'), columns.join())
      ok(columns.length >= 4, columns.join())
    })
    it(`${names.kind}: describes every field`, () => {
      ok(root.description)
      equal(
        fields.filter(([, field]) => !field.description).map(([path]) => path),
        [],
      )
    })
    it(`${names.kind}: names plain defaults in the description, for \`kubectl explain\` shows no others`, () => {
      const plain = fields.filter(
        ([, { default: value }]) => ['string', 'number', 'boolean'].includes(typeof value) && value !== '',
      )
      equal(
        plain
          .filter(([, { description = '', default: value }]) => !description.endsWith(` Default: ${value}.`))
          .map(([path]) => path),
        [],
      )
    })
    it(`${names.kind}: bounds every text, list and map`, () => {
      equal(
        fields.filter(([, field]) => !isBounded(field)).map(([path]) => path),
        [],
      )
    })
    it(`${names.kind}: keeps one condition of each type, and the generation it speaks of`, () => {
      const { conditions, observedGeneration } = status.properties ?? {}
      equal(conditions?.['x-kubernetes-list-type'], 'map')
      equal(conditions?.['x-kubernetes-list-map-keys'], ['type'])
      ok(conditions?.description?.includes('Ready'))
      equal(observedGeneration?.type, 'integer')
    })
  }
})
