/** Fails, with the name of the file, when what is made from deploy/values.schema.json is stale. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { valueFiles } from './update-install-values.ts'

for (const { path, text } of await valueFiles())
  if (readFileSync(join(import.meta.dirname, '..', path), 'utf8') !== text) {
    console.error(`${path} is stale. Run: node hack/update-install-values.ts`)
    process.exitCode = 1
  }
