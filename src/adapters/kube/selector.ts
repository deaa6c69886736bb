import { Failure } from '../../std/index.ts'

/** Whether an object with these labels is meant. */
export type Selector = (labels?: Readonly<Record<string, string>>) => boolean

/**
 * Reads a label selector: equality (`a=b`, `a==b`, `a!=b`), sets (`a in (b,c)`, `a notin (b,c)`) and existence (`a`, `!a`). An empty
 * one selects all; one that is none is an `invalid` failure that names the term, and the `field` where it stands.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
 */
export function selectorOf(text = '', field = 'the label selector'): Selector {
  if (text.trim() === '') return () => true
  const terms = termsIn(text).map((term) => termOf(term.trim(), field))
  return (labels = {}) => terms.every((holds) => holds(labels))
}

/** Commas between parentheses are not between terms. */
const termsIn = (text: string): string[] =>
  text.replace(/\([^()]*\)/g, (values) => values.replaceAll(',', BETWEEN_VALUES)).split(',')

/** No selector has one. */
const BETWEEN_VALUES = '|'

type Term = (labels: Readonly<Record<string, string>>) => boolean

const SET = /^([\w./-]+)\s+(in|notin)\s*\(([^()]*)\)$/
const EQUALITY = /^([\w./-]+)\s*(!=|==?)\s*([\w.-]*)$/
const EXISTENCE = /^(!?)\s*([\w./-]+)$/

function termOf(term: string, field: string): Term {
  const [, among, operator, list = ''] = SET.exec(term) ?? []
  if (among !== undefined) {
    const values = new Set(list.split(BETWEEN_VALUES).map((one) => one.trim()))
    return (labels) => (Object.hasOwn(labels, among) && values.has(labels[among] ?? '')) === (operator === 'in')
  }
  const [, compared, sign, value] = EQUALITY.exec(term) ?? []
  if (compared !== undefined) return (labels) => (labels[compared] === value) === (sign !== '!=')
  const [, not, key] = EXISTENCE.exec(term) ?? []
  if (key !== undefined) return (labels) => Object.hasOwn(labels, key) === (not === '')
  throw new Failure('invalid', `${field}: ${JSON.stringify(shown(term))} is no term of a label selector`, {
    reason: 'LabelSelectorInvalid',
    remedy: 'Write terms such as app=web, tier in (front,back) or !legacy, with commas between them',
  })
}

const shown = (term: string): string => (term.length > 100 ? `${term.slice(0, 100)}…` : term).replaceAll(BETWEEN_VALUES, ',')
