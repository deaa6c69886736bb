import type { Fields, List, Shape } from './schema.ts'
import { at, isThere, itemsOf, textOf, type YamlList, type YamlMap, type YamlTree } from './tree.ts'

/**
 * A strategic merge patch, as the devfile specification has it for overrides: mappings are merged, lists by their key, lists
 * without a key are replaced, `null` takes away, and another member of a union takes the place of the one that was there.
 * https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md
 */
export function patched(base: YamlTree, patch: YamlTree, shape: Shape): YamlTree {
  if (shape.is === 'list') return patchedList(base, patch, shape)
  if (base.kind !== 'map' || patch.kind !== 'map') return patch
  if (shape.is === 'fields') return patchedFields(base, patch, shape)
  return shape.is === 'texts' || shape.is === 'free' ? entriesOver(base, patch) : patch
}

function patchedFields(base: YamlMap, patch: YamlMap, { fields, oneOf }: Fields): YamlMap {
  const entries = new Map(base.entries)
  if (oneOf.some((name) => isThere(patch.entries.get(name)?.value)))
    for (const name of oneOf) if (!patch.entries.has(name)) entries.delete(name)
  for (const [name, entry] of patch.entries) {
    const there = entries.get(name)
    const shape = fields.get(name)?.shape
    if (!isThere(entry.value)) entries.delete(name)
    else if (there && shape && isThere(there.value))
      entries.set(name, { key: there.key, value: patched(there.value, entry.value, shape) })
    else entries.set(name, entry)
  }
  return { ...base, entries }
}

function patchedList(base: YamlTree, patch: YamlTree, { of, key }: List): YamlTree {
  if (base.kind !== 'list' || patch.kind !== 'list' || key === undefined) return patch
  const items = [...base.items]
  const places = new Map(items.map((item, i) => [textOf(at(item, key)), i]))
  for (const item of patch.items) {
    const place = places.get(textOf(at(item, key)))
    const there = place === undefined ? undefined : items[place]
    if (place === undefined || !there) items.push(item)
    else items[place] = patched(there, item, of)
  }
  return { ...base, items }
}

/** Those of `over` win; `null` takes away. */
export function entriesOver(base: YamlTree, over: YamlTree): YamlTree {
  if (over.kind !== 'map' || base.kind !== 'map') return over
  const entries = new Map(base.entries)
  for (const [name, entry] of over.entries) {
    if (isThere(entry.value)) entries.set(name, entry)
    else entries.delete(name)
  }
  return { ...base, entries }
}

/** One list behind the other; what is in both, by its text, is there once. */
export function union(base: YamlTree | undefined, over: YamlTree | undefined): YamlList | undefined {
  const first = base?.kind === 'list' ? base : over?.kind === 'list' ? over : undefined
  if (!first) return undefined
  const texts = new Set<string | undefined>()
  const items = [...itemsOf(base), ...itemsOf(over)].filter((item) => {
    const text = textOf(item)
    const isNew = text === undefined || !texts.has(text)
    texts.add(text)
    return isNew
  })
  return { ...first, items }
}
