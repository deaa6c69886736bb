/** Writes the field tables of docs/spec/v1/<kind>.md from crds/: between the markers, nowhere else. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const BEGIN = '<!-- fields: written by hack/update-spec-docs.ts -->'
const END = '<!-- end of fields -->'

interface Schema {
  type?: string
  description?: string
  enum?: string[]
  default?: unknown
  format?: string
  minimum?: number
  maximum?: number
  required?: string[]
  properties?: Record<string, Schema>
  additionalProperties?: Schema
  items?: Schema
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-preserve-unknown-fields'?: boolean
  'x-kubernetes-validations'?: { rule: string; message?: string }[]
}

interface Crd {
  spec: {
    names: { kind: string; singular: string }
    versions: { schema: { openAPIV3Schema: { properties: { spec: Schema; status: Schema } } } }[]
  }
}

export interface Page {
  path: string
  kind: string
  text: string
}

/** Every kind's page as it should be; `text` lacks nothing but what a person has to write. */
export function specPages(): Page[] {
  const folder = join(root, 'crds')
  const files = readdirSync(folder).filter((name) => name !== 'kustomization.yaml')
  return files.sort().map((name) => {
    const crd: Crd = parse(readFileSync(join(folder, name), 'utf8'))
    const { kind, singular } = crd.spec.names
    const path = join(root, 'docs/spec/v1', `${singular}.md`)
    const { spec = {}, status = {} } = crd.spec.versions[0]?.schema.openAPIV3Schema.properties ?? {}
    return { path, kind, text: withTables(readFileSync(path, 'utf8'), path, [table('spec', spec), table('status', status)]) }
  })
}

function withTables(page: string, path: string, tables: string[]): string {
  const [before, rest] = page.split(BEGIN)
  const after = rest?.split(END)[1]
  if (after === undefined) throw new TypeError(`${path} lacks the markers ${BEGIN} and ${END}`)
  return `${before}${BEGIN}\n\n${tables.join('\n\n')}\n\n${END}${after}`
}

function table(name: string, schema: Schema): string {
  const rows = rowsOf(schema, '')
  return [`### ${name}`, '', '| field | type | meaning |', '| --- | --- | --- |', ...rows].join('\n')
}

function rowsOf(schema: Schema, path: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const here = path ? `${path}.${name}` : name
    const isRequired = schema.required?.includes(name) ?? false
    const row = `| \`${here}\` | ${typeOf(field)} | ${meaningOf(field, isRequired)} |`
    // Conditions are the same everywhere; the page says which there are.
    const inner = name === 'conditions' ? [] : [...rowsOf(field, here), ...rowsOf(field.items ?? {}, `${here}[]`)]
    return [row, ...inner]
  })
}

function typeOf(field: Schema): string {
  if (field['x-kubernetes-int-or-string']) return 'quantity'
  if (field.enum) return field.enum.map((word) => `\`${word}\``).join(', ')
  if (field.type === undefined) return 'string or object'
  if (field.type === 'array') return `list of ${typeOf(field.items ?? {})}`
  if (field.additionalProperties) return `map of ${typeOf(field.additionalProperties)}`
  if (field['x-kubernetes-preserve-unknown-fields']) return 'free-form object'
  return field.format === 'date-time' ? 'time' : field.type
}

function meaningOf(field: Schema, isRequired: boolean): string {
  const words = [
    isRequired ? '**Required.**' : '',
    field.description ?? '',
    saidDefault(field),
    rangeOf(field),
    ...(field['x-kubernetes-validations'] ?? []).map(({ message = '' }) => `Rule: ${message}.`),
  ]
  return words
    .filter((word) => word !== '')
    .join(' ')
    .replaceAll('|', '\\|')
}

/** `kubectl explain` shows no defaults, so the descriptions of plain values name them; those of lists and maps are said here. */
const saidDefault = ({ default: value, description = '' }: Schema): string =>
  value === undefined || description.includes('Default: ') ? '' : `Default: \`${JSON.stringify(value)}\`.`

function rangeOf({ minimum, maximum }: Schema): string {
  if (minimum === undefined || minimum === 0) return ''
  return maximum === undefined ? `At least ${minimum}.` : `From ${minimum} to ${maximum}.`
}

if (import.meta.main) for (const { path, text } of specPages()) writeFileSync(path, text)
