import type { GitOpsDeploymentSpec } from '../../api/index.ts'
import { defined, matchesWildcard } from '../../std/index.ts'
import type { ForeignFields } from './fields.ts'

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
  const windows = project.records('syncWindows').flatMap((window) => {
    const isMeant = isFor(window, application)
    const [kind, schedule, duration] = [window.text('kind'), window.text('schedule'), window.text('duration')]
    const timeZone = window.text('timeZone')
    const isManual = window.flag('manualSync') ?? false
    window.pass('description', 'syncOverrun')
    if (!isMeant) return []
    if (schedule === undefined || duration === undefined || !/^(?:\d{1,6}[smh])+$/.test(duration)) {
      tell(`A window of ${duration} at ${schedule} has no match: write the duration as 1h30m.`)
      return []
    }
    if (!isManual) tell('`berth sync` applies at any time, whatever the windows say; in Argo CD they hold for it, too.')
    return [defined({ kind: kind === 'deny' ? ('Deny' as const) : ('Allow' as const), schedule, duration, timeZone })]
  })
  return windows.flatMap(({ kind, schedule, duration, timeZone }) =>
    kind && schedule && duration ? [{ kind, schedule, duration, ...(timeZone !== undefined && { timeZone }) }] : [],
  )
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
