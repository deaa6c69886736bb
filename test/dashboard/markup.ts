/** As much of a reader of HTML as pages of our own need: it takes what is well-formed, and throws at what is not. */
export interface Element {
  name: string
  attributes: Map<string, string>
  children: (Element | string)[]
}

const VOID = new Set(['meta', 'link', 'input', 'br', 'hr', 'img', 'wbr'])
const TOKEN = /<!doctype html>|<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z][a-z0-9-]*(?:="[^"<>]*")?)*)\s*>|([^<>]+)/gy
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

export function parseHtml(text: string): Element {
  const root: Element = { name: '#root', attributes: new Map(), children: [] }
  const open = [root]
  TOKEN.lastIndex = 0
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    const token = TOKEN.exec(text)
    if (!token) throw new TypeError(`no HTML of ours: ${text.slice(at, at + 80)}`)
    const [, close = '', name, attributes = '', words] = token
    const here = open.at(-1) ?? root
    if (words !== undefined) here.children.push(textFrom(words))
    else if (close !== '') {
      if (here.name !== name) throw new TypeError(`</${name}> in <${here.name}>: ${text.slice(at - 80, at + 20)}`)
      open.pop()
    } else if (name !== undefined) {
      const element = { name, attributes: attributesIn(attributes), children: [] }
      here.children.push(element)
      if (!VOID.has(name)) open.push(element)
    }
  }
  if (open.length > 1) throw new TypeError(`<${open.at(-1)?.name}> is not closed`)
  return root
}

const textFrom = (text: string): string => text.replace(/&(#?\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole)

function attributesIn(text: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const [, name = '', value = ''] of text.matchAll(/([a-z][a-z0-9-]*)(?:="([^"]*)")?/g)) {
    if (found.has(name)) throw new TypeError(`${name} twice in ${text}`)
    found.set(name, textFrom(value))
  }
  return found
}

export const elementsIn = (element: Element): Element[] =>
  element.children.flatMap((child) => (typeof child === 'string' ? [] : [child, ...elementsIn(child)]))

export const wordsIn = (element: Element): string => textIn(element).replace(/\s+/g, ' ').trim()

const textIn = ({ children }: Element): string =>
  children.map((child) => (typeof child === 'string' ? child : textIn(child))).join('')

/** What somebody with eyes, a screen reader, a keyboard or the content security policy would stumble over; nothing for a page that is well. */
export function faultsOf(page: string): string[] {
  const root = parseHtml(page)
  const all = elementsIn(root)
  const named = (...names: string[]) => all.filter(({ name }) => names.includes(name))
  const ids = all.flatMap(({ attributes }) => attributes.get('id') ?? [])
  const labelled = new Set(named('label').map(({ attributes }) => attributes.get('for')))
  const levels = named('h1', 'h2', 'h3', 'h4').map(({ name }) => Number(name.slice(1)))
  const faults: string[] = []
  const wrong = (isWrong: boolean, what: string) => {
    if (isWrong) faults.push(what)
  }
  for (const landmark of ['header', 'nav', 'main', 'footer', 'h1', 'title'])
    wrong(named(landmark).length !== 1, `${named(landmark).length} of ${landmark}`)
  for (const word of ['undefined', 'null', 'NaN', '[object']) wrong(wordsIn(root).includes(word), `it says ${word}`)
  wrong(named('html')[0]?.attributes.get('lang') !== 'en', 'no language')
  wrong(new Set(ids).size !== ids.length, `ids twice: ${ids.filter((id, at) => ids.indexOf(id) !== at).join(', ')}`)
  for (const [at, level] of levels.entries()) wrong(level > (levels[at - 1] ?? 0) + 1, `h${level} after h${levels[at - 1] ?? 0}`)
  for (const { name, attributes } of named('input', 'select', 'textarea'))
    wrong(
      attributes.get('type') !== 'hidden' && !labelled.has(attributes.get('id') ?? 'none'),
      `${name} ${attributes.get('name')} has no label`,
    )
  for (const element of named('a', 'button', 'summary', 'label')) wrong(wordsIn(element) === '', `${element.name} says nothing`)
  for (const { name, attributes } of all)
    for (const [attribute, value] of attributes)
      wrong(
        attribute === 'style' || attribute.startsWith('on') || /^\s*(javascript|data|vbscript):/i.test(value),
        `${name} has ${attribute}="${value}"`,
      )
  for (const element of named('script'))
    wrong(!element.attributes.has('src') || wordsIn(element) !== '', 'a script is written in the page')
  wrong(named('style').length > 0, 'a style is written in the page')
  for (const { attributes } of named('form'))
    wrong(!/^\/[^/\\]*/.test(attributes.get('action') ?? '//'), `a form goes to ${attributes.get('action')}`)
  return faults
}
