import { createHash } from 'node:crypto'
import type { Notice, Reader, Reply, Say } from '../ports.ts'

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

/** A page for a browser, plain text for whatever else asks. */
export const say: Say = (notice, reader, headers = {}): Reply => {
  const { status, again } = notice
  const known = { ...HEADERS, 'x-request-id': reader.requestId, ...(again && { refresh: String(again) }), ...headers }
  if (!reader.wantsPage)
    return { status, headers: { ...known, 'content-type': 'text/plain; charset=utf-8' }, body: textOf(notice, reader) }
  return {
    status,
    headers: { ...known, 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY },
    body: pageOf(notice, reader),
  }
}

const textOf = ({ title, lines }: Notice, { requestId }: Reader): string =>
  `${[title, ...lines].join('\n')}\nRequest ${requestId}\n`

const pageOf = ({ title, lines, button, link }: Notice, { requestId }: Reader): string =>
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
