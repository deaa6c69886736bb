/** The tables of docs/labels.md, from the constants of src/api/labels.ts and their comments. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const TABLES = [
  ['annotations', 'Annotations'],
  ['labels', 'Labels'],
  ['finalizers', 'Finalizers'],
] as const

/** A comment, and the property that it stands before. */
const ENTRY = /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*)?(\w+): '([^']+)',/g

export function labelTables(): string {
  const text = readFileSync(join(import.meta.dirname, '../../src/api/labels.ts'), 'utf8')
  return TABLES.map(([constant, title]) => {
    const [, body = ''] = text.split(`export const ${constant} = {`)
    const [entries = ''] = body.split('} as const')
    const rows = [...entries.matchAll(ENTRY)].map(([, comment, name, key]) => {
      if (comment === undefined) throw new TypeError(`src/api/labels.ts: ${constant}.${name} has no comment`)
      return { key, ...placed(comment) }
    })
    const lines = rows.map(({ key, place, meaning }) => `| \`${key}\` | ${place} | ${meaning} |`)
    return [`## ${title}`, ['| Key | On | Means |', '| --- | --- | --- |', ...lines].join('\n')].join('\n\n')
  }).join('\n\n')
}

/** `On a claim: the binding is complete.` says where it stands, and what it means. */
function placed(comment: string): { place: string; meaning: string } {
  const text = comment
    .replaceAll(/\s*\n\s*\*?\s*/g, ' ')
    .replaceAll('|', '\\|')
    .trim()
  const [, place = '', meaning = ''] = /^On ([^:]+): (.+)$/.exec(text) ?? []
  if (meaning === '') throw new TypeError(`src/api/labels.ts: "${text}" does not begin with "On …:"`)
  return { place, meaning: meaning.charAt(0).toUpperCase() + meaning.slice(1) }
}
