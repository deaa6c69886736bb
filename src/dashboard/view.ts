import type { Html } from './html.ts'
import type { Page } from './page.ts'
import type { Moment } from './words.ts'

/** A part of a page that is replaced by itself: an element with that id, in the element with the id of the list. */
export interface Fragment {
  readonly id: string
  readonly list: string
  readonly html: Html
  /** What is told to whoever does not look when this has changed: `web is running`. */
  readonly say?: string
}

/** What a page shows, and when that may be another. */
export interface View {
  readonly fragments: (now: Moment) => Promise<readonly Fragment[]>
  readonly page: (fragments: readonly Fragment[]) => Page
  /** Told each time that a fragment may be another. */
  readonly watch: (listener: () => void) => () => void
}

export const inList = (fragments: readonly Fragment[], list: string): Html[] =>
  fragments.flatMap((fragment) => (fragment.list === list ? [fragment.html] : []))
