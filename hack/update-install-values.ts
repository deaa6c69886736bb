/** Writes the types of `berth install`'s values from deploy/values.schema.json. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileTypes } from './update-crd-types.ts'

const ROOT = join(import.meta.dirname, '..')
export const TYPES = join(ROOT, 'src/cli/install/generated/values.ts')

/** The file as it should be. */
export async function valueTypes(): Promise<string> {
  const schema = JSON.parse(readFileSync(join(ROOT, 'deploy/values.schema.json'), 'utf8'))
  const types = await compileTypes(schema, 'InstallValues')
  return `// Generated from deploy/values.schema.json by hack/update-install-values.ts. Do not edit.\n\n${types}`
}

if (import.meta.main) writeFileSync(TYPES, await valueTypes())
