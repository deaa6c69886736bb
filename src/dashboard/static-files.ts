import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { PACKAGE_FOLDER } from '../std/index.ts'
import type { Reply } from './ports.ts'

const FOLDER = new URL('static/', PACKAGE_FOLDER)

/** Reads the files that pages load. Their paths name their contents, so they may be kept for as long as somebody likes. */
export async function readStaticFiles() {
  const [style, script] = await Promise.all([
    readOne(['base.css', 'dashboard/dashboard.css'], { file: 'dashboard.css', type: 'text/css; charset=utf-8' }),
    readOne(['dashboard/dashboard.js'], { file: 'dashboard.js', type: 'text/javascript; charset=utf-8' }),
  ])
  const byPath = new Map([style, script].map(({ path, reply }) => [path, reply]))
  return { paths: { style: style.path, script: script.path }, at: (path: string) => byPath.get(path) }
}

interface Served {
  path: string
  reply: Reply
}

/** One file of several, in their order. */
async function readOne(parts: readonly string[], { file, type }: { file: string; type: string }): Promise<Served> {
  const body = Buffer.concat(await Promise.all(parts.map((part) => readFile(new URL(part, FOLDER)))))
  const mark = createHash('sha256').update(body).digest('hex').slice(0, 16)
  const headers = {
    'content-type': type,
    'cache-control': 'public, max-age=31536000, immutable',
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  }
  return { path: `/assets/${mark}/${file}`, reply: { status: 200, headers, body } }
}
