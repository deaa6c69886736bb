import { createRequire } from 'node:module'
import GithubSlugger from 'github-slugger'
import MarkdownIt from 'markdown-it'

interface Highlighter {
  getLanguage(name: string): unknown
  highlight(code: string, options: { language: string }): { value: string }
}

/** Required, not imported: its types would bring those of a browser into every file of Berth. */
const require = createRequire(import.meta.url)
const highlighter: Highlighter = require('highlight.js/lib/common')

/** A part of a page that has a heading: what search finds. */
export interface Section {
  /** Empty for what stands before the first heading. */
  id: string
  level: number
  heading: string
  /** Without marks. */
  text: string
}

export interface Rendered {
  html: string
  title: string
  sections: Section[]
}

/** Gives where a link leads in the site; `undefined` where it leads nowhere there. */
export type Resolve = (href: string) => string | undefined

/** Renders a page as GitHub would, with the same names of headings. HTML in it is text: pages have none but comments. */
export function renderPage(markdown: string, resolve: Resolve): Rendered {
  const parser = new MarkdownIt({ highlight: colour })
  const tokens = parser.parse(markdown.replace(/<!--.*?-->\n?/gs, ''), {})
  const slugger = new GithubSlugger()
  const sections: Section[] = [{ id: '', level: 0, heading: '', text: '' }]
  for (const [at, token] of tokens.entries()) {
    const inner = tokens[at + 1]
    if (token.type === 'heading_open' && inner) {
      const heading = plain(inner)
      const id = slugger.slug(heading)
      token.attrSet('id', id)
      sections.push({ id, level: Number(token.tag.slice(1)), heading, text: '' })
    }
    const section = sections.at(-1)
    if (section && tokens[at - 1]?.type !== 'heading_open') section.text += `${plain(token)} `
    let href: string | undefined
    for (const link of token.children ?? []) {
      if (link.type === 'link_open') href = resolve(String(link.attrGet('href')))
      if (link.type === 'link_open' && href !== undefined) link.attrSet('href', href)
      if (link.type.startsWith('link_')) link.hidden = href === undefined
    }
  }
  const html = parser.renderer
    .render(tokens, parser.options, {})
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
  return { html, title: sections.find(({ level }) => level === 1)?.heading ?? '', sections }
}

/** A file that is no page, as one. */
export const renderFile = (path: string, text: string): Rendered => ({
  html: `<h1 id="file">${path}</h1>\n<pre><code>${colour(text, path.replace(/^.*\./, ''))}</code></pre>`,
  title: path,
  sections: [],
})

function colour(code: string, language: string): string {
  return highlighter.getLanguage(language) ? highlighter.highlight(code, { language }).value : escaped(code)
}

const SIGNS: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
export const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => SIGNS[sign] ?? sign)

interface Piece {
  type: string
  content: string
  children: Piece[] | null
}

const plain = ({ type, content, children }: Piece): string => {
  if (children) return children.map(plain).join('')
  if (type === 'softbreak') return ' '
  return content
}
