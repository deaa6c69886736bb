import { type CacheWiring, createCaches } from '../../../adapters/kube/index.ts'
import {
  type Kind,
  type KubeObject,
  labels,
  NetworkPolicies,
  PersistentVolumeClaims,
  ResourceQuotas,
  ServiceAccounts,
  Services,
} from '../../../api/index.ts'
import { isPassing, mayWatch } from './may-watch.ts'

interface Beside {
  kind: Kind
  /** Nobody but those who may change what is wanted of it writes it. What a cluster reports in it would look like that. */
  isQuiet: boolean
}

/**
 * What a workspace has beside its Deployments, as far as the operator may watch it in its whole cluster. ConfigMaps and Secrets are not
 * among it: nobody is to read those of all for that.
 */
const BESIDE: readonly Beside[] = [
  { kind: ServiceAccounts, isQuiet: true },
  { kind: NetworkPolicies, isQuiet: true },
  { kind: Services, isQuiet: true },
  { kind: PersistentVolumeClaims, isQuiet: false },
  { kind: ResourceQuotas, isQuiet: false },
]

type Tools = Pick<CacheWiring, 'kube' | 'memory' | 'clock' | 'log'>

/**
 * Tells when such an object was removed, or written: one watch per kind for all workspaces, of metadata alone, and no request while
 * nothing happens. Nothing waits for these watches, and where one is not allowed, things are compared now and then as elsewhere.
 */
export function watchBeside(tools: Tools, drifted: (object: KubeObject) => void, signal: AbortSignal): void {
  const caches = createCaches(tools)
  signal.addEventListener('abort', () => void caches.stop(), { once: true })
  for (const { kind, isQuiet } of BESIDE) {
    const open = (may: boolean) => {
      if (!may || signal.aborted) return
      caches.of(kind, { labels: labels.workspaceUid, metadataOnly: true }).onChange((now, before) => {
        if (before && (isQuiet || !now)) drifted(before)
      })
    }
    void mayWatch(tools.kube, { clock: tools.clock, kinds: [kind], signal, isOpen: isPassing }).then(open)
  }
}
