import { type Child, type Html, html } from './html.ts'
import type { PageContent } from './page.ts'
import type { Moment } from './words.ts'

/** A part of a page that is replaced by itself: an element with that id, in the element with the id of the list. */
export interface Fragment {
  readonly id: string
  readonly list: string
  readonly html: Html
  /** Told to a reader of the page who does not see it, when this has changed: `web is running`. */
  readonly say?: string
}

/** A page, and when it may be another. */
export interface LiveView {
  /** `leaves` aborts when nobody looks any more: whatever takes long ends then. */
  readonly fragments: (now: Moment, leaves: AbortSignal) => Promise<readonly Fragment[]>
  readonly page: (fragments: readonly Fragment[]) => PageContent
  /** Calls the listener each time that a fragment may be another, until all that it gives is called. */
  readonly watch: (listener: () => void) => readonly (() => void)[]
}

export const inList = (fragments: readonly Fragment[], list: string): Html[] =>
  fragments.flatMap((fragment) => (fragment.list === list ? [fragment.html] : []))

/** A section of a page with a heading. */
export const sectionOf = (id: string, title: string, content: Html): Fragment => ({
  id,
  list: 'parts',
  html: html`<section id="${id}" class="part" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>
${content}</section>`,
})

/** The one row of a list that has no others. */
export const emptyRow = (list: string, why: Child): Fragment => ({
  id: 'nothing',
  list,
  html: html`<li id="nothing" class="nothing">${why}</li>`,
})

/** The last row of a list that is longer than a page shows. */
export const moreRow = (list: string, text: string): Fragment => ({ id: 'more', list, html: html`<li id="more">${text}</li>` })

/** Facts that are known, in one line. */
export const factsLine = (facts: readonly Child[]): Html => {
  const known = facts.filter((fact) => fact !== undefined && fact !== '' && fact !== false)
  return html`<p class="facts">${known.map((fact, at) => html`${at > 0 && ' · '}${fact}`)}</p>`
}
