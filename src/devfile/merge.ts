import { amountOf } from '../std/index.ts'
import type { FieldsShape, ListShape, Shape } from './schema.ts'
import { at, flagOf, isThere, itemsOf, mapAt, textOf, type YamlList, type YamlMap, type YamlTree } from './tree.ts'

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

function patchedFields(base: YamlMap, patch: YamlMap, { fields, oneOf }: FieldsShape): YamlMap {
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

function patchedList(base: YamlTree, patch: YamlTree, { of, key }: ListShape): YamlTree {
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

/** Two volumes of one name, from a parent and a plugin, are one: as large as the larger, and persistent if one of them is. */
export function mergedVolumes(base: YamlTree | undefined, other: YamlTree): YamlTree | undefined {
  if (base?.kind !== 'map' || other.kind !== 'map' || !isVolume(base) || !isVolume(other)) return undefined
  const [one, two] = [at(base, 'volume'), at(other, 'volume')]
  const entries: YamlMap['entries'] = new Map()
  const size = sizeOf(two) > sizeOf(one) ? at(two, 'size') : at(one, 'size')
  if (size) entries.set('size', { key: size, value: size })
  const flags = [at(one, 'ephemeral'), at(two, 'ephemeral')]
  if (flags.every((flag) => flagOf(flag)) && flags[0]) entries.set('ephemeral', { key: flags[0], value: flags[0] })
  const volume = { key: base.entries.get('volume')?.key ?? base, value: mapAt(one ?? base, entries) }
  return mapAt(base, new Map([...base.entries, ['volume', volume]]))
}

const isVolume = (tree: YamlMap): boolean => tree.entries.has('volume')

const sizeOf = (volume: YamlTree | undefined): number => amountOf(textOf(at(volume, 'size')) ?? '0') ?? 0
