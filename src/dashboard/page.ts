import { type Child, type Html, html, markupOf, NOTHING } from './html.ts'
import type { Answer, Question } from './ports.ts'

/** Nothing of others is loaded, nothing written into the page runs or styles it, and it is in no frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

export const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': POLICY,
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
  ['/environments', 'Environments'],
  ['/claims', 'Claims'],
] as const

const CONNECTIONS = ['/connections', 'Connections'] as const

export interface Page {
  title: string
  /** Path of the section that it belongs to. */
  section?: string
  status?: number
  /** Path of what it is kept up to date by. */
  live?: string | undefined
  content: Html
}

/** A whole page around its content. */
export function pageFor({ url, guest, requestId }: Question, page: Page, { style, script, isEngineer = false }: Frame): Answer {
  const { title, section, status = 200, live, content } = page
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
<body${live === undefined ? NOTHING : html` data-live="/live?page=${encodeURIComponent(live)}"`}>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="brand"><a href="/">Berth</a></p>
<nav aria-label="Sections"><ul>${sections.map(
    ([path, name]) =>
      html`<li><a href="${path}"${path === section && path === url.pathname ? CURRENT : NOTHING}>${name}</a></li>`,
  )}</ul></nav>
<p class="who"><span class="name">${guest.person.user}</span> <a href="/sign-out">Sign out</a></p>
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
  return { status, headers: { ...HEADERS, 'content-type': 'text/html; charset=utf-8' }, body: markupOf(whole) }
}

const CURRENT = html` aria-current="page"`

/** Paths of the stylesheet and of the script. */
export interface Assets {
  style: string
  script: string
}

export interface Frame extends Assets {
  /** Whether there is a way to who is connected. */
  isEngineer?: boolean
}

/** A page that says something in a few lines. */
export const notice = (title: string, status: number, lines: readonly Child[], way = BACK): Page => ({
  title,
  status,
  content: html`${lines.map((line) => html`<p>${line}</p>\n`)}<p>${way}</p>`,
})

const BACK = html`<a href="/">To your workspaces</a>`

/** Sends a browser on, within this host. */
export const onTo = (path: string): Answer => ({ status: 303, headers: { ...HEADERS, location: path }, body: '' })
