import type { Cache } from '../../../adapters/kube/index.ts'
import { conditionOf, type GitOpsDeployment, keyOf, type Ref, sourceChart, sourceUrl } from '../../../api/index.ts'
import type { Snapshot } from '../../../engines/render/index.ts'
import { Failure } from '../../../std/index.ts'
import { dependenciesOf, sameRepository } from '../watch/caches.ts'
import { checkWindows, type FindOpening, type Opening, openingAt } from './windows.ts'

/** Why a commit is not applied yet, though nothing is wrong with it. */
export interface SyncWait {
  reason: string
  message: string
  /** When a sync window opens, if that is what is waited for. */
  until?: number | undefined
}

type Deployments = Pick<Cache<GitOpsDeployment>, 'get'>

export interface Rules {
  now: number
  /** Whether dependencies may be in other namespaces. */
  crossNamespace: boolean
  /** Somebody asked for this very commit, at this very time. */
  asked?: 'now' | 'this-revision' | undefined
  /** Finds out whether sync windows are open; anew each time without it. */
  findOpening?: FindOpening
}

/**
 * Why a fetched commit is not applied yet: dependencies, then windows. Every dependency is to be Ready at its own newest generation
 * (and, when it follows the same revision of the same repository, with the same commit). Mistakes in either are `invalid` failures.
 * Not here: suspended, manual, and not fetched yet (reconcile.ts), and objects of a commit that wait for one another or for other
 * deployments (engines/gitops). docs/architecture.md lists all waits.
 */
export function syncWaitOf(
  deployment: GitOpsDeployment,
  { commitId }: Snapshot,
  { deployments }: { deployments: Deployments },
  { now, crossNamespace, asked, findOpening = openingAt }: Rules,
): SyncWait | undefined {
  refuseMistakes(deployment, deployments, crossNamespace)
  if (!asked) checkWindows(deployment.spec.syncWindows)
  // What is in effect is repaired at any time, and does not become unready with what it once waited for.
  if (isInEffect(deployment, commitId)) return undefined
  const opening = asked ? OPEN : findOpening(now, deployment.spec.syncWindows)
  return (
    dependencyWaitOf(deployment, asked === 'this-revision' ? undefined : commitId, deployments) ?? closedWindow(opening, commitId)
  )
}

/** The first dependency that is not ready for a commit, or, without one, for whichever it is at. */
export function dependencyWaitOf(
  deployment: GitOpsDeployment,
  commitId: string | undefined,
  deployments: Deployments,
): SyncWait | undefined {
  for (const ref of dependenciesOf(deployment)) {
    const dependency = deployments.get(ref)
    const why = dependency ? shortcomingOf(dependency, deployment, commitId) : 'does not exist'
    if (why !== undefined) return waitFor(ref, why)
  }
  return undefined
}

/** `why` goes on with a sentence about the deployment that is waited for. */
export const waitFor = (ref: Ref, why: string): SyncWait => ({
  reason: 'DependencyNotReady',
  message: `waits for GitOpsDeployment ${keyOf(ref)}, which ${why}`,
})

const OPEN: Opening = { isOpen: true, until: undefined }

/** Why nothing may be built on a deployment as it is now. */
export function unreadinessOf({ status, metadata }: GitOpsDeployment): string | undefined {
  const ready = conditionOf(status?.conditions, 'Ready')
  if (status?.observedGeneration !== metadata.generation) return 'was changed and is not looked at yet'
  return ready?.status === 'True' ? undefined : `is not Ready${ready?.reason ? ` (${ready.reason})` : ''}`
}

/** Without a commit, whichever the dependency is at will do. */
function shortcomingOf(
  dependency: GitOpsDeployment,
  deployment: GitOpsDeployment,
  commitId: string | undefined,
): string | undefined {
  const unready = unreadinessOf(dependency)
  if (unready !== undefined) return unready
  const revision = dependency.status?.sync?.revision
  if (commitId !== undefined && followsTheSame(dependency, deployment) && revision !== commitId)
    return `has not applied commit ${commitId.slice(0, 12)} of the same repository yet`
  return undefined
}

/** Two that follow one line of commits go through it together: the dependent never runs ahead. */
function followsTheSame({ spec: { source: a } }: GitOpsDeployment, { spec: { source: b } }: GitOpsDeployment): boolean {
  const isSame = sameRepository(sourceUrl(a)) === sameRepository(sourceUrl(b))
  const isSameWay = a.semver === b.semver && a.follow?.deployment === b.follow?.deployment
  return isSame && isSameWay && sourceChart(a) === sourceChart(b) && (a.targetRevision ?? '') === (b.targetRevision ?? '')
}

function refuseMistakes(deployment: GitOpsDeployment, deployments: Deployments, crossNamespace: boolean): void {
  const { namespace } = deployment.metadata
  const foreign = dependenciesOf(deployment).find((ref) => ref.namespace !== namespace)
  if (foreign && !crossNamespace)
    throw new Failure('invalid', `spec.dependsOn: GitOpsDeployment ${keyOf(foreign)} is in another namespace`, {
      reason: 'CrossNamespaceRefused',
      remedy: 'Depend on one of this namespace, or have the operator started with --cross-namespace-dependencies',
    })
  refuseCycle(deployment, deployments, { ways: dependenciesOf, field: 'spec.dependsOn' })
}

interface Ways {
  ways: (deployment: GitOpsDeployment) => Ref[]
  field: string
}

/** Throws `invalid` where the way from a deployment leads back to itself. */
export function refuseCycle(deployment: GitOpsDeployment, deployments: Deployments, { ways, field }: Ways): void {
  const cycle = cycleOf(deployment, deployments, ways)
  if (cycle)
    throw new Failure('invalid', `${field} goes round in a circle: ${sayCycle(cycle)}`, {
      reason: 'DependencyCycle',
      remedy: `Take one of them out of its ${field}`,
    })
}

/** So many of a circle are named at most. */
const NAMED = 8

const sayCycle = (cycle: readonly string[]): string =>
  (cycle.length > NAMED ? [...cycle.slice(0, NAMED - 2), '…', ...cycle.slice(-1)] : cycle).join(' -> ')

/** The way from a deployment through those that it waits for back to itself. A chain may be as long as a namespace has deployments. */
function cycleOf(deployment: GitOpsDeployment, deployments: Deployments, ways: Ways['ways']): string[] | undefined {
  const start = keyOf(deployment.metadata)
  /** By key: who was the first to lead there. */
  const leadIn = new Map<string, string>()
  const open = [deployment]
  for (let from = open.pop(); from; from = open.pop()) {
    for (const ref of ways(from)) {
      const key = keyOf(ref)
      if (key === start) return [...wayTo(keyOf(from.metadata), leadIn), key]
      if (leadIn.has(key)) continue
      leadIn.set(key, keyOf(from.metadata))
      const next = deployments.get(ref)
      if (next) open.push(next)
    }
  }
  return undefined
}

/** From where nothing leads in. */
function wayTo(end: string, leadIn: ReadonlyMap<string, string>): string[] {
  const way: string[] = []
  for (let key: string | undefined = end; key !== undefined; key = leadIn.get(key)) way.push(key)
  return way.reverse()
}

/** Fully applied at this generation; of a half-applied commit the rest is still subject to these waits. */
const isInEffect = ({ metadata, status }: GitOpsDeployment, commitId: string): boolean =>
  status?.admitted?.revision === commitId && status.admitted.generation === metadata.generation

export function closedWindow({ isOpen, until }: Opening, commitId: string): SyncWait | undefined {
  if (isOpen) return undefined
  const when =
    until === undefined
      ? 'no window of spec.syncWindows will ever open; correct their schedules'
      : `the next sync window opens at ${new Date(until).toISOString()}`
  return { reason: 'OutsideSyncWindow', message: `commit ${commitId.slice(0, 12)} is there; ${when}`, until }
}
