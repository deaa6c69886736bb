/** Writes what the pages of docs/ below have between their markers, from what the code says. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { alertSections } from './monitoring/rules.ts'
import { helpOfVerbs } from './reference/cli.ts'
import { conditionTables } from './reference/conditions.ts'
import { labelTables } from './reference/labels.ts'
import { valueTable } from './reference/values.ts'

const BEGIN = '<!-- reference: written by hack/update-reference-docs.ts -->'
const END = '<!-- end of reference -->'

const PAGES: Record<string, () => string | Promise<string>> = {
  'conditions.md': conditionTables,
  'labels.md': labelTables,
  'cli.md': helpOfVerbs,
  'installation-values.md': valueTable,
  'monitoring.md': alertSections,
}

/** Each page as it should be. */
export async function referencePages(): Promise<{ path: string; text: string }[]> {
  const pages: { path: string; text: string }[] = []
  for (const [name, contents] of Object.entries(PAGES)) {
    const path = join(import.meta.dirname, '../docs', name)
    const [before, rest] = readFileSync(path, 'utf8').split(BEGIN)
    const after = rest?.split(END)[1]
    if (after === undefined) throw new TypeError(`${path} lacks the markers ${BEGIN} and ${END}`)
    pages.push({ path, text: `${before}${BEGIN}\n\n${await contents()}\n\n${END}${after}` })
  }
  return pages
}

if (import.meta.main) for (const { path, text } of await referencePages()) writeFileSync(path, text)
