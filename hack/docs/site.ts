import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pageOf, type SitePage } from './layout.ts'
import { navigationOf } from './navigation.ts'
import { fileBehind, hrefToFile, isPage, readPages, type Source, sourceOf } from './pages.ts'
import { renderFile, renderPage } from './render.ts'
import { searchScript } from './search.ts'

/** In every site, and in no folder of the repository. */
export const SEARCH_SCRIPT = 'site/index.js'

/** Writes the site into a folder, and counts its pages. */
export function makeSite(repository: string, version: string, output: string): number {
  const pages = renderAll(repository)
  const index = pages.get('docs/README.md')
  if (!index) throw new Error('docs/README.md, which lists all pages, is not there')
  const navigation = navigationOf(index.source, (page, href) => fileBehind(repository, page, href))
  const write = (to: string, text: string) => {
    mkdirSync(dirname(join(output, to)), { recursive: true })
    writeFileSync(join(output, to), text)
  }
  for (const page of pages.values()) write(page.source.to, pageOf(page, { navigation, pages, version }))
  cpSync(join(import.meta.dirname, 'site'), join(output, 'site'), { recursive: true })
  cpSync(join(repository, 'static/base.css'), join(output, 'site/base.css'))
  cpSync(
    fileURLToPath(import.meta.resolve('minisearch').replace('/es/index.js', '/umd/index.js')),
    join(output, 'site/minisearch.js'),
  )
  write(SEARCH_SCRIPT, searchScript(pages.values()))
  return pages.size
}

/** By path: all pages, and the files that they link to. */
function renderAll(repository: string): Map<string, SitePage> {
  const done = new Map<string, SitePage>()
  const files = new Set<string>()
  for (const source of readPages(repository).values()) {
    const resolve = (href: string) => {
      if (/^[a-z]+:|^#/.test(href)) return href
      const [path = '', anchor] = href.split('#')
      const file = fileBehind(repository, source.path, path)
      if (file === undefined) return
      if (!isPage(file)) files.add(file)
      return `${hrefToFile(source, file)}${anchor === undefined ? '' : `#${anchor}`}`
    }
    done.set(source.path, { source, rendered: renderPage(source.text, resolve) })
  }
  for (const path of files) {
    const source: Source = sourceOf(repository, path)
    done.set(path, { source, rendered: renderFile(path, source.text) })
  }
  return done
}
