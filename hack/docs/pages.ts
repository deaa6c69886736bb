import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** A page of the site, and the file that it is made of. */
export interface Source {
  /** In the repository, such as `docs/gitops.md`. */
  path: string
  text: string
  /** In the site, such as `docs/gitops.html`. */
  to: string
}

const PAGES = ['*.md', '{docs,examples,src}/**/*.md']

/** All pages that people write or that are generated, by path. */
export function readPages(repository: string): Map<string, Source> {
  const paths = PAGES.flatMap((pattern) => globSync(pattern, { cwd: repository })).sort()
  return new Map(paths.map((path) => [path, sourceOf(repository, path)]))
}

/** Any file of the repository: a page, or one that a page links to. */
export const sourceOf = (repository: string, path: string): Source => ({
  path,
  text: readFileSync(join(repository, path), 'utf8'),
  to: placeOf(path),
})

const placeOf = (path: string): string =>
  isPage(path) ? path.replace(/(^|\/)README\.md$/, '$1index.md').replace(/\.md$/, '.html') : `${path}.html`

export const isPage = (path: string): boolean => path.endsWith('.md')

/** What stands for a folder where a page links to one. */
const FRONTS = ['README.md', 'index.ts', 'kustomization.yaml']

/** The file that a link of a page leads to; `undefined` for a folder in which nothing stands for it. */
export function fileBehind(repository: string, page: string, href: string): string | undefined {
  const path = join(dirname(page), href)
  if (!existsSync(join(repository, path))) throw new Error(`${page} links to ${href}, which is not there`)
  if (!statSync(join(repository, path)).isDirectory()) return path
  const front = FRONTS.find((name) => existsSync(join(repository, path, name)))
  return front === undefined ? undefined : join(path, front)
}

/** From a page to a place in the site. */
export const hrefTo = (from: Source, to: string): string => relative(dirname(from.to), to)

/** From a page to another file of the repository. */
export const hrefToFile = (from: Source, path: string): string => hrefTo(from, placeOf(path))
