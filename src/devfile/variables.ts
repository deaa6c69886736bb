import type { DevfileParts } from './parts.ts'
import { problem, warning } from './problem.ts'
import type { Shape } from './schema.ts'
import { entriesOf, textOf, type YamlScalar, type YamlTree } from './tree.ts'

const VARIABLE = /\{\{([^{}]*)\}\}/g

/** The devfile's own `variables`, by name. */
export function variablesIn(tree: YamlTree | undefined): ReadonlyMap<string, string> {
  const texts = [...entriesOf(tree)].flatMap(([name, { value }]) => {
    const text = textOf(value)
    return text === undefined ? [] : [[name, text] as const]
  })
  return new Map(texts)
}

/** A name that no variable has, and the text in which it is. */
interface Unknown {
  tree: YamlScalar
  name: string
}

/** Characters by which variables lengthen one devfile at most: a text of 60 KB could become one of 200 MB. */
const MOST_ADDED = 131_072

/** What could not be filled in. */
interface Filled {
  unknown: Unknown[]
  /** The first text for which nothing was left; it is as it was, and so are those behind it. */
  tooLong?: YamlScalar
}

/**
 * Fills in `{{ name }}` where the schema says so and nowhere else: once, not recursively. A name that is unknown stays as it is.
 * The tree is changed in place: it was read for this.
 */
export function fillIn(tree: YamlTree, shape: Shape, variables: ReadonlyMap<string, string>): Filled {
  const filled: Filled = { unknown: [] }
  let left = MOST_ADDED
  descend(tree, shape, (scalar) => {
    if (filled.tooLong || typeof scalar.value !== 'string' || !scalar.value.includes('{{')) return
    left -= lengthOf(scalar.value, variables)
    if (left < 0) filled.tooLong = scalar
    else fill(scalar, variables, filled.unknown)
  })
  return filled
}

/** Of what would be put into the text. */
function lengthOf(text: string, variables: ReadonlyMap<string, string>): number {
  let sum = 0
  for (const [, inner = ''] of text.matchAll(VARIABLE)) sum += variables.get(inner.trim())?.length ?? 0
  return sum
}

function descend(tree: YamlTree, shape: Shape, visit: (scalar: YamlScalar) => void): void {
  if (shape.is === 'fields' && tree.kind === 'map') {
    for (const [name, { value }] of tree.entries) {
      const field = shape.fields.get(name)
      if (field) descend(value, field.shape, visit)
    }
  } else if (shape.is === 'list' && tree.kind === 'list') {
    for (const item of tree.items) descend(item, shape.of, visit)
  } else if (shape.is === 'texts' && shape.filled && tree.kind === 'map') {
    for (const { value } of tree.entries.values()) if (value.kind === 'scalar') visit(value)
  } else if (shape.is === 'text' && shape.filled && tree.kind === 'scalar') visit(tree)
}

function fill(tree: YamlScalar, variables: ReadonlyMap<string, string>, unknown: Unknown[]): void {
  const value = String(tree.value).replace(VARIABLE, (whole, inner: string) => {
    const name = inner.trim()
    const known = variables.get(name)
    if (known === undefined) unknown.push({ tree, name })
    return known ?? whole
  })
  tree.value = value
  tree.source = value
}

export function tellUnfilled(parts: DevfileParts, { unknown, tooLong }: Filled): void {
  if (tooLong)
    problem(parts, tooLong, {
      rule: 'size',
      message: `variables add more than ${MOST_ADDED} characters to the devfile`,
      remedy: 'use the long ones less often',
    })
  for (const { tree, name } of unknown)
    warning(parts, tree, {
      rule: 'unknown-variable',
      message: `there is no variable "${name}"`,
      remedy: 'define it in variables, unless the program fills it in',
    })
}

/** A text that may become a name: nobody knows yet what its variables stand for. */
export const withoutVariables = (text: string): string => text.replace(VARIABLE, '')
