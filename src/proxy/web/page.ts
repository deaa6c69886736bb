import { createHash } from 'node:crypto'
import type { Reply } from '../../dashboard/index.ts'
import type { Recipient } from './ports.ts'

/** The content of a page. */
export interface Notice {
  readonly status: number
  readonly title: string
  /** Plain text, a paragraph each. */
  readonly lines: readonly string[]
  /** A form with one button. */
  readonly button?: { readonly label: string; readonly action: string } | undefined
  readonly link?: { readonly label: string; readonly to: string } | undefined
  /** Seconds after which the browser asks again by itself. */
  readonly again?: number | undefined
}

const STYLE = [
  ':root{color-scheme:light dark;font:1.1rem/1.6 system-ui,sans-serif}',
  'body{margin:12vh auto;max-width:38rem;padding:0 1.2rem}',
  'h1{font-size:1.6rem;line-height:1.25}',
  'button{font:inherit;padding:.5em 1.1em}',
  'small{opacity:.75}',
].join('')

/** Nothing is loaded and nothing runs. A page is in no frame, so that nobody clicks on it without knowing. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

const HEADERS = {
  'cache-control': 'no-store',
  // A form that may not tell its own host where it was sent from counts as one from elsewhere.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

/** A page for a browser, plain text for any other client. */
export function renderNotice(notice: Notice, { requestId, wantsPage }: Recipient, headers: Reply['headers'] = {}): Reply {
  const { status, title, lines, again } = notice
  const known = { ...HEADERS, 'x-request-id': requestId, ...(again && { refresh: String(again) }), ...headers }
  if (!wantsPage) {
    const text = `${[title, ...lines].join('\n')}\nRequest ${requestId}\n`
    return { status, headers: { ...known, 'content-type': 'text/plain; charset=utf-8' }, body: text }
  }
  return {
    status,
    headers: { ...known, 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY },
    body: pageOf(notice, requestId),
  }
}

const pageOf = ({ title, lines, button, link }: Notice, requestId: string): string =>
  [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">',
    `<title>${plain(title)}</title><style>${STYLE}</style></head><body><main><h1>${plain(title)}</h1>`,
    ...lines.map((line) => `<p>${plain(line)}</p>`),
    button ? `<form method="post" action="${plain(button.action)}"><button>${plain(button.label)}</button></form>` : '',
    link ? `<p><a href="${plain(link.to)}">${plain(link.label)}</a></p>` : '',
    `<p><small>Request ${plain(requestId)}</small></p></main></body></html>\n`,
  ].join('')

const plain = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
