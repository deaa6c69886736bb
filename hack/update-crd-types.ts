/** Writes src/api/generated from crds/: for each kind its `Spec` and `Status`. The envelope is KubeObject's. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compile, type JSONSchema } from 'json-schema-to-typescript'
import { parse } from 'yaml'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const crdFolder = join(root, 'crds')
export const generatedFolder = join(root, 'src/api/generated')

/** The parts of an OpenAPI v3 schema, as a CRD has it, that decide about a type. */
interface CrdSchema {
  type?: string
  description?: string
  enum?: string[]
  required?: string[]
  properties?: Record<string, CrdSchema>
  additionalProperties?: CrdSchema
  items?: CrdSchema
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-preserve-unknown-fields'?: boolean
  'x-kubernetes-validations'?: { rule: string }[]
}

interface Crd {
  spec: {
    names: { kind: string }
    versions: { schema: { openAPIV3Schema: { properties: { spec: CrdSchema; status: CrdSchema } } } }[]
  }
}

/** What no schema can say: the spellings of a claimRef, and where the inside is a type that we have. */
const KNOWN: Record<string, string> = {
  claimRef: 'string | { name: string; uid?: string }',
  conditions: 'Condition[]',
  settings: 'WorkspaceClassSpec',
}

const IMPORTS: Record<string, string> = {
  'Condition[]': "import type { Condition } from '../conditions.ts'\n",
  'settings?: WorkspaceClassSpec': "import type { WorkspaceClassSpec } from './workspace-class.ts'\n",
}

/** Rewrites a CRD's schema so that json-schema-to-typescript makes exact types of it. */
function typed(schema: CrdSchema, name: string): JSONSchema {
  const description = schema.description === undefined ? {} : { description: schema.description }
  const known = KNOWN[name] ?? looseType(schema)
  if (known !== undefined) return { ...description, tsType: known }
  if (schema.type === 'array') return { ...description, type: 'array', items: typed(schema.items ?? {}, '') }
  if (schema.type === 'object') return { ...description, ...objectType(schema) }
  return { ...description, ...scalarType(schema) }
}

/** Types for what JSON Schema would turn into an index signature of everything. */
function looseType(schema: CrdSchema): string | undefined {
  if (schema['x-kubernetes-int-or-string']) return 'number | string'
  if (schema['x-kubernetes-preserve-unknown-fields']) return 'Record<string, unknown>'
  if (schema.additionalProperties?.['x-kubernetes-int-or-string']) return 'Record<string, number | string>'
  if (schema.additionalProperties?.type === 'string') return 'Record<string, string>'
  if (schema.additionalProperties?.type === 'integer') return 'Record<string, number>'
  return undefined
}

function objectType(schema: CrdSchema): JSONSchema {
  const properties = Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, typed(inner, name)])
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: schema.required ?? [],
    additionalProperties: false,
  }
}

/** An enum, whether it is written as one or as a rule `self in [...]` that brings its own message. */
function scalarType(schema: CrdSchema): JSONSchema {
  if (schema.enum) return { enum: schema.enum }
  const listed = schema['x-kubernetes-validations']?.map(({ rule }) => /^self in \[(.*)\]$/.exec(rule)?.[1]).find(Boolean)
  if (listed) return { enum: listed.split(',').map((word) => word.trim().replaceAll("'", '')) }
  return schema.type === undefined ? {} : { type: schema.type === 'integer' ? 'number' : typeName(schema.type) }
}

function typeName(type: string): 'string' | 'boolean' | 'number' {
  if (type === 'string' || type === 'boolean' || type === 'number') return type
  throw new TypeError(`a CRD uses the type ${type}, for which hack/update-crd-types.ts has no rule`)
}

/** As the formatter of this repository writes them. */
export function compileTypes(schema: JSONSchema, name: string): Promise<string> {
  const style = { singleQuote: true, semi: false, printWidth: 130, trailingComma: 'all' } as const
  return compile(schema, name, { bannerComment: '', style, format: true, maxItems: -1, unknownAny: true })
}

async function typesOf(crd: Crd): Promise<string> {
  const { kind } = crd.spec.names
  const { spec, status } = crd.spec.versions[0]?.schema.openAPIV3Schema.properties ?? { spec: {}, status: {} }
  const parts = [await compileTypes(typed(spec, ''), `${kind}Spec`), await compileTypes(typed(status, ''), `${kind}Status`)]
  const text = parts.map((part) => part.trim()).join('\n\n')
  const imports = Object.entries(IMPORTS).filter(([use]) => text.includes(use))
  return `// Generated from crds/ by hack/update-crd-types.ts. Do not edit.\n${imports.map(([, line]) => line).join('')}\n${text}\n`
}

const fileNameOf = (kind: string): string =>
  `${kind
    .replace('GitOps', 'Gitops')
    .replace(/(?<!^)[A-Z]/g, '-$&')
    .toLowerCase()}.ts`

/** Writes one file per CRD into a folder, which holds nothing else afterwards. */
export async function generateCrdTypes(out: string): Promise<void> {
  for (const name of readdirSync(out)) rmSync(join(out, name))
  for (const name of readdirSync(crdFolder).sort()) {
    if (name === 'kustomization.yaml') continue
    const crd: Crd = parse(readFileSync(join(crdFolder, name), 'utf8'))
    writeFileSync(join(out, fileNameOf(crd.spec.names.kind)), await typesOf(crd))
  }
}

if (import.meta.main) {
  mkdirSync(generatedFolder, { recursive: true })
  await generateCrdTypes(generatedFolder)
}
