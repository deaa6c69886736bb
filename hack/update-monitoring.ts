/** Writes the alert rules and the dashboards of deploy/monitoring, from hack/monitoring and docs/metrics.md. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { dashboards } from './monitoring/dashboards.ts'
import { ruleFile } from './monitoring/rules.ts'

const FOLDER = join(import.meta.dirname, '../deploy/monitoring')
const NAMESPACE = 'berth-system'
const LABELS = { 'app.kubernetes.io/part-of': 'berth' }

/** Each file as it should be. */
export function monitoringFiles(): { path: string; text: string }[] {
  const rules = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'berth', namespace: NAMESPACE, labels: LABELS },
    spec: ruleFile(),
  }
  // Grafana's sidecar reads ConfigMaps with that label.
  const boards = Object.entries(dashboards()).map(([name, dashboard]) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `berth-dashboard-${name}`, namespace: NAMESPACE, labels: { ...LABELS, grafana_dashboard: '1' } },
    data: { [`berth-${name}.json`]: `${JSON.stringify(dashboard, undefined, 1)}\n` },
  }))
  return [
    { path: join(FOLDER, 'rules.yaml'), text: fileOf([rules]) },
    { path: join(FOLDER, 'dashboards.yaml'), text: fileOf(boards) },
  ]
}

const fileOf = (objects: object[]): string =>
  `# Written by hack/update-monitoring.ts. Do not edit.\n${objects.map((object) => stringify(object, { lineWidth: 0 })).join('---\n')}`

if (import.meta.main) for (const { path, text } of monitoringFiles()) writeFileSync(path, text)
