import type { Attributes, EnvVar } from './devfile.ts'
import { at, dataOf, entriesOf, itemsOf, textOf, type YamlTree } from './tree.ts'

/** Free-form values as plain data. */
export function attributesOf(tree: YamlTree): Attributes {
  return Object.fromEntries([...entriesOf(at(tree, 'attributes'))].map(([name, { value }]) => [name, dataOf(value)]))
}

export const textsOf = (tree: YamlTree | undefined): string[] => itemsOf(tree).map((item) => textOf(item) ?? '')

export const mapOf = (tree: YamlTree | undefined): Record<string, string> =>
  Object.fromEntries([...entriesOf(tree)].map(([name, { value }]) => [name, textOf(value) ?? '']))

export const envOf = (tree: YamlTree | undefined): EnvVar[] =>
  itemsOf(tree).map((item) => ({ name: textOf(at(item, 'name')) ?? '', value: textOf(at(item, 'value')) ?? '' }))

export function oneOf<const T extends string>(words: readonly T[], tree: YamlTree | undefined): T | undefined {
  const text = textOf(tree)
  return words.find((word) => word === text)
}
