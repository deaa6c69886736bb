/** The table of docs/installation-values.md, from deploy/values.schema.json. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Schema {
  description?: string
  type?: string | string[]
  enum?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  definitions?: Record<string, Schema>
  $ref?: string
}

export function valueTable(): string {
  const schema: Schema = JSON.parse(readFileSync(join(import.meta.dirname, '../../deploy/values.schema.json'), 'utf8'))
  const { definitions = {} } = schema
  // The values of one program stand for those of all.
  const rows = [...rowsOf(schema, '', definitions), ...rowsOf(definitions.program ?? {}, 'programs.<program>.', definitions)]
  return ['| value | takes | meaning |', '| --- | --- | --- |', ...rows].join('\n')
}

function rowsOf({ properties = {}, required = [] }: Schema, prefix: string, definitions: Record<string, Schema>): string[] {
  return Object.entries(properties).flatMap(([name, given]) => {
    const value = { ...definitions[given.$ref?.split('/').at(-1) ?? ''], ...given }
    const path = `${prefix}${name}`
    if (path === 'programs') return []
    const inner = rowsOf(value, `${path}.`, definitions)
    if (inner.length > 0) return inner
    const meaning = [value.description, required.includes(name) ? 'Required.' : ''].filter(Boolean).join(' ')
    return [`| \`${path}\` | ${takes(value)} | ${meaning.replaceAll('|', '\\|')} |`]
  })
}

const takes = (value: Schema): string =>
  value.enum?.map((word) => `\`${word}\``).join(', ') ??
  (value.type === 'array' ? 'list' : value.type === 'object' ? 'map' : String(value.type))
