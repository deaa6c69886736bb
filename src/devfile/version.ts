import { type Findings, problemAt } from './problem.ts'
import { NEWEST, OLDEST, type Version } from './schema.ts'
import { at, textOf, type YamlTree } from './tree.ts'

const FORM = /^2\.([0-3])\.(\d{1,2})(-[0-9a-z-]+(\.[0-9a-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/

/** The schema by which a devfile wants to be read. Where it does not say one that is known, the newest knows most fields. */
export function checkVersion(findings: Findings, root: YamlTree, isTemplate = false): Version {
  const tree = at(root, 'schemaVersion')
  const text = textOf(tree)
  if (!tree || text === undefined) return NEWEST
  const [, minor, patch] = FORM.exec(text) ?? []
  if (minor !== undefined && patch !== undefined) return OLDEST + Number(minor) * 100 + Number(patch)
  if (!isTemplate)
    findings.problems.push(
      problemAt(tree, 'schemaVersion', {
        rule: 'schema-version',
        message: `"${text}" is not a schema version from 2.0.0 to 2.3.x`,
        remedy: 'write 2.3.0',
      }),
    )
  return NEWEST
}
