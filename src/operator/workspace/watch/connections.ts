import type { Metrics } from '../../../adapters/http/index.ts'
import type { Kube, Memory, Meter, Reach } from '../../../adapters/kube/index.ts'
import { type Ref, refOf, type Workspace } from '../../../api/index.ts'
import type { Waker } from '../../../engines/controller/index.ts'
import { openTarget } from '../../../engines/targets/index.ts'
import { type Clock, Failure, type Log, seconds } from '../../../std/index.ts'
import type { Target } from '../place/target.ts'
import { type CloserLook, createCloserLook } from './closer-look.ts'
import { withQuotas } from './quotas.ts'
import { createSurvey, type Survey } from './survey.ts'
import { type NamespaceView, type OwnCluster, openOwnCluster, uidOf, viewWithCredentials } from './view.ts'

/** One target as it is seen, and written with its own credentials. */
export interface TargetConnection extends Omit<NamespaceView, 'close'> {
  closer: CloserLook
  survey: Survey
  /** Milliseconds for which its first lists may still be on their way; 0 when they are in, or had their time. */
  isNewFor(): number
}

/** The first lists of thousands of workspaces take so long. */
const NEW = seconds(10)

/**
 * Watches the objects of workspaces where they run: one watch per kind in the operator's own cluster, and elsewhere one per kind
 * and target, however many workspaces share it.
 */
export interface TargetConnections {
  /** The connection for this workspace. It stays open until the workspace is released or uses another. */
  of(workspace: Workspace, target: Target): TargetConnection
  release(workspace: Workspace): void
}

interface OpenConnection extends TargetConnection {
  users: Map<string, Ref>
  close(): void
}

interface ConnectionTools {
  clock: Clock
  log: Log
  /** Told whose objects have changed; everything is closed when its signal aborts. */
  wakeups: Waker
  /** The operator's own API and its URLs, where it looks after the whole cluster. */
  own?: { kube: Kube; memory: Memory; urls: readonly string[] } | undefined
  /** Where targets may lead; everywhere without it. */
  reach?: Reach | undefined
  /** Counts the requests to targets. */
  meter?: Meter | undefined
  /** The workspace of this UID, wherever it is. */
  workspace(uid: string): Workspace | undefined
  /** Something of the workspace of this UID that is not in a connection has changed. */
  drifted?(uid: string): void
}

/** Counts requests to where workspaces run. */
export function targetMeter(metrics: Metrics): Meter {
  const requests = metrics.counter({
    name: 'berth_target_requests_total',
    help: 'Requests to targets of workspaces',
    labels: ['verb', 'status'],
  })
  return ({ verb, status }) => requests.add({ verb, status: String(status) })
}

export function createTargetConnections(tools: ConnectionTools): TargetConnections {
  const open = new Map<string, OpenConnection>()
  const using = new Map<string, string>()
  const { own, clock, log, wakeups } = tools
  let cluster: OwnCluster | undefined

  const leave = (uid: string) => {
    const key = using.get(uid)
    using.delete(uid)
    const connection = key === undefined ? undefined : open.get(key)
    connection?.users.delete(uid)
    connection?.closer.stopLooking(uid)
    if (key === undefined || !connection || connection.users.size > 0) return
    open.delete(key)
    connection.close()
  }
  const clusterOf = ({ apiURL }: Target): OwnCluster | undefined => {
    if (!own?.urls.includes(apiURL)) return undefined
    cluster ??= openOwnCluster({ ...own, clock, log })
    return cluster
  }

  const end = () => {
    for (const uid of [...using.keys()]) leave(uid)
    void cluster?.close()
  }
  wakeups.signal.addEventListener('abort', end, { once: true })
  return {
    of(workspace, target) {
      // A reconcile that was under way at the end: nobody would close what it opens.
      if (wakeups.signal.aborted) throw new Failure('cancelled', 'the operator ends')
      const uid = workspace.metadata.uid ?? ''
      // Other credentials are another connection: the old token may be about to end.
      const key = [target.apiURL, target.namespace, target.claimUid, target.version].join(' ')
      if (using.get(uid) !== key) leave(uid)
      const connection = open.get(key) ?? connectTo(target, clusterOf(target), tools)
      open.set(key, connection)
      using.set(uid, key)
      connection.users.set(uid, refOf(workspace))
      return connection
    },
    release: ({ metadata }) => leave(metadata.uid ?? ''),
  }
}

function connectTo(
  target: Target,
  cluster: OwnCluster | undefined,
  { own, clock, log: parent, reach, meter, workspace, wakeups, drifted = () => undefined }: ConnectionTools,
): OpenConnection {
  const { namespace, tenant, apiURL, claimUid } = target
  const memory = reach?.memory
  const log = parent.with({ target: target.name })
  const kube = openTarget(target, { clock, reach, meter })
  const users = new Map<string, Ref>()
  const changed = (uid: string) => {
    const ref = users.get(uid)
    if (ref) wakeups.wake(ref)
  }
  const ready = () => {
    for (const ref of users.values()) wakeups.wake(ref)
  }
  const noteDrift = (uid: string) => {
    drifted(uid)
    changed(uid)
  }
  const tools = { kube, clock, log, namespace, tenant, memory, changed, drifted: noteDrift, ready }
  const view = cluster?.view(tools) ?? viewWithCredentials(tools)
  const closer = createCloserLook({ kube, memory, tenant, clock, log, namespace, pods: view.pods, wake: changed })
  const leadsHere = (uid: string): boolean | undefined => {
    const found = workspace(uid)
    if (!found) return undefined
    const { metadata, status } = found
    return metadata.namespace === tenant && status?.target?.apiURL === apiURL && status.target.namespace === namespace
  }
  const count = () => [...view.deployments.all()].filter((each) => leadsHere(uidOf(each)) === true).length
  const survey = createSurvey({ kube, tenant, memory, clock, log, namespace, leadsHere, count, done: ready })
  const old = clock.now() + NEW
  return {
    get kube() {
      return own && cluster ? withQuotas(view.kube, own.kube, { tenant, claimUid }) : view.kube
    },
    deployments: view.deployments,
    pods: view.pods,
    isReady: view.isReady,
    why: view.why,
    closer,
    survey,
    isNewFor: () => (view.isReady() ? 0 : Math.max(old - clock.now(), 0)),
    users,
    close() {
      survey.close()
      void Promise.all([view.close(), closer.close()]).then(() => kube.close())
    },
  }
}
