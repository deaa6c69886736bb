/** Fails when a kind in crds/ is not labelled with the version of package.json. */
import { readFileSync } from 'node:fs'
import { crdFiles } from './update-crd-versions.ts'

for (const { path, text } of crdFiles()) {
  if (readFileSync(path, 'utf8') === text) continue
  console.error(`${path} is of another version than package.json. Run: node hack/update-crd-versions.ts`)
  process.exitCode = 1
}
