import { beginningOf, Failure, harmless, isRecord } from '../../../std/index.ts'
import { FACTS, type Facts } from './facts.ts'
import type { Notification } from './news.ts'

type Template = NonNullable<Notification['template']>
type ContentType = NonNullable<Template['contentType']>

/** `${name}`, or `$${name}` that stands for `${name}` itself; one that has no end is a mistake. */
const REFERENCE = /\$(\$?)\{([^{}]*)(\}?)/g

/** Characters of a letter. A message of 4,096 may be asked for many times. */
const MOST = 65_536

/** The body that a template makes of the facts. One that is wrong is an `invalid` failure that names the place in it. */
export function bodyFrom(template: Template, facts: Facts): string {
  const made = bodyWith(template, (name) => harmless(facts[name]))
  if (made.length <= MOST) return made
  throw new Failure('invalid', `template.body becomes longer than ${MOST} characters`, { remedy: 'Name fewer values in it' })
}

/** Throws what is wrong with it, whatever the facts may be. */
export const checkTemplate = (template: Template): unknown => bodyWith(template, () => '')

type ValueOf = (name: keyof Facts) => string

const bodyWith = ({ contentType = 'application/json', body }: Template, value: ValueOf): string =>
  FORMS[contentType](body, (text) => filled(text, value))

type Fill = (text: string) => string

/** Values are put into what has been parsed: no value can end the text in which it stands. */
const FORMS: Record<ContentType, (body: string, fill: Fill) => string> = {
  'application/json': (body, fill) => JSON.stringify(inValues(parsed(body), fill)),
  'application/x-www-form-urlencoded'(body, fill) {
    const form = new URLSearchParams()
    for (const [key, value] of new URLSearchParams(body.trim())) form.append(key, fill(value))
    return String(form)
  },
  'text/plain': (body, fill) => fill(body),
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (thrown) {
    throw new Failure('invalid', 'template.body is no JSON', {
      cause: thrown,
      remedy: 'Write ${name} within the quotes of texts, or set template.contentType',
    })
  }
}

/** Nobody's API takes more, and the stack has an end. */
const DEEPEST = 64

function inValues(value: unknown, fill: Fill, depth = 0): unknown {
  if (typeof value === 'string') return fill(value)
  if (depth > DEEPEST)
    throw new Failure('invalid', `template.body is nested more than ${DEEPEST} deep`, { remedy: 'Write it flatter' })
  if (Array.isArray(value)) return value.map((item) => inValues(item, fill, depth + 1))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, inValues(inside, fill, depth + 1)]))
}

const filled = (text: string, value: ValueOf): string =>
  text.replaceAll(REFERENCE, (found: string, escaped: string, wanted: string, end: string) => {
    if (escaped) return found.slice(1)
    const name = FACTS.find((one) => one === wanted)
    if (name && end) return value(name)
    throw new Failure('invalid', `template.body has ${beginningOf(found, 100)}, which is unknown`, {
      remedy: `Known are ${FACTS.join(', ')}; $\${name} stands for \${name} itself`,
    })
  })
