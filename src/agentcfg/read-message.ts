import type { DescEnum, DescField, DescMessage, JsonObject, JsonValue } from '@bufbuild/protobuf'
import { isNear, type YamlTree } from '../std/index.ts'
import { type MistakeList, type MistakePlace, shown } from './mistakes.ts'

/** Told of each value that has the right shape: `rule` is the name of its field, `GitopsCF.manifest_projects`. */
export type CheckValue = (tree: YamlTree, where: Where) => void

export interface Where {
  /** `gitops.manifest_projects[0]` */
  path: string
  field: DescField
}

interface Reading {
  findings: MistakeList
  visit: CheckValue
}

/**
 * The JSON of a message, as protobuf reads it strictly: a key that no field has is a mistake, and so is a value of another type.
 * `null` is as if it were not there.
 */
export function readMessage(reading: Reading, desc: DescMessage, tree: YamlTree, path: string): JsonObject {
  const json: JsonObject = {}
  if (tree.kind !== 'map') {
    reading.findings.add(tree, `${path || 'the file'} is ${nounOf(tree)}; write keys with values (${namesOf(desc)})`)
    return json
  }
  const fields = new Map(desc.fields.map((field) => [field.name, field]))
  const oneofs = new Map<string, string>()
  for (const [name, { key, value }] of tree.entries) {
    const field = fields.get(name)
    const at = path ? `${path}.${name}` : name
    if (!field) {
      reading.findings.add(key, unknownKey(desc, path, name))
      continue
    }
    if (value.kind === 'scalar' && value.value === null) continue
    const oneof = field.oneof?.name
    const other = oneof === undefined ? undefined : oneofs.get(oneof)
    if (other !== undefined) reading.findings.add(key, `${at} stands beside ${other}; only one of them may be there`)
    if (oneof !== undefined) oneofs.set(oneof, name)
    const read = readField(reading, field, value, at)
    if (read !== undefined) json[name] = read
  }
  return json
}

function readField(reading: Reading, field: DescField, tree: YamlTree, path: string): JsonValue | undefined {
  reading.visit(tree, { path, field })
  if (field.fieldKind === 'list') return readList(reading, field, tree, path)
  if (field.fieldKind === 'message') return readNested(reading, field.message, tree, path)
  if (field.fieldKind === 'enum') return readEnum(reading, field.enum, tree, path)
  return readScalar(reading, field, tree, path)
}

function readList(reading: Reading, field: DescField & { fieldKind: 'list' }, tree: YamlTree, path: string): JsonValue[] {
  if (tree.kind !== 'list') {
    reading.findings.add(tree, `${path} is ${nounOf(tree)}; write a list`)
    return []
  }
  return tree.items.flatMap((item, i) => {
    const at = `${path}[${i}]`
    const read =
      field.listKind === 'message' ? readNested(reading, field.message, item, at) : readScalar(reading, field, item, at)
    return read === undefined ? [] : [read]
  })
}

const readNested = (reading: Reading, desc: DescMessage, tree: YamlTree, path: string): JsonValue | undefined =>
  desc.typeName === 'google.protobuf.Duration' ? readDuration(reading, tree, path) : readMessage(reading, desc, tree, path)

/** Texts and truth values are all that a configuration has. */
function readScalar({ findings }: Reading, field: DescField, tree: YamlTree, path: string): JsonValue | undefined {
  const value = tree.kind === 'scalar' ? tree.value : undefined
  const wanted = field.scalar === BOOL ? 'boolean' : 'string'
  if (typeof value === wanted && value !== undefined) return value
  findings.add(
    tree,
    `${path} is ${nounOf(tree)}; write ${wanted === 'boolean' ? 'true or false' : 'a text, in quotes if need be'}`,
  )
  return undefined
}

/** ScalarType.BOOL, which is a constant of the library and not worth importing it for. */
const BOOL = 8

function readEnum({ findings }: Reading, desc: DescEnum, tree: YamlTree, path: string): JsonValue | undefined {
  const value = tree.kind === 'scalar' ? tree.value : undefined
  const known = desc.values.find(({ name, number }) => name === value || number === value)
  if (known) return known.name
  findings.add(tree, `${path} is ${nounOf(tree)}; write one of ${desc.values.map(({ name }) => name).join(', ')}`)
  return undefined
}

/** As protobuf writes it. 10,000 years are its limit. */
const DURATION = /^-?(\d{1,12})(\.\d{1,9})?s$/
const LONGEST_DURATION = 315_576_000_000

function readDuration({ findings }: Reading, tree: YamlTree, path: string): JsonValue | undefined {
  const value = tree.kind === 'scalar' ? tree.value : undefined
  const count = typeof value === 'string' ? DURATION.exec(value)?.[1] : undefined
  if (typeof value === 'string' && count !== undefined && Number(count) <= LONGEST_DURATION) return value
  findings.add(tree, `${path} is ${nounOf(tree)}; write seconds, such as 3600s`)
  return undefined
}

function nounOf(tree: YamlTree & MistakePlace): string {
  if (tree.kind === 'list') return 'a list'
  if (tree.kind === 'map') return 'a mapping'
  if (tree.value === null) return 'empty'
  return shown(tree.value)
}

const namesOf = (desc: DescMessage): string => desc.fields.map(({ name }) => name).join(', ')

function unknownKey(desc: DescMessage, path: string, name: string): string {
  const near = desc.fields.find((field) => isNear(field.name, name))
  const where = path ? `${path} has` : 'there is'
  if (desc.fields.length === 0) return `${where} the key ${shown(name)}; leave it out, nothing can be said here`
  return `${where} no key ${shown(name)}; ${near ? `did you mean ${near.name}?` : `the keys are ${namesOf(desc)}`}`
}
