import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv, type ErrorObject } from 'ajv'
import { Failure, parseYaml, parseYamlTree, type YamlSpot, type YamlTree } from '../../std/index.ts'
import type { InstallValues } from './generated/values.ts'

export interface ValuesFile {
  name: string
  text: string
}

/**
 * What a file of values says, and what flags say beside it, which win. Throws `invalid` with everything that the schema
 * (`deploy/values.schema.json`, in the folder of Berth) does not allow, each with its line.
 */
export function readValues(home: string, file: ValuesFile | undefined, flags: InstallValues): InstallValues {
  const schema = JSON.parse(readFileSync(join(home, 'deploy', 'values.schema.json'), 'utf8'))
  const given = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true }).compile<InstallValues>(schema)
  const mistakesIn = (some: unknown) => (given(some) ? [] : (given.errors ?? []))
  const read = file ? parse(file) : { value: {} }
  const inFile = mistakesIn(read.value).map((error) => ({ line: lineOf(error, read.tree), told: told(error) }))
  const mistakes = [
    ...inFile.toSorted((one, other) => one.line - other.line).map((mistake) => `${file?.name}:${mistake.line}: ${mistake.told}`),
    ...mistakesIn(flags).map((error) => `the command line: ${told(error)}`),
  ]
  if (mistakes.length === 0 && given(read.value)) return { ...read.value, ...flags }
  throw new Failure('invalid', mistakes.join('\n'), {
    remedy: 'docs/installation-values.md says what each value takes.',
  })
}

function parse({ name, text }: ValuesFile): { value: unknown; tree?: YamlTree } {
  const { documents, problem } = parseYaml(text)
  const shape = parseYamlTree(text, { file: name })
  const wrong = problem ?? shape.problem
  if (wrong)
    throw new Failure('invalid', `${name}:${wrong.line}:${wrong.column}: ${wrong.message}`, { remedy: 'Write it as YAML.' })
  return { value: documents?.[0]?.value ?? {}, ...(shape.tree && { tree: shape.tree }) }
}

/** That of the value that the error is about, or of the nearest one around it. */
function lineOf({ instancePath, params }: ErrorObject, tree: YamlTree | undefined): number {
  if (!tree) return 1
  let [spot, at]: [YamlSpot, YamlTree | undefined] = [tree, tree]
  const unknownName = 'additionalProperty' in params ? [String(params.additionalProperty)] : []
  for (const step of [...stepsOf(instancePath), ...unknownName]) {
    const entry: { key: YamlSpot; value: YamlTree } | undefined = at?.kind === 'map' ? at.entries.get(step) : undefined
    at = entry?.value ?? (at?.kind === 'list' ? at.items[Number(step)] : undefined)
    spot = entry?.key ?? at ?? spot
  }
  return spot.line
}

/** A sentence about the value, with what may stand in its place. */
function told({ instancePath, keyword, params, message = '', data, parentSchema = {} }: ErrorObject): string {
  const path = pathOf(stepsOf(instancePath))
  const is = `${path || 'the file'} is ${JSON.stringify(data)}`
  if (keyword === 'additionalProperties') {
    const known = Object.keys(parentSchema.properties ?? {}).join(', ')
    return `${pathOf([...stepsOf(instancePath), String(params.additionalProperty)])} is not known; known there: ${known}`
  }
  if (keyword === 'required') return `${pathOf([...stepsOf(instancePath), String(params.missingProperty)])} is missing`
  if (keyword === 'enum') return `${is}; use one of ${params.allowedValues.join(', ')}`
  const meaning: unknown = parentSchema.description
  return keyword === 'pattern' && typeof meaning === 'string' ? `${is}. ${meaning}` : `${is}, which ${message}`
}

/** Of a JSON pointer. */
const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

const pathOf = (steps: readonly string[]): string =>
  steps
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '')
