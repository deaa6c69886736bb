/** Fails when docs/configuration.md is not what the programs' tables of settings say. */
import { readFileSync } from 'node:fs'
import { configurationPage, PAGE } from './update-configuration.ts'

if (readFileSync(PAGE, 'utf8') !== configurationPage()) {
  console.error('docs/configuration.md is stale. Run: node hack/update-configuration.ts')
  process.exitCode = 1
}
