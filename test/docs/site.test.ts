import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { runInNewContext } from 'node:vm'
import MiniSearch, { type Options } from 'minisearch'
import { equal, is, match, ok } from 'uvu/assert'
import { renderPage } from '../../hack/docs/render.ts'
import { makeSite } from '../../hack/docs/site.ts'
import { describe } from '../support/suite.ts'

const ROOT = join(import.meta.dirname, '..', '..')

const valuesOf = (html: string, attribute: 'href' | 'src' | 'id') =>
  [...html.matchAll(/\s(href|src|id)="([^"]*)"/g)]
    .filter(([, name]) => name === attribute)
    .map(([, , value = '']) => value.replaceAll('&amp;', '&'))

describe('the site of the documents', (it) => {
  const site = mkdtempSync(join(tmpdir(), 'berth-docs-'))
  const page = (path: string) => readFileSync(join(site, path), 'utf8')
  it.before(() => {
    makeSite(ROOT, '1.2.3', site)
  })
  it.after(() => rmSync(site, { recursive: true }))

  it('has every page, and every link of it leads to a file and a heading that are there', () => {
    const pages = globSync('**/*.html', { cwd: site })
    for (const source of globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT }))
      ok(pages.includes(source.replace('README', 'index').replace(/\.md$/, '.html')), source)
    const ids = new Map(pages.map((path) => [path, new Set(valuesOf(page(path), 'id'))]))
    const faults = pages.flatMap((path) =>
      [...valuesOf(page(path), 'href'), ...valuesOf(page(path), 'src')]
        .filter((href) => !/^[a-z]+:/.test(href))
        .filter((href) => {
          const [to = '', id] = href.split('#')
          const target = to === '' ? path : relative(site, resolve(site, dirname(path), to))
          return !existsSync(join(site, target)) || (id !== undefined && !ids.get(target)?.has(decodeURIComponent(id)))
        })
        .map((href) => `${path}: ${href}`),
    )
    equal(faults, [])
  })

  it('works without a network and in any folder: nothing is loaded from elsewhere, and no link begins at a root', () => {
    for (const path of globSync('**/*.html', { cwd: site })) {
      const html = page(path)
      equal(
        valuesOf(html, 'src').filter((each) => /^([a-z]+:|\/)/.test(each)),
        [],
        path,
      )
      equal(
        valuesOf(html, 'href').filter((each) => each.startsWith('/')),
        [],
        path,
      )
    }
  })

  it('names all guides and references at the side of each page, and where one is', () => {
    const html = page('docs/gitops.html')
    const shown = valuesOf(html, 'href')
    for (const source of globSync(['*.md', 'spec/v1/*.md'], { cwd: join(ROOT, 'docs') }))
      ok(source === 'README.md' || shown.includes(source.replace(/\.md$/, '.html')), source)
    match(html, /<a href="gitops.html" aria-current="page">/)
  })

  it('finds a section by its words, as the page that loads it does', () => {
    const index: MiniSearch = runInNewContext(page('site/index.js'), {
      berthIndex: (json: string, options: Options) => MiniSearch.loadJSON(json, options),
    })
    const first = (words: string) => index.search(words)[0]?.id
    is(first('backup restore'), 'docs/backup.html#backup-and-restore')
    is(first('code-server preset'), 'docs/workspaces-inside.html#the-editor')
    match(first('EditorNotBrought') ?? '', /^docs\/(conditions|troubleshooting)\.html#/)
  })

  it('shows HTML of a page as the text that it is', () => {
    const { html } = renderPage('# A <b>\n\n<img src=x onerror=alert(1)>\n\n[x](javascript:alert(1))\n', (href) => href)
    is(html.includes('<img') || html.includes('<b>') || html.includes('href="javascript'), false, html)
  })
})
