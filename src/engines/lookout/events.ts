import type { Kube } from '../../adapters/kube/index.ts'
import { type CoreEvent, CoreEvents, labels, lastSaidAt, Pods, type Workspace, workspaceObjectName } from '../../api/index.ts'
import { isFailure } from '../../std/index.ts'
import { type TargetReach, withTarget } from './target.ts'

export interface WorkspaceEvent {
  at: string
  type: string
  reason: string
  object: string
  count: number
  message: string
}

/** Finds the Events about the workspace here, and about its objects where it runs, in the order of time. */
export async function eventsOf(
  kube: Kube,
  workspace: Workspace,
  reach: TargetReach,
  signal?: AbortSignal,
): Promise<{ events: WorkspaceEvent[]; unseen: string | undefined }> {
  const { uid = '', namespace } = workspace.metadata
  const own = await kube.list(CoreEvents, { namespace, fields: `involvedObject.uid=${uid}` }, signal)
  const there = await withTarget(kube, workspace, reach, async (target, home) => {
    const all = await target.list(CoreEvents, { namespace: home }, signal)
    const ofIt = { namespace: home, labels: `${labels.workspaceUid}=${uid}`, metadataOnly: true }
    const pods = await target.list(Pods, ofIt, signal)
    const names = new Set(pods.map(({ metadata }) => metadata.name))
    const made = workspaceObjectName(workspace)
    return all.filter(({ involvedObject: { kind, name = '' } }) => names.has(name) || isOf(made, kind, name))
  }).catch((thrown: unknown) => {
    if (isFailure(thrown)) return thrown.message
    throw thrown
  })
  const others = typeof there === 'string' ? [] : there
  const seen = new Set(own.map(({ metadata }) => metadata.uid))
  const all = [...own, ...others.filter(({ metadata }) => !seen.has(metadata.uid))].map(workspaceEventFrom)
  return {
    events: all.sort((a, b) => Date.parse(a.at) - Date.parse(b.at)),
    unseen: typeof there === 'string' ? there : undefined,
  }
}

/**
 * Kubernetes puts this behind the name of a Deployment, by the kind of what it makes. All else has the name itself: that of a
 * neighbour may go on with anything, as `web-2` does.
 */
const MARKS = new Map([
  ['ReplicaSet', /^-[a-z0-9]{1,10}$/],
  ['Pod', /^-[a-z0-9]{1,10}-[a-z0-9]{5}$/],
])
/** A pod beside the main one has a Deployment of its own. */
const BESIDE = /^-pod-[0-9a-f]{8}/

/** Whether an object belongs to the Deployment of that name. */
function isOf(made: string, kind: string | undefined, name: string): boolean {
  if (!name.startsWith(made)) return false
  const rest = name.slice(made.length).replace(BESIDE, '')
  return rest === '' || (MARKS.get(kind ?? '')?.test(rest) ?? false)
}

function workspaceEventFrom(event: CoreEvent): WorkspaceEvent {
  const { type = '', reason = '', message = '', count, series, involvedObject } = event
  return {
    at: lastSaidAt(event),
    type,
    reason,
    object: `${involvedObject.kind ?? ''} ${involvedObject.name ?? ''}`.trim(),
    count: series?.count ?? count ?? 1,
    message: withContainer(involvedObject.fieldPath, message),
  }
}

/** The kubelet says the same of each container of a pod, and only beside its words which one is meant: `spec.containers{tools}`. */
function withContainer(fieldPath: string | undefined, message: string): string {
  const [, container] = /^spec\.\w{1,30}\{([a-z0-9-]{1,63})\}$/.exec(fieldPath ?? '') ?? []
  return container === undefined ? message : `${container}: ${message}`
}
