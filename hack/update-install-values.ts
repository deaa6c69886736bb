/** Writes from deploy/values.schema.json the types of `berth install`'s values and the table of docs/installation-values.md. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile, type JSONSchema } from 'json-schema-to-typescript'

const ROOT = join(import.meta.dirname, '..')
const TYPES = 'src/cli/install/generated/values.ts'
const PAGE = 'docs/installation-values.md'
const BEGIN = '<!-- values: written by hack/update-install-values.ts -->'
const END = '<!-- end of values -->'

interface Schema {
  description?: string
  type?: string | string[]
  enum?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  definitions?: Record<string, Schema>
  $ref?: string
}

const schema: JSONSchema & Schema = JSON.parse(readFileSync(join(ROOT, 'deploy/values.schema.json'), 'utf8'))

/** Each file as it should be, by its path from the root. */
export async function valueFiles(): Promise<{ path: string; text: string }[]> {
  const style = { singleQuote: true, semi: false, printWidth: 130, trailingComma: 'all' } as const
  const options = { bannerComment: '', style, format: true, maxItems: -1, unknownAny: true }
  // It changes what it is given.
  const types = await compile(structuredClone(schema), 'InstallValues', options)
  const [before, rest] = readFileSync(join(ROOT, PAGE), 'utf8').split(BEGIN)
  const after = rest?.split(END)[1]
  if (after === undefined) throw new TypeError(`${PAGE} lacks the markers ${BEGIN} and ${END}`)
  return [
    {
      path: TYPES,
      text: `// Generated from deploy/values.schema.json by hack/update-install-values.ts. Do not edit.\n\n${types}`,
    },
    { path: PAGE, text: `${before}${BEGIN}\n\n${table()}\n\n${END}${after}` },
  ]
}

const table = (): string =>
  ['| value | takes | meaning |', '| --- | --- | --- |', ...rowsOf(schema, ''), ...programRows()].join('\n')

/** Those of one program stand for those of all. */
const programRows = (): string[] => rowsOf(schema.definitions?.program ?? {}, 'programs.<program>.')

function rowsOf({ properties = {}, required = [] }: Schema, prefix: string): string[] {
  return Object.entries(properties).flatMap(([name, given]) => {
    const value = { ...schema.definitions?.[given.$ref?.split('/').at(-1) ?? ''], ...given }
    const path = `${prefix}${name}`
    if (path === 'programs') return []
    const inner = value.properties ? rowsOf(value, `${path}.`) : []
    if (inner.length > 0) return inner
    const meaning = [value.description, required.includes(name) ? 'Required.' : ''].filter(Boolean).join(' ')
    return [`| \`${path}\` | ${takes(value)} | ${meaning.replaceAll('|', '\\|')} |`]
  })
}

const takes = (value: Schema): string =>
  value.enum?.map((word) => `\`${word}\``).join(', ') ??
  (value.type === 'array' ? 'list' : value.type === 'object' ? 'map' : String(value.type))

if (import.meta.main) for (const { path, text } of await valueFiles()) writeFileSync(join(ROOT, path), text)
