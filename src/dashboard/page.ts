import { type Child, type Html, html, markupOf } from './html.ts'
import type { DashboardRequest, Reply } from './ports.ts'

/** Nothing of others is loaded, nothing written into the page runs or styles it, and it is in no frame. */
const policyOf = (asks: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["connect-src 'self'", ...asks].join(' '),
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')

export const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': policyOf([]),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Browsers say where a form was sent from only if the page lets them tell its own host.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const

const SECTIONS = [
  ['/', 'Workspaces'],
  ['/new', 'New'],
  ['/deployments', 'Deployments'],
  ['/previews', 'Previews'],
  ['/environments', 'Environments'],
  ['/claims', 'Claims'],
  ['/agents', 'Agents'],
] as const

const CONNECTIONS = ['/connections', 'Connections'] as const

export interface PageContent {
  title: string
  /** Path of the section that it belongs to. */
  section?: string
  status?: number
  /** Path of the page by which it is kept up to date. */
  live?: string | undefined
  /** What its script asks beside this host. */
  asks?: readonly string[]
  content: Html
}

/** A whole page around its content. */
export function renderPage({ url, user, requestId }: DashboardRequest, page: PageContent, frame: PageFrame): Reply {
  const { title, section, status = 200, live, asks = [], content } = page
  const { style, script, isEngineer = false } = frame
  const sections = isEngineer ? [...SECTIONS, CONNECTIONS] : SECTIONS
  const whole = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · Berth</title>
<link rel="stylesheet" href="${style}">
<script type="module" src="${script}"></script>
</head>
<body${live !== undefined && html` data-live="/live?page=${encodeURIComponent(live)}"`}>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="brand"><a href="/">Berth</a></p>
<nav aria-label="Sections"><ul>${sections.map(
    ([path, name]) =>
      html`<li><a href="${path}"${path === section && path === url.pathname && html` aria-current="page"`}>${name}</a></li>`,
  )}</ul></nav>
<p class="who"><span class="name">${user.person.user}</span> <a href="/sign-out">Sign out</a></p>
</header>
<main id="main" tabindex="-1">
<h1>${title}</h1>
${content}
</main>
<footer><p><span id="line" hidden></span> Request ${requestId}</p></footer>
<p id="said" class="unseen" role="status" aria-live="polite"></p>
</body>
</html>
`
  const headers = { ...HEADERS, 'content-security-policy': policyOf(asks), 'content-type': 'text/html; charset=utf-8' }
  return { status, headers, body: markupOf(whole) }
}

export interface PageFrame {
  /** Paths of the stylesheet and of the script. */
  style: string
  script: string
  /** Platform engineers find the page about connections. */
  isEngineer?: boolean
}

/** A page that says something in a few lines. */
export const messagePage = (title: string, status: number, lines: readonly Child[]): PageContent => ({
  title,
  status,
  content: html`${lines.map((line) => html`<p>${line}</p>\n`)}<p><a href="/">To your workspaces</a></p>`,
})

/** Sends a browser on, within this host. */
export const redirectTo = (path: string): Reply => ({ status: 303, headers: { ...HEADERS, location: path }, body: '' })
