/** Labels the kinds in crds/ with the version of package.json, by which programs see whether they fit. */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** The files as they should be. */
export function crdFiles(): { path: string; text: string }[] {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return globSync('crds/*_*.yaml', { cwd: ROOT }).map((file) => {
    const path = join(ROOT, file)
    const labelled = `$1  labels: { app.kubernetes.io/version: ${version} }\n`
    return { path, text: readFileSync(path, 'utf8').replace(/^(metadata:\n {2}name: \S+\n)(?: {2}labels: .*\n)?/m, labelled) }
  })
}

if (import.meta.main) for (const { path, text } of crdFiles()) writeFileSync(path, text)
