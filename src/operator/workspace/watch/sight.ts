import { type Cache, type Caches, createCaches, type Kube, type Memory } from '../../../adapters/kube/index.ts'
import { type Deployment, Deployments, indexBy, type KubeObject, labels, type Pod, Pods } from '../../../api/index.ts'
import { type Clock, Failure, isFailure, type Log, pause, seconds, waitOf } from '../../../std/index.ts'

/** What is seen of workspaces in one namespace of a target. */
export interface Sight {
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

export interface SightTools {
  kube: Kube
  /** Whose target it is, and what is kept of it takes this tenant's part of that memory. */
  tenant: string
  memory: Memory | undefined
  clock: Clock
  log: Log
  namespace: string
  /** Something changed of the workspace with this UID. */
  changed(uid: string): void
  /** It can be looked at now. */
  ready(): void
}

const HAS_UID = labels.workspaceUid

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
export function sightApart({ kube, clock, log, namespace, tenant, memory, changed, ready }: SightTools): Sight {
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

/** What the operator sees with its own rights in its own cluster: one watch per kind, however many targets are there. */
export interface OwnCluster {
  /** As `sightApart` where the operator may not watch the whole cluster. */
  sight(tools: SightTools): Sight
  close(): Promise<void>
}

interface OwnTools {
  kube: Kube
  memory: Memory
  clock: Clock
  log: Log
}

export function openOwnCluster({ kube, memory, clock, log }: OwnTools): OwnCluster {
  const stopping = new AbortController()
  // Where it may not, each target is watched with its own credentials.
  const opened = mayWatch(kube, { clock, signal: stopping.signal, isOpen: isPassing }).then((may) => {
    if (!may || stopping.signal.aborted) return
    const caches = createCaches({ kube, memory, clock, log })
    const listeners = createListeners()
    return { caches, listeners, ...watched(caches, {}, listeners.tell) }
  })
  return {
    sight: (tools) => sightOnceKnown(tools, opened),
    async close() {
      stopping.abort()
      await (await opened.catch(() => undefined))?.caches.stop()
    },
  }
}

type Opened = Promise<({ caches: Caches; listeners: Listeners } & ReturnType<typeof watched>) | undefined>

type Listeners = ReturnType<typeof createListeners>

/** By namespace: with a thousand targets, a change is told to those only whom it may concern. */
function createListeners() {
  const rooms = new Map<string, Set<(uid: string) => void>>()
  return {
    tell(object: KubeObject) {
      for (const changed of rooms.get(object.metadata.namespace ?? '') ?? []) changed(uidOf(object))
    },
    add(namespace: string, changed: (uid: string) => void): () => void {
      const room = rooms.get(namespace) ?? new Set()
      rooms.set(namespace, room.add(changed))
      return () => {
        room.delete(changed)
        if (room.size === 0 && rooms.get(namespace) === room) rooms.delete(namespace)
      }
    },
  }
}

const PATIENT = { base: seconds(0.5), max: seconds(30), factor: 2, jitter: 0.5 }
const isPassing = (thrown: unknown) => isFailure(thrown, 'unavailable', 'timeout', 'expired')

interface Asking {
  clock: Clock
  /** The whole cluster without one. */
  namespace?: string
  signal: AbortSignal
  /** Whether it is asked again after this; a server that is only away has not said no. */
  isOpen: (thrown: unknown) => boolean
}

/** One object of each kind at most, and of it the metadata: only whether it is allowed counts. */
async function mayWatch(kube: Kube, { clock, namespace, signal, isOpen }: Asking): Promise<boolean> {
  const place = namespace === undefined ? '' : `/namespaces/${namespace}`
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      for (const path of [`/apis/apps/v1${place}/deployments`, `/api/v1${place}/pods`])
        await kube.read(`${path}?limit=1&labelSelector=${encodeURIComponent(HAS_UID)}`)
      return true
    } catch (thrown) {
      if (!isOpen(thrown)) return false
      await pause(clock, waitOf(PATIENT, attempt), signal)
    }
  }
  return false
}

function sightOnceKnown(tools: SightTools, opened: Opened): Sight {
  let sight: Sight | undefined
  let isClosed = false
  void opened.then((own) => {
    if (isClosed) return
    sight = own ? sightWithin(tools, own) : sightApart(tools)
  })
  return {
    get kube() {
      return sight?.kube ?? tools.kube
    },
    deployments: {
      get: (ref) => sight?.deployments.get(ref),
      all: () => sight?.deployments.all() ?? [],
      by: (index, value) => sight?.deployments.by(index, value) ?? [],
    },
    pods: { get: (ref) => sight?.pods.get(ref), by: (index, value) => sight?.pods.by(index, value) ?? [] },
    isReady: () => sight?.isReady() ?? false,
    why: () => sight?.why() ?? 'not asked yet',
    async close() {
      isClosed = true
      await sight?.close()
    },
  }
}

/**
 * The part of the cluster-wide watch that is in the target's namespace. It is shown only when the target's own credentials could
 * see it, too: whoever names a namespace that is not theirs learns nothing of it.
 */
function sightWithin(tools: SightTools, { caches, deployments, pods, listeners }: NonNullable<Awaited<Opened>>): Sight {
  const { kube, clock, namespace, changed, ready } = tools
  const stopping = new AbortController()
  const rights = { why: 'not asked yet', areSeen: false }
  const end = listeners.add(namespace, changed)
  const isOpen = (thrown: unknown) => {
    if (isFailure(thrown, 'cancelled')) return false
    rights.why = Failure.from(thrown).message
    return true
  }
  mayWatch(kube, { clock, namespace, signal: stopping.signal, isOpen })
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
