import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv, type ErrorObject } from 'ajv'
import { beginningOf, Failure, isHostOrAddress, parseYaml, parseYamlTree, type YamlSpot, type YamlTree } from '../../std/index.ts'
import type { InstallValues } from './generated/values.ts'
import { mistakesInVariables, type ValueMistake } from './variables.ts'

export interface ValuesFile {
  name: string
  text: string
}

/**
 * What a file of values says, and what flags say beside it, which win; or everything that the schema (`deploy/values.schema.json`, in the
 * folder of Berth) or a program does not allow, each with its line. Throws `invalid` where it is no YAML.
 */
export async function readValues(
  home: string,
  file: ValuesFile | undefined,
  flags: InstallValues,
): Promise<{ values: InstallValues } | { mistakes: string[] }> {
  const schema = JSON.parse(readFileSync(join(home, 'deploy', 'values.schema.json'), 'utf8'))
  const ajv = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true, formats: { 'host-or-address': isHostOrAddress } })
  const given = ajv.compile<InstallValues>(schema)
  const mistakesIn = (some: unknown) => (given(some) ? [] : (given.errors ?? []).filter(isTold))
  const { value, tree } = file ? parse(file) : { value: {} }
  const inFile = given(value) ? await mistakesInVariables(value) : (given.errors ?? []).filter(isTold).map(mistakeOf)
  const placed = inFile.map((mistake) => ({ ...mistake, line: lineOf(mistake, tree) }))
  const mistakes = [
    ...placed.toSorted((one, other) => one.line - other.line).map((mistake) => `${file?.name}:${mistake.line}: ${mistake.told}`),
    ...mistakesIn(flags).map((error) => `the command line: ${told(error)}`),
  ]
  return mistakes.length === 0 && given(value) ? { values: { ...value, ...flags } } : { mistakes }
}

/** That a name is not one is told by the error about the name itself. */
const isTold = ({ keyword }: ErrorObject): boolean => keyword !== 'propertyNames'

function parse({ name, text }: ValuesFile): { value: unknown; tree?: YamlTree } {
  const { documents, problem } = parseYaml(text)
  const shape = parseYamlTree(text, { file: name })
  const wrong = problem ?? shape.problem
  if (wrong)
    throw new Failure('invalid', `${name}:${wrong.line}:${wrong.column}: ${wrong.message}`, {
      remedy: 'Write it as one document of YAML.',
    })
  return { value: documents?.[0]?.value ?? {}, ...(shape.tree && { tree: shape.tree }) }
}

function mistakeOf(error: ErrorObject): ValueMistake {
  const wrongName: unknown = error.propertyName ?? error.params.additionalProperty
  const steps = [...stepsOf(error.instancePath), ...(wrongName === undefined ? [] : [String(wrongName)])]
  return { steps, told: told(error) }
}

/** That of the value, or of the nearest one around it. */
function lineOf({ steps }: ValueMistake, tree: YamlTree | undefined): number {
  if (!tree) return 1
  let [spot, at]: [YamlSpot, YamlTree | undefined] = [tree, tree]
  for (const step of steps) {
    const entry: { key: YamlSpot; value: YamlTree } | undefined = at?.kind === 'map' ? at.entries.get(step) : undefined
    at = entry?.value ?? (at?.kind === 'list' ? at.items[Number(step)] : undefined)
    spot = entry?.key ?? at ?? spot
  }
  return spot.line
}

/** What these want is said by the description alone. */
const TOLD_BY_MEANING = new Set(['pattern', 'format', 'not'])

/** A sentence about the value, with what may stand in its place. */
function told({ instancePath, keyword, params, message = '', data, parentSchema = {}, propertyName }: ErrorObject): string {
  const steps = stepsOf(instancePath)
  const at = (...more: unknown[]) => pathOf([...steps, ...more.map(String)]) || 'the file'
  if (keyword === 'additionalProperties')
    return `${at(params.additionalProperty)} is not known; known there: ${Object.keys(parentSchema.properties ?? {}).join(', ')}`
  if (keyword === 'required') return `${at(params.missingProperty)} is missing`
  const meaning = String(parentSchema.description ?? message)
  if (propertyName !== undefined) return `${at(propertyName)} is no name that can stand there. ${meaning}`
  // Variables may be secrets.
  const is = `${at()} is ${steps.includes('env') ? '***' : beginningOf(JSON.stringify(data), LONGEST)}`
  if (keyword === 'enum') return `${is}; use one of ${params.allowedValues.join(', ')}`
  return TOLD_BY_MEANING.has(keyword) ? `${is}. ${meaning}` : `${is}, which ${message}`
}

/** A list or a certificate in the wrong place would fill the screen. */
const LONGEST = 100

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
