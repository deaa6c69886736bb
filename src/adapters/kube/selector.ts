import { Failure } from '../../std/index.ts'

/** Says whether an object with these labels is selected. */
export type Selector = (labels?: Readonly<Record<string, string>>) => boolean

/** The selector, in the API's own syntax, of what has exactly these labels, and perhaps others. */
export const selectorFor = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map((entry) => entry.join('='))
    .join()

/**
 * Reads a label selector: equality (`a=b`, `a==b`, `a!=b`), sets (`a in (b,c)`, `a notin (b,c)`), existence (`a`, `!a`) and order
 * (`a>1`, `a<1`). An empty one selects all; an invalid one is an `invalid` failure that names the term, and the `field` where it stands.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
 */
export function selectorOf(text = '', field = 'the label selector'): Selector {
  if (text.trim() === '') return () => true
  const terms = termsIn(text).map((term) => termOf(term.trim(), field))
  return (labels = {}) => terms.every((holds) => holds(labels))
}

/** Commas between parentheses are not between terms. */
function termsIn(text: string): string[] {
  const terms: string[] = []
  let begin = 0
  let isInside = false
  for (const { 0: sign, index } of text.matchAll(/[(),]/g)) {
    if (sign === ',' && !isInside) {
      terms.push(text.slice(begin, index))
      begin = index + 1
    } else if (sign !== ',') isInside = sign === '('
  }
  return [...terms, text.slice(begin)]
}

type Term = (labels: Readonly<Record<string, string>>) => boolean

function termOf(term: string, field: string): Term {
  const read = setIn(term) ?? comparisonIn(term) ?? existenceIn(term)
  if (read) return read
  throw new Failure('invalid', `${field}: ${JSON.stringify(shown(term))} is no term of a label selector`, {
    reason: 'LabelSelectorInvalid',
    remedy: 'Write terms such as app=web, tier in (front,back) or !legacy, with commas between them',
  })
}

function setIn(term: string): Term | undefined {
  const [, key = '', operator, list = ''] = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(term) ?? []
  const values = list.split(',').map((value) => value.trim())
  if (!isKey(key) || list.trim() === '' || !values.every(isValue)) return undefined
  const among = new Set(values)
  return (labels) => (Object.hasOwn(labels, key) && among.has(labels[key] ?? '')) === (operator === 'in')
}

function comparisonIn(term: string): Term | undefined {
  const [, key = '', sign, value = ''] = /^([^=!<>\s]+)\s*(!=|==?|[<>])\s*([^=!<>\s]*)$/.exec(term) ?? []
  if (!isKey(key)) return undefined
  if (sign === '<' || sign === '>') return isInteger(value) ? orderIn(key, sign, BigInt(value)) : undefined
  return isValue(value) ? (labels) => (labels[key] === value) === (sign !== '!=') : undefined
}

const orderIn = (key: string, sign: string, bound: bigint): Term => {
  const isWithin = (value: bigint) => (sign === '<' ? value < bound : value > bound)
  return ({ [key]: value = '' }) => isInteger(value) && isWithin(BigInt(value))
}

function existenceIn(term: string): Term | undefined {
  const [, not, key = ''] = /^(!?)\s*(\S+)$/.exec(term) ?? []
  return isKey(key) ? (labels) => Object.hasOwn(labels, key) === (not === '') : undefined
}

const isName = (text: string): boolean => /^[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/.test(text)
const isValue = (text: string): boolean => text === '' || isName(text)
/** 64 bits, with a sign in no label. */
const isInteger = (text: string): boolean => /^\d{1,19}$/.test(text) && BigInt(text) < 2n ** 63n

/** `name`, or `prefix/name`. */
function isKey(text: string): boolean {
  const [name = '', prefix, ...more] = text.split('/').reverse()
  return isName(name) && more.length === 0 && (prefix === undefined || isDomain(prefix))
}

const isDomain = (text: string): boolean =>
  text.length <= 253 && text.split('.').every((part) => /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(part))

const shown = (term: string): string => (term.length > 100 ? `${term.slice(0, 100)}…` : term)
