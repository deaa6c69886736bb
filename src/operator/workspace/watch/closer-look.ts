import { type Cache, type Caches, createCaches } from '../../../adapters/kube/index.ts'
import {
  type CoreEvent,
  CoreEvents,
  indexBy,
  labels,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  type Pod,
} from '../../../api/index.ts'
import { BY_WORKSPACE, uidOf, type ViewTools } from './view.ts'

/** Volumes and warnings explain a start that takes long better than Deployment and pods do. */
export interface StartEvidence {
  claims: PersistentVolumeClaim[]
  /** Warnings only, about the pods and claims of the workspace. */
  events: CoreEvent[]
}

/**
 * Watches volumes and warnings of a namespace, as long as somebody's start takes long: two watches, however many are slow,
 * and none while all run or are stopped. A target that does not allow it only explains less.
 */
export interface CloserLook {
  at(uid: string, pods: readonly Pod[]): StartEvidence
  /** It runs, or is stopped, or gone. */
  stopLooking(uid: string): void
  close(): Promise<void>
}

interface Tools extends Pick<ViewTools, 'kube' | 'tenant' | 'memory' | 'clock' | 'log' | 'namespace'> {
  pods: Pick<Cache<Pod>, 'get'>
  /** Something new is seen of the workspace with this UID. */
  wake(uid: string): void
}

interface Open {
  caches: Caches
  claims: Cache<PersistentVolumeClaim>
  events: Cache<CoreEvent>
}

const byObject = indexBy(({ involvedObject: { uid = '' } }: CoreEvent) => [uid])

export function createCloserLook(tools: Tools): CloserLook {
  const looking = new Set<string>()
  let open: Open | undefined
  const close = async () => {
    const { caches } = open ?? {}
    open = undefined
    await caches?.stop()
  }
  return {
    at(uid, pods) {
      looking.add(uid)
      open ??= openLook(tools, looking)
      const { claims: all, events } = open
      const claims = all.by(BY_WORKSPACE, uid)
      return { claims, events: [...pods, ...claims].flatMap(({ metadata }) => events.by(byObject, metadata.uid ?? '')) }
    },
    stopLooking(uid) {
      looking.delete(uid)
      if (looking.size === 0) void close()
    },
    close,
  }
}

function openLook({ kube, memory, tenant, clock, log, namespace, pods, wake }: Tools, looking: ReadonlySet<string>): Open {
  const caches = createCaches({ kube, memory, tenant, clock, log })
  const claims = caches.of(PersistentVolumeClaims, { namespace, labels: labels.workspaceUid })
  const events = caches.of(CoreEvents, { namespace, fields: 'type=Warning' })
  const wakeIfLooking = (uid: string) => {
    if (looking.has(uid)) wake(uid)
  }
  claims.onChange((now, before) => wakeIfLooking(uidOf(now ?? before)))
  events.onChange((now, before) => {
    const { kind, name = '' } = (now ?? before)?.involvedObject ?? {}
    const about = { name, namespace }
    wakeIfLooking(uidOf(kind === 'Pod' ? pods.get(about) : claims.get(about)))
  })
  log.debug('looking closer', { namespace })
  return { caches, claims, events }
}
