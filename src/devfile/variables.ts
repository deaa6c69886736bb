import type { DevfileParts } from './parts.ts'
import { warning } from './problem.ts'
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

/**
 * Fills in `{{ name }}` where the schema says so and nowhere else: once, not recursively. A name that is unknown stays as it is.
 * The tree is changed in place: it was read for this.
 */
export function fillIn(tree: YamlTree, shape: Shape, variables: ReadonlyMap<string, string>): Unknown[] {
  const unknown: Unknown[] = []
  descend(tree, shape, (scalar) => fill(scalar, variables, unknown))
  return unknown
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
  if (typeof tree.value !== 'string' || !tree.value.includes('{{')) return
  const value = tree.value.replace(VARIABLE, (whole, inner: string) => {
    const name = inner.trim()
    const known = variables.get(name)
    if (known === undefined) unknown.push({ tree, name })
    return known ?? whole
  })
  tree.value = value
  tree.source = value
}

export function tellUnknown(parts: DevfileParts, unknown: readonly Unknown[]): void {
  for (const { tree, name } of unknown)
    warning(parts, tree, {
      rule: 'unknown-variable',
      message: `there is no variable "${name}"`,
      remedy: 'define it in variables, unless the program fills it in',
    })
}

/** A text that may become a name: nobody knows yet what its variables stand for. */
export const withoutVariables = (text: string): string => text.replace(VARIABLE, '')
