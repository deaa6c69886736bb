/** How many objects there are, and how they are: counted from the caches whenever somebody reads the metrics. */
import type { Metrics } from '../adapters/http/index.ts'
import type { Caches } from '../adapters/kube/index.ts'
import {
  conditionOf,
  DeploymentTargetClaims,
  DeploymentTargets,
  Environments,
  GitOpsDeploymentManagedEnvironments,
  GitOpsDeployments,
  type Kind,
  type KubeObject,
  SpaceRequests,
  type Statement,
  Workspaces,
} from '../api/index.ts'

type Conditioned = KubeObject & { status?: { conditions?: Pick<Statement, 'type' | 'status' | 'reason'>[] } }

/** Those of tenants that say by a condition whether they are ready. */
const COUNTED: Kind<Conditioned>[] = [
  DeploymentTargetClaims,
  DeploymentTargets,
  SpaceRequests,
  Environments,
  GitOpsDeploymentManagedEnvironments,
  GitOpsDeployments,
  Workspaces,
]

/** `caches`: those of the present term. Reasons are words of ours, which docs/conditions.md lists: no tenant makes new ones. */
export function countObjects(metrics: Metrics, caches: () => Pick<Caches, 'of'>): void {
  metrics.gauge({
    name: 'berth_objects',
    help: 'Objects of each kind by what their condition Ready says',
    labels: ['kind', 'ready', 'reason'],
    read: () =>
      COUNTED.flatMap((kind) =>
        countBy('Ready', caches().of(kind).all(), (ready, reason) => ({ kind: kind.kind, ready, reason })),
      ),
  })
  metrics.gauge({
    name: 'berth_targets',
    help: 'DeploymentTargets by what their condition Reachable says',
    labels: ['reachable', 'reason'],
    read: () => countBy('Reachable', caches().of(DeploymentTargets).all(), (reachable, reason) => ({ reachable, reason })),
  })
}

function countBy(
  type: string,
  objects: Iterable<Conditioned>,
  labelsFor: (status: string, reason: string) => Record<string, string>,
): { labels: Record<string, string>; value: number }[] {
  const counts = new Map<string, { labels: Record<string, string>; value: number }>()
  for (const object of objects) {
    const { status = 'Unknown', reason = '' } = conditionOf(object.status?.conditions, type) ?? {}
    const key = `${status}/${reason}`
    const count = counts.get(key) ?? { labels: labelsFor(status, reason), value: 0 }
    count.value++
    counts.set(key, count)
  }
  return [...counts.values()]
}
