import { dashboards } from '../../hack/monitoring/dashboards.ts'
import { isRecord } from '../../src/std/index.ts'

/** All queries of all dashboards, with what Grafana would put into them. */
export const queriesOfDashboards = (interval: string, jobs: string): { dashboard: string; expr: string }[] =>
  Object.entries(dashboards()).flatMap(([name, dashboard]) =>
    textsAt('expr', dashboard).map((expr) => ({
      dashboard: name,
      expr: expr.replaceAll('$__rate_interval', interval).replaceAll('$job', jobs),
    })),
  )

/** All texts under a key, in whatever depth. */
const textsAt = (key: string, value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap((item) => textsAt(key, item))
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === key && typeof inner === 'string' ? [inner] : textsAt(key, inner),
  )
}
