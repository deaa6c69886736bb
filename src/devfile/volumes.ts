import { amountOf } from '../std/index.ts'
import { at, flagOf, textOf, type YamlMap, type YamlTree } from './tree.ts'

/** Two volumes of one name, from a parent and a plugin, are one: as large as the larger, and persistent if one of them is. */
export function mergedVolumes(base: YamlTree | undefined, other: YamlTree): YamlTree | undefined {
  if (base?.kind !== 'map' || other.kind !== 'map' || !isVolume(base) || !isVolume(other)) return undefined
  const [one, two] = [at(base, 'volume'), at(other, 'volume')]
  const entries: YamlMap['entries'] = new Map()
  const size = sizeOf(two) > sizeOf(one) ? at(two, 'size') : at(one, 'size')
  if (size) entries.set('size', { key: size, value: size })
  const flags = [at(one, 'ephemeral'), at(two, 'ephemeral')]
  if (flags.every((flag) => flagOf(flag)) && flags[0]) entries.set('ephemeral', { key: flags[0], value: flags[0] })
  const { file, line, column } = one ?? base
  const volume: YamlMap = { kind: 'map', file, line, column, entries }
  return {
    ...base,
    entries: new Map([...base.entries, ['volume', { key: base.entries.get('volume')?.key ?? base, value: volume }]]),
  }
}

const isVolume = (tree: YamlMap): boolean => tree.entries.has('volume')

const sizeOf = (volume: YamlTree | undefined): number => amountOf(textOf(at(volume, 'size')) ?? '0') ?? 0
