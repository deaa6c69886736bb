import type { GitOpsDeploymentSpec } from '../../api/index.ts'
import { matchesWildcard, parseCron } from '../../std/index.ts'
import { type ForeignFields, isDuration } from './fields.ts'

type Windows = NonNullable<GitOpsDeploymentSpec['syncWindows']>

/** What a window of an AppProject is compared with. */
export interface Windowed {
  name: string
  namespace: string
  clusters: readonly string[]
}

/**
 * The windows of an AppProject that are for this Application: one is when it matches by name, by namespace or by cluster, or with
 * useAndOperator by all that are written. https://argo-cd.readthedocs.io/en/stable/user-guide/sync_windows/
 */
export function windowsFor(project: ForeignFields, application: Windowed, tell: (says: string) => void): Windows {
  return project.records('syncWindows').flatMap((window) => {
    const isMeant = isFor(window, application)
    const kind = window.text('kind') === 'deny' ? 'Deny' : 'Allow'
    const [schedule = '', duration = '', timeZone] = ['schedule', 'duration', 'timeZone'].map((name) => window.text(name))
    const holdsForPeople = !window.flag('manualSync')
    window.pass('description', 'syncOverrun')
    if (!isMeant) return []
    if ('wrong' in parseCron(schedule) || !isDuration(duration)) {
      tell(`A window of ${duration} at ${schedule} has no match: write it as 1h30m at 0 22 * * *.`)
      return []
    }
    if (holdsForPeople) tell('`berth sync` applies at any time, whatever the windows say; in Argo CD they hold for it, too.')
    return [{ kind, schedule, duration, ...(timeZone !== undefined && { timeZone }) }]
  })
}

function isFor(window: ForeignFields, { name, namespace, clusters }: Windowed): boolean {
  const matches = (patterns: string[], texts: readonly string[]) =>
    patterns.length === 0 ? undefined : patterns.some((pattern) => texts.some((text) => matchesWildcard(pattern, text)))
  const found = [
    matches(window.texts('applications'), [name]),
    matches(window.texts('namespaces'), [namespace]),
    matches(window.texts('clusters'), clusters),
  ].filter((each) => each !== undefined)
  return window.flag('andOperator') ? found.every(Boolean) && found.length > 0 : found.some(Boolean)
}
