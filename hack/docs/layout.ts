import type { Navigation } from './navigation.ts'
import { hrefTo, type Source } from './pages.ts'
import { escaped, type Rendered } from './render.ts'

export interface SitePage {
  source: Source
  rendered: Rendered
}

interface Around {
  navigation: Navigation[]
  pages: ReadonlyMap<string, SitePage>
  version: string
}

/** One page with what surrounds it. Every link is relative: the site works in any folder, and without a server. */
export function pageOf({ source, rendered }: SitePage, { navigation, pages, version }: Around): string {
  const at = (to: string) => escaped(hrefTo(source, to))
  const link = (path: string, before = '') => {
    const page = pages.get(path)
    if (!page) return ''
    const current = path === source.path ? ' aria-current="page"' : ''
    return `<a href="${at(page.source.to)}"${current}>${before}${escaped(page.rendered.title)}</a>`
  }
  const order = navigation.flatMap((section) => section.pages)
  const place = order.indexOf(source.path)
  const [previous = '', next = ''] = place < 0 ? [] : [order[place - 1], order[place + 1]]
  const headings = rendered.sections.filter(({ level }) => level === 2)
  const root = at('.') === '' ? '.' : at('.')
  return `<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(rendered.title === 'Berth' ? 'Berth' : `${rendered.title} · Berth`)}</title>
<link rel="stylesheet" href="${at('site/base.css')}">
<link rel="stylesheet" href="${at('site/docs.css')}">
<script defer src="${at('site/docs.js')}"></script>
</head>
<body>
<a class="skip" href="#content">To the page</a>
<header>
<a class="name" href="${at('index.html')}">Berth</a> <span class="version">${escaped(version)}</span>
<form class="search" role="search" hidden>
<input type="search" placeholder="Search (/)" aria-label="Search" aria-controls="found" autocomplete="off" spellcheck="false">
<ol id="found" hidden></ol>
</form>
</header>
<details class="pages"><summary>All pages</summary>
<nav aria-label="Pages">
${navigation.map(({ heading, pages: paths }) => `<h2>${escaped(heading)}</h2>\n<ul>${paths.map((path) => `<li>${link(path)}</li>`).join('\n')}</ul>`).join('\n')}
</nav>
</details>
<main id="content">
${rendered.html}
<nav class="beside" aria-label="Next pages">${link(previous, '← ')} ${link(next, '→ ')}</nav>
</main>
${
  headings.length > 1
    ? `<aside><nav aria-label="On this page"><h2>On this page</h2>\n<ul>${headings.map(({ id, heading }) => `<li><a href="#${escaped(id)}">${escaped(heading)}</a></li>`).join('\n')}</ul></nav></aside>`
    : ''
}
</body>
</html>
`
}
