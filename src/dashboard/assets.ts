import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Assets } from './page.ts'
import type { Answer } from './ports.ts'

/** Beside the sources and beside what is built of them, so that both find it. */
const FOLDER = new URL('../../static/dashboard/', import.meta.url)

const FILES = {
  style: { file: 'dashboard.css', type: 'text/css; charset=utf-8' },
  script: { file: 'dashboard.js', type: 'text/javascript; charset=utf-8' },
} as const

/** The files that pages load. Their paths name their contents, so they may be kept for as long as somebody likes. */
export interface Shelf {
  paths: Assets
  at(path: string): Answer | undefined
}

export async function readShelf(): Promise<Shelf> {
  const [style, script] = await Promise.all([readOne(FILES.style), readOne(FILES.script)])
  const byPath = new Map([style, script].map(({ path, answer }) => [path, answer]))
  return { paths: { style: style.path, script: script.path }, at: (path) => byPath.get(path) }
}

async function readOne({ file, type }: { file: string; type: string }): Promise<{ path: string; answer: Answer }> {
  const body = await readFile(new URL(file, FOLDER))
  const mark = createHash('sha256').update(body).digest('hex').slice(0, 16)
  const headers = {
    'content-type': type,
    'cache-control': 'public, max-age=31536000, immutable',
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  }
  return { path: `/assets/${mark}/${file}`, answer: { status: 200, headers, body } }
}
