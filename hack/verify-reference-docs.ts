/** Fails, with the name of the page, when a page of reference is not what the code says. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { referencePages } from './update-reference-docs.ts'

const pages = await referencePages()
const stale = pages.filter(({ path, text }) => readFileSync(path, 'utf8') !== text).map(({ path }) => basename(path))
if (stale.length > 0) console.error(`docs are stale: ${stale.join(', ')}. Run: node hack/update-reference-docs.ts`)
process.exitCode = stale.length > 0 ? 1 : 0
