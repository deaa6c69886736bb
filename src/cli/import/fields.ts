import { isRecord } from '../../std/index.ts'

/** What a person should know about one field of what is imported. */
export interface Remark {
  /** `spec.images` */
  field: string
  /** A sentence. */
  says: string
}

/** One mapping of an object that is imported. It remembers what was read, so that what nobody has read is told. */
export interface ForeignFields {
  /** Where it stands: `spec.source`. */
  readonly at: string
  text(name: string): string | undefined
  /** The name of an object: it may stand in commands that people copy. */
  objectName(name: string): string | undefined
  flag(name: string): boolean | undefined
  texts(name: string): string[]
  /** Whether something stands there, without having read it. */
  has(name: string): boolean
  /** What stands there, whatever it is. */
  value(name: string): unknown
  record(name: string): ForeignFields | undefined
  records(name: string): ForeignFields[]
  /** Says something about a field, or about the mapping where none is named. */
  tell(says: string, name?: string): void
  /** Read so: it has no meaning for Berth, or Berth does so in any case. */
  pass(...names: string[]): void
}

export interface FieldReading {
  root: ForeignFields
  told(): Remark[]
  /** What was told, and then every field that nobody has read. */
  remarks(): Remark[]
  /** Something in it is of another type than it can be. */
  isWrong(): boolean
}

export function readFields(value: Record<string, unknown>, hintOf: (field: string) => string): FieldReading {
  const told: Remark[] = []
  let isWrong = false
  const readers: { unread(): string[] }[] = []
  const fieldsOf = (mapping: Record<string, unknown>, at: string): ForeignFields => {
    const read = new Set<string>()
    const children = new Map<string, ForeignFields>()
    const below = (name: string) => (at ? `${at}.${name}` : name)
    const take = <T>(name: string, expected: string, as: (found: unknown) => T | undefined): T | undefined => {
      read.add(name)
      const found = mapping[name]
      if (found === undefined || found === null || found === '') return undefined
      const taken = as(found)
      if (taken !== undefined) return taken
      isWrong = true
      told.push({ field: below(name), says: `It is no ${expected}.` })
      return undefined
    }
    // Whoever asks twice gets the same one.
    const child = (found: Record<string, unknown>, name: string): ForeignFields => {
      const fields = children.get(name) ?? fieldsOf(found, below(name))
      children.set(name, fields)
      return fields
    }
    readers.push({
      unread: () =>
        Object.keys(mapping)
          .filter((name) => !read.has(name) && !isEmpty(mapping[name]))
          .map(below),
    })
    return {
      at,
      text: (name) => take(name, 'text', asText),
      objectName: (name) => take(name, 'name such as clusters have', (found) => (isName(found) ? found : undefined)),
      flag: (name) => take(name, 'true or false', (found) => (typeof found === 'boolean' ? found : undefined)),
      texts: (name) => take(name, 'list of texts', asTexts) ?? [],
      has: (name) => !isEmpty(mapping[name]),
      value: (name) => take(name, 'value', (found) => found),
      record: (name) => take(name, 'mapping', (found) => (isRecord(found) ? child(found, name) : undefined)),
      records: (name) =>
        take(name, 'list of mappings', (found) =>
          Array.isArray(found) && found.every(isRecord)
            ? found.map((each, index) => child(each, `${name}[${index}]`))
            : undefined,
        ) ?? [],
      tell: (says, name) => told.push({ field: name === undefined ? at : below(name), says }),
      pass: (...names) => {
        for (const name of names) read.add(name)
      },
    }
  }
  const root = fieldsOf(value, '')
  return {
    root,
    told: () => told,
    isWrong: () => isWrong,
    remarks: () => [...told, ...readers.flatMap(({ unread }) => unread()).map((field) => ({ field, says: hintOf(field) }))],
  }
}

export const isName = (found: unknown): found is string =>
  typeof found === 'string' && found.length <= 253 && /^[a-z0-9][a-z0-9.-]*$/.test(found)

const asText = (found: unknown): string | undefined => {
  if (typeof found === 'string') return found
  // Who writes `targetRevision: 1.10` means the text.
  return typeof found === 'number' ? String(found) : undefined
}

const asTexts = (found: unknown): string[] | undefined => {
  if (!Array.isArray(found)) return undefined
  const texts = found.map(asText).filter((each) => each !== undefined)
  return texts.length === found.length ? texts : undefined
}

/** What says nothing needs no match. */
const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.keys(value).length === 0)

/** As our definitions take one: `1h30m`. */
export const isDuration = (text: string): boolean => /^(?:\d{1,6}[smh])+$/.test(text)

/** What can be done about a field that nothing is made of, by the first pattern that its place matches. */
export const hintsBy =
  (hints: readonly (readonly [pattern: RegExp, hint: string])[]) =>
  (field: string): string =>
    hints.find(([pattern]) => pattern.test(field))?.[1] ?? 'It has no match.'
