/** The alerts as Prometheus reads them, and as a page has them. */
import { ALERTS, type Alert } from './alerts.ts'

/** What a rule file of Prometheus has, and a PrometheusRule under `spec`. */
export const ruleFile = () => ({
  groups: Object.entries(ALERTS).map(([name, alerts]) => ({ name, rules: alerts.map(ruleOf) })),
})

const ruleOf = ({ name, severity, expr, for: duration, summary, means, runbook }: Alert) => ({
  alert: name,
  expr,
  for: duration,
  labels: { severity },
  annotations: { summary, description: means, runbook: numbered(runbook) },
})

const numbered = (steps: readonly string[]): string => steps.map((step, at) => `${at + 1}. ${step}`).join('\n')

/** A section for each alert, of docs/monitoring.md. Labels and values of a series are not known there: their names stand in their places. */
export const alertSections = (): string =>
  Object.values(ALERTS)
    .flat()
    .map(({ name, severity, expr, for: duration, summary, means, runbook }) =>
      [
        `### ${name}`,
        `*${severity}*, ${duration === '0m' ? 'at once' : `after ${duration}`}: ${withoutTemplates(summary)}`,
        means,
        withoutTemplates(numbered(runbook)),
        `\`\`\`promql\n${expr}\n\`\`\``,
      ].join('\n\n'),
    )
    .join('\n\n')

const withoutTemplates = (text: string): string =>
  text
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => label.toUpperCase())
    .replaceAll(/\{\{ \$value[^}]*\}\}/g, 'N')
