import MiniSearch, { type Options } from 'minisearch'
import type { SitePage } from './layout.ts'

/** How the index is made, read and asked; a browser needs the same. */
const OPTIONS = {
  fields: ['heading', 'title', 'text'],
  storeFields: ['title', 'heading', 'to', 'start'],
  searchOptions: { prefix: true, fuzzy: 0.15, combineWith: 'AND', boost: { heading: 4 } },
} as const satisfies Options

const START = 160

/**
 * What finds sections of pages by words: a script that hands a browser the index, and how it is read. A script, because pages that were
 * opened from a disk may fetch nothing.
 */
export function searchScript(pages: Iterable<SitePage>): string {
  const index = new MiniSearch(OPTIONS)
  for (const { source, rendered } of pages)
    for (const { id, heading, text } of rendered.sections) {
      const said = text.replace(/\s+/g, ' ').trim()
      if (heading === '' && said === '') continue
      const to = id === '' ? source.to : `${source.to}#${id}`
      index.add({ id: to, to, title: rendered.title, heading, text: said, start: said.slice(0, START) })
    }
  return `berthIndex(${JSON.stringify(JSON.stringify(index))}, ${JSON.stringify(OPTIONS)})\n`
}
