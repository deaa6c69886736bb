/** Fails when the types of `berth install`'s values are not what deploy/values.schema.json says. */
import { readFileSync } from 'node:fs'
import { TYPES, valueTypes } from './update-install-values.ts'

if (readFileSync(TYPES, 'utf8') !== (await valueTypes())) {
  console.error('src/cli/install/generated/values.ts is stale. Run: node hack/update-install-values.ts')
  process.exitCode = 1
}
