/** Fails when the rules or dashboards of deploy/monitoring are not what hack/monitoring and docs/metrics.md say. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { monitoringFiles } from './update-monitoring.ts'

const stale = monitoringFiles().filter(({ path, text }) => readFileSync(path, 'utf8') !== text)
if (stale.length > 0) {
  console.error(
    `deploy/monitoring is stale: ${stale.map(({ path }) => basename(path)).join(', ')}. Run: node hack/update-monitoring.ts`,
  )
  process.exitCode = 1
}
