import { harmless } from '../std/index.ts'

const MARKUP: unique symbol = Symbol('markup')

/** Markup in which every text of others is text. Only `html` makes it; nothing that was parsed or read can pass for it. */
export interface Html {
  readonly [MARKUP]: string
}

export type Child = Html | string | number | false | undefined | readonly Child[]

/** A template whose values are texts, for elements and for attributes in double quotes, unless they are markup already. */
export function html(texts: TemplateStringsArray, ...values: readonly Child[]): Html {
  let markup = texts[0] ?? ''
  for (const [at, value] of values.entries()) markup += written(value) + (texts[at + 1] ?? '')
  return { [MARKUP]: markup }
}

export const markupOf = (made: Html): string => made[MARKUP]

function written(value: Child): string {
  if (value === undefined || value === false) return ''
  if (typeof value === 'string' || typeof value === 'number') return escaped(String(value))
  if (isHtml(value)) return value[MARKUP]
  return value.map(written).join('')
}

const isHtml = (value: Html | readonly Child[]): value is Html => MARKUP in value

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Marks that turn the direction of a text around are shown as what they are. */
const escaped = (text: string): string => harmless(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

/** Links lead to hosts by TLS, and nowhere that runs something. */
export function linkTo(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined
  const parsed = new URL(url)
  return parsed.protocol === 'https:' ? parsed.href : undefined
}
