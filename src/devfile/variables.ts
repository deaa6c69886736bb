import { type Findings, problemAt } from './problem.ts'
import type { Shape } from './schema.ts'
import { entriesOf, textOf, walkTree, type YamlScalar, type YamlTree } from './tree.ts'

const VARIABLE = /\{\{([^{}]*)\}\}/g

/** The devfile's own `variables`, by name. */
export function variablesIn(tree: YamlTree | undefined): ReadonlyMap<string, string> {
  const texts = [...entriesOf(tree)].flatMap(([name, { value }]) => {
    const text = textOf(value)
    return text === undefined ? [] : [[name, text] as const]
  })
  return new Map(texts)
}

/** A name that no variable has, and where it is written. */
export interface Unknown {
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

/** Places are looked up only now: nearly always there is nothing to tell. */
export function tellUnknown(root: YamlTree, unknown: readonly Unknown[], { warnings }: Findings): void {
  if (unknown.length === 0) return
  const paths = new Map<YamlTree, string>()
  walkTree(root, '', (tree, path) => paths.set(tree, path))
  for (const { tree, name } of unknown)
    warnings.push(
      problemAt(tree, paths.get(tree) ?? '', {
        rule: 'unknown-variable',
        message: `there is no variable "${name}"`,
        remedy: 'define it in variables, unless the program fills it in',
      }),
    )
}
