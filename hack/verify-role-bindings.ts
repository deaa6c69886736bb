/** Fails when a role in deploy/operator/roles is not installed or not bound. */
import { readFileSync } from 'node:fs'
import { roleFiles } from './update-role-bindings.ts'

const stale = roleFiles().filter(({ path, text }) => readFileSync(path, 'utf8') !== text)
if (stale.length > 0) console.error('deploy/operator does not bind every role. Run: node hack/update-role-bindings.ts')
process.exitCode = stale.length > 0 ? 1 : 0
