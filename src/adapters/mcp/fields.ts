import { beginningOf, harmless, isRecord } from '../../std/index.ts'

/** An argument of a tool: how clients are told of it, and how its value is read. */
export interface Field<Value> {
  schema: Record<string, unknown>
  isOptional: boolean
  /** A value that is wrong may be long or secret: of it is said what it is, and not how it reads. */
  isQuiet?: boolean
  /** Gives the value, or says what it must be. */
  read(given: unknown): { value: Value } | { mustBe: string }
}

interface TextOptions {
  /** In characters. */
  most?: number
  /** Linear, and what a text must be that does not match it. */
  pattern?: readonly [pattern: RegExp, mustBe: string]
}

const MOST_CHARACTERS = 4096

export function text(description: string, { most = MOST_CHARACTERS, pattern }: TextOptions = {}): Field<string> {
  const [shape, mustBe] = pattern ?? []
  return {
    schema: { type: 'string', description, maxLength: most, ...(shape && { pattern: shape.source }) },
    isOptional: false,
    isQuiet: shape === undefined,
    read(given) {
      if (typeof given !== 'string') return { mustBe: 'a text' }
      if (given.length > most) return { mustBe: `a text of ${most} characters at most, and it has ${given.length}` }
      return shape && !shape.test(given) ? { mustBe: mustBe ?? 'another text' } : { value: given }
    },
  }
}

export const whole = (
  description: string,
  { least, most, otherwise }: { least: number; most: number; otherwise: number },
): Field<number> =>
  withDefault(
    {
      schema: { type: 'integer', description, minimum: least, maximum: most },
      isOptional: false,
      read: (given) =>
        typeof given === 'number' && Number.isInteger(given) && given >= least && given <= most
          ? { value: given }
          : { mustBe: `a whole number from ${least} to ${most}` },
    },
    otherwise,
  )

export const flag = (description: string, otherwise: boolean): Field<boolean> =>
  withDefault(
    {
      schema: { type: 'boolean', description },
      isOptional: false,
      read: (given) => (typeof given === 'boolean' ? { value: given } : { mustBe: 'true or false' }),
    },
    otherwise,
  )

export const choice = <Word extends string>(description: string, words: readonly Word[]): Field<Word> => ({
  schema: { type: 'string', description, enum: words },
  isOptional: false,
  read(given) {
    const value = words.find((word) => word === given)
    return value === undefined ? { mustBe: `one of ${words.join(', ')}` } : { value }
  },
})

/** Texts in their order; at least one. */
export const list = (description: string, { most, characters }: { most: number; characters: number }): Field<string[]> => ({
  schema: { type: 'array', description, minItems: 1, maxItems: most, items: { type: 'string', maxLength: characters } },
  isOptional: false,
  isQuiet: true,
  read(given) {
    const mustBe = `a list of 1 to ${most} texts, of ${characters} characters at most each`
    if (!Array.isArray(given) || given.length === 0 || given.length > most) return { mustBe }
    const value = given.filter((each) => typeof each === 'string' && each.length <= characters)
    return value.length === given.length ? { value } : { mustBe }
  },
})

/** Texts by names, which are said to nobody again: they may be secret. */
export const wordsByName = (description: string, most: number): Field<Record<string, string>> => ({
  schema: {
    type: 'object',
    description,
    writeOnly: true,
    maxProperties: most,
    additionalProperties: { type: 'string', maxLength: MOST_CHARACTERS },
  },
  isOptional: false,
  isQuiet: true,
  read(given) {
    const mustBe = `an object of ${most} texts at most, of ${MOST_CHARACTERS} characters at most each`
    if (!isRecord(given)) return { mustBe }
    const entries = Object.entries(given).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' && value.length <= MOST_CHARACTERS ? [[name, value]] : [],
    )
    const isWhole = entries.length === Object.keys(given).length && entries.length <= most
    return isWhole ? { value: Object.fromEntries(entries) } : { mustBe }
  },
})

/** What may be left out. */
export const optional = <Value>({ schema, isQuiet = false, read }: Field<Value>): Field<Value | undefined> => ({
  schema,
  isOptional: true,
  isQuiet,
  read: (given) => (given === undefined ? { value: undefined } : read(given)),
})

const withDefault = <Value>({ schema, read }: Field<Value>, otherwise: Value): Field<Value> => ({
  schema: { ...schema, default: otherwise },
  isOptional: true,
  read: (given) => (given === undefined ? { value: otherwise } : read(given)),
})

export type Fields = Record<string, Field<unknown>>

export type ValuesOf<Wanted extends Fields> = {
  [Name in keyof Wanted]: Wanted[Name] extends Field<infer Value> ? Value : never
}

export const schemaOf = (fields: Fields): Record<string, unknown> => ({
  type: 'object',
  properties: Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])),
  required: Object.entries(fields).flatMap(([name, { isOptional }]) => (isOptional ? [] : [name])),
  additionalProperties: false,
})

/** The values, or a sentence about each field that is wrong. Of a value its beginning is said again at most. */
export function valuesFrom<Wanted extends Fields>(
  fields: Wanted,
  given: unknown,
): { values: ValuesOf<Wanted> } | { wrong: string[] } {
  if (!isRecord(given)) return { wrong: ['the arguments must be an object.'] }
  const known = Object.keys(fields).join(', ')
  const wrong = Object.keys(given)
    .filter((name) => !Object.hasOwn(fields, name))
    .map((name) => `there is no ${sayName(name)}. Its fields are ${known}.`)
  const values: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    const found = field.read(value)
    if ('value' in found) values[name] = found.value
    else if (value === undefined) wrong.push(`${name} is missing. It must be ${found.mustBe}.`)
    else wrong.push(`${name} is ${sayValue(field, value)}. It must be ${found.mustBe}.`)
  }
  if (wrong.length > 0) return { wrong: wrong.slice(0, MOST_WRONG) }
  return { values: values as ValuesOf<Wanted> } // each field has read its own value
}

const sayValue = ({ isQuiet }: Field<unknown>, value: unknown): string =>
  isQuiet ? kindOf(value) : harmless(beginningOf(JSON.stringify(value), MOST_SAID))

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (isRecord(value)) return 'an object'
  return typeof value === 'string' ? 'a text' : `a ${value === null ? 'null' : typeof value}`
}

/** Whoever writes `TOKEN=value` where a name belongs has written a value. */
const sayName = (name: string): string =>
  FIELD_NAME.test(name) ? `field "${name}"` : `field of a name of ${name.length} characters that is given`

const FIELD_NAME = /^[A-Za-z_]{1,40}$/

const MOST_SAID = 100
const MOST_WRONG = 10
