/** Fails, with the name of the page, when a table in docs/spec/v1 is not what crds/ say. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { specPages } from './update-spec-docs.ts'

/** Names of pages whose tables are not up to date. */
export const staleSpecPages = (): string[] =>
  specPages()
    .filter(({ path, text }) => readFileSync(path, 'utf8') !== text)
    .map(({ path }) => basename(path))

if (import.meta.main) {
  const stale = staleSpecPages()
  if (stale.length > 0) console.error(`docs/spec/v1 is stale: ${stale.join(', ')}. Run: node hack/update-spec-docs.ts`)
  process.exitCode = stale.length > 0 ? 1 : 0
}
