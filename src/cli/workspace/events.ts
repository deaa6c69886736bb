import type { Kube } from '../../adapters/kube/index.ts'
import { type CoreEvent, CoreEvents, labels, Pods, type Workspace } from '../../api/index.ts'
import { isFailure } from '../../std/index.ts'
import { withTarget } from './target.ts'

export interface Told {
  at: string
  type: string
  reason: string
  object: string
  count: number
  message: string
}

/** What was told about the workspace here, and about its objects where it runs, in the order of time. */
export async function eventsOf(kube: Kube, workspace: Workspace): Promise<{ events: Told[]; unseen: string | undefined }> {
  const { uid = '', namespace } = workspace.metadata
  const own = await kube.list(CoreEvents, { namespace, fields: `involvedObject.uid=${uid}` })
  const there = await withTarget(kube, workspace, async (target, home) => {
    const all = await target.list(CoreEvents, { namespace: home })
    const pods = await target.list(Pods, { namespace: home, labels: `${labels.workspaceUid}=${uid}`, metadataOnly: true })
    const names = new Set(pods.map(({ metadata }) => metadata.name))
    const made = deploymentOf(workspace)
    return all.filter(({ involvedObject: { name = '' } }) => names.has(name) || name === made || name.startsWith(`${made}-`))
  }).catch((thrown: unknown) => {
    if (isFailure(thrown)) return thrown.message
    throw thrown
  })
  const others = typeof there === 'string' ? [] : there
  const seen = new Set(own.map(({ metadata }) => metadata.uid))
  const all = [...own, ...others.filter(({ metadata }) => !seen.has(metadata.uid))].map(toldBy)
  return {
    events: all.sort((a, b) => (a.at < b.at ? -1 : 1)),
    unseen: typeof there === 'string' ? there : undefined,
  }
}

const deploymentOf = ({ metadata }: Workspace): string => `workspace-${metadata.name}`

function toldBy(event: CoreEvent): Told {
  const { type = '', reason = '', message = '', count, series, involvedObject } = event
  const at = series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.firstTimestamp
  return {
    at: at ?? event.metadata.creationTimestamp ?? '',
    type,
    reason,
    object: `${involvedObject.kind ?? ''} ${involvedObject.name ?? ''}`.trim(),
    count: series?.count ?? count ?? 1,
    message,
  }
}
