import type { Source } from './pages.ts'

/** The index of the docs: sections of pages, in the order in which one reads them. */
export interface Navigation {
  heading: string
  /** Paths of pages. */
  pages: string[]
}

/** Read from the page that lists all others. */
export function navigationOf({ path, text }: Source, behind: (page: string, href: string) => string | undefined): Navigation[] {
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [heading = ''] = section.split('\n')
      const hrefs = Array.from(section.matchAll(/\]\(([^)#]+)[^)]*\)/g), ([, href = '']) => behind(path, href) ?? '')
      return { heading, pages: [...new Set(hrefs.filter((each) => each !== ''))] }
    })
}
