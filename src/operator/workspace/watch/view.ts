import { type Cache, type Caches, createCaches, type Kube, type Memory } from '../../../adapters/kube/index.ts'
import { type Deployment, Deployments, indexBy, type KubeObject, labels, type Pod, Pods } from '../../../api/index.ts'
import { type Clock, Failure, isFailure, type Log } from '../../../std/index.ts'
import { watchBeside } from './beside.ts'
import { isPassing, mayWatch } from './may-watch.ts'

/** The Deployments and pods of workspaces in one namespace of a target, by watches. */
export interface NamespaceView {
  /** The target; what is written through it shows at once. */
  kube: Kube
  deployments: Pick<Cache<Deployment>, 'get' | 'all' | 'by'>
  pods: Pick<Cache<Pod>, 'get' | 'by'>
  /** Until the first lists are in, nothing is said. */
  isReady(): boolean
  /** Why they are not in yet. */
  why(): string
  close(): Promise<void>
}

export interface ViewTools {
  kube: Kube
  /** Whose target it is, and what is kept of it takes this tenant's part of that memory. */
  tenant: string
  memory: Memory | undefined
  clock: Clock
  log: Log
  namespace: string
  /** Something changed of the workspace with this UID. */
  changed(uid: string): void
  /** The same of something that is not in the view. */
  drifted(uid: string): void
  /** It can be looked at now. */
  ready(): void
}

const HAS_UID = labels.workspaceUid
const KINDS = [Deployments, Pods]

/** The UID of the workspace that it belongs to, by its own word. */
export const uidOf = (object: KubeObject | undefined): string => object?.metadata.labels?.[HAS_UID] ?? ''

export const BY_WORKSPACE = indexBy((object: KubeObject) => [uidOf(object)])

function watched(caches: Caches, scope: { namespace?: string }, changed: (object: KubeObject) => void) {
  const deployments = caches.of(Deployments, { ...scope, labels: HAS_UID })
  const pods = caches.of(Pods, { ...scope, labels: HAS_UID })
  const tell = (now: KubeObject | undefined, before: KubeObject | undefined) => {
    const object = now ?? before
    if (object) changed(object)
  }
  deployments.onChange(tell)
  pods.onChange(tell)
  return { deployments, pods }
}

/** With the target's own credentials: two watches in its namespace. */
export function viewWithCredentials({ kube, clock, log, namespace, tenant, memory, changed, ready }: ViewTools): NamespaceView {
  const caches = createCaches({ kube, clock, log, tenant, memory })
  const { deployments, pods } = watched(caches, { namespace }, (object) => changed(uidOf(object)))
  const stopping = new AbortController()
  caches.ready(stopping.signal).then(ready, () => undefined)
  return {
    kube: caches.kube,
    deployments,
    pods,
    isReady: () => caches.waitingFor().length === 0,
    why: () => caches.waitingFor()[0]?.why ?? '',
    close() {
      stopping.abort()
      return caches.stop()
    },
  }
}

type OwnTools = Pick<ViewTools, 'kube' | 'clock' | 'log'> & { memory: Memory }

/** The operator's own cluster, seen with its own rights: one watch per kind, however many targets are there. */
export interface OwnCluster {
  /** As `viewWithCredentials` where the operator may not watch the whole cluster. */
  view(tools: ViewTools): NamespaceView
  close(): Promise<void>
}

export function openOwnCluster({ kube, memory, clock, log }: OwnTools): OwnCluster {
  const stopping = new AbortController()
  // Where it may not, each target is watched with its own credentials.
  const opened = mayWatch(kube, { clock, kinds: KINDS, signal: stopping.signal, isOpen: isPassing }).then((may) => {
    if (!may || stopping.signal.aborted) return
    const caches = createCaches({ kube, memory, clock, log })
    const listeners = createListeners()
    watchBeside({ kube, memory, clock, log }, listeners.tellDrift, stopping.signal)
    return { caches, listeners, ...watched(caches, {}, listeners.tell) }
  })
  return {
    view: (tools) => viewOnceKnown(tools, opened),
    async close() {
      stopping.abort()
      await (await opened.catch(() => undefined))?.caches.stop()
    },
  }
}

type Opened = { caches: Caches; listeners: ReturnType<typeof createListeners> } & ReturnType<typeof watched>

type Listener = Pick<ViewTools, 'changed' | 'drifted'>

/** By namespace: with a thousand targets, a change is told to those only whom it may concern. */
function createListeners() {
  const byNamespace = new Map<string, Set<Listener>>()
  const of = ({ metadata }: KubeObject) => byNamespace.get(metadata.namespace ?? '') ?? []
  return {
    tell(object: KubeObject) {
      for (const { changed } of of(object)) changed(uidOf(object))
    },
    tellDrift(object: KubeObject) {
      for (const { drifted } of of(object)) drifted(uidOf(object))
    },
    add(namespace: string, listener: Listener): () => void {
      const listeners = byNamespace.get(namespace) ?? new Set()
      byNamespace.set(namespace, listeners.add(listener))
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0 && byNamespace.get(namespace) === listeners) byNamespace.delete(namespace)
      }
    },
  }
}

function viewOnceKnown(tools: ViewTools, opened: Promise<Opened | undefined>): NamespaceView {
  let view: NamespaceView | undefined
  let isClosed = false
  void opened.then((own) => {
    if (isClosed) return
    view = own ? viewWithin(tools, own) : viewWithCredentials(tools)
  })
  return {
    get kube() {
      return view?.kube ?? tools.kube
    },
    deployments: {
      get: (ref) => view?.deployments.get(ref),
      all: () => view?.deployments.all() ?? [],
      by: (index, value) => view?.deployments.by(index, value) ?? [],
    },
    pods: { get: (ref) => view?.pods.get(ref), by: (index, value) => view?.pods.by(index, value) ?? [] },
    isReady: () => view?.isReady() ?? false,
    why: () => view?.why() ?? 'not asked yet',
    async close() {
      isClosed = true
      await view?.close()
    },
  }
}

/**
 * The part of the cluster-wide watch that is in the target's namespace. It is shown only when the target's own credentials could
 * see it, too: a tenant who names a namespace of somebody else learns nothing of it.
 */
function viewWithin(tools: ViewTools, { caches, deployments, pods, listeners }: Opened): NamespaceView {
  const { kube, clock, namespace, ready } = tools
  const stopping = new AbortController()
  const rights = { why: 'not asked yet', areSeen: false }
  const end = listeners.add(namespace, tools)
  const isOpen = (thrown: unknown) => {
    if (isFailure(thrown, 'cancelled')) return false
    rights.why = Failure.from(thrown).message
    return true
  }
  mayWatch(kube, { clock, kinds: KINDS, namespace, signal: stopping.signal, isOpen })
    .then((may) => {
      rights.areSeen = may
      return caches.ready(stopping.signal)
    })
    .then(ready, () => undefined)
  const endOpen = caches.onOpen((opened) => {
    if (opened === namespace) ready()
  })
  return {
    kube: caches.through(kube),
    deployments: {
      get: (ref) => (ref.namespace === namespace ? deployments.get(ref) : undefined),
      all: () => deployments.in(namespace),
      by: (index, value) => deployments.by(index, value).filter(({ metadata }) => metadata.namespace === namespace),
    },
    pods: {
      get: (ref) => (ref.namespace === namespace ? pods.get(ref) : undefined),
      by: (index, value) => pods.by(index, value).filter(({ metadata }) => metadata.namespace === namespace),
    },
    isReady: () => rights.areSeen && caches.waitingFor().length === 0 && !caches.shortage(namespace),
    why() {
      if (!rights.areSeen) return rights.why
      return caches.waitingFor()[0]?.why ?? caches.shortage(namespace)?.message ?? ''
    },
    async close() {
      stopping.abort()
      end()
      endOpen()
    },
  }
}
