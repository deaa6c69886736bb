import { apiVersionOf, CREDENTIALS_NAMESPACE, type Kind, type KubeObject, Secrets } from '../../api/index.ts'
import { type Clock, type Failure, isFailure, type Log } from '../../std/index.ts'
import type { Kube } from './kube.ts'
import { createOwnMemory, type Memory, roomOfNamespaces, roomOfTenant } from './memory.ts'
import { selectorOf } from './selector.ts'
import { createShortages } from './shortages.ts'
import { type Cache, Store, type StoreLimits } from './store.ts'
import { createTenants, keepPartsFed, type Tenants } from './tenants.ts'
import { nameOnly, trimmedSecret } from './trimmed.ts'
import { type Feed, keepFed, type WatchScope } from './watch.ts'

export interface CacheOptions extends WatchScope {
  /** All namespaces, also where the program is limited to one. */
  everywhere?: boolean
  /** Keeps which objects there are, and in which version, and nothing of what people write into them. */
  namesOnly?: boolean
}

/**
 * All caches of a program. Who asks for the same kind, namespace and selectors shares one watch.
 * Writes through `kube` show in the caches at once, so a reconcile never acts on what it has itself just changed.
 */
export interface Caches {
  readonly kube: Kube
  /** For what is kept, here and in other caches of the same program. */
  readonly memory: Memory
  /** The same server as somebody else: what is written so shows here, too. */
  through(kube: Kube): Kube
  of<T extends KubeObject>(kind: Kind<T>, options?: CacheOptions): Cache<T>
  /** Resolves when every cache has its first list; rejects only when the signal aborts. */
  ready(signal?: AbortSignal): Promise<void>
  /** Kinds whose first list is still missing, with the last reason: for readiness and doctor. */
  waitingFor(): { kind: string; why: string }[]
  /** Whether the Secrets of the namespace can be seen here. */
  isOpen(namespace: string): boolean
  /** Why not everything of the namespace is kept, so that nothing is to be done in it: what is missing here may be there. */
  shortage(namespace: string): Failure | undefined
  /** Throws that, where there is one. */
  requireWhole(namespace: string): void
  /** Called for an object of the namespace that is not kept, when there was a place for all before. */
  onShortage(listener: (object: KubeObject, why: Failure) => void): void
  /** Called for each namespace that is seen again, or no more, by what `isOpen` and `shortage` say; the answer ends it. */
  onOpen(listener: (namespace: string) => void): () => void
  stop(): Promise<void>
}

/** For a probe: what is not ready yet, and why. */
export function waitingFor(caches: Caches): string | undefined {
  const [first] = caches.waitingFor()
  return first && `waiting for ${first.kind}: ${first.why}`
}

/** Before the first lists are in, everything would look as if it did not exist. Ends with the signal, too. */
export async function untilListed(caches: Caches, signal: AbortSignal): Promise<void> {
  try {
    await caches.ready(signal)
  } catch (thrown) {
    if (!signal.aborted) throw thrown
  }
}

export interface CacheWiring {
  kube: Kube
  clock: Clock
  log: Log
  /** Limit to one namespace (cluster-scoped kinds and `everywhere` excepted). */
  scope?: string | undefined
  /** Silence after which a watch counts as dead, milliseconds. The default suits servers that send bookmarks each minute. */
  stall?: number | undefined
  /** Shared with other caches; its own without it. */
  memory?: Memory | undefined
  /** For a stranger's server: whose memory it is. A kind for which it has no room counts as not listed. */
  tenant?: string | undefined
  /** The ClusterRole by which namespaces let the program read their Secrets, unless it may read all. */
  tenantRole?: string | undefined
}

interface Watched {
  kind: Kind
  scope: WatchScope
  store: Store<KubeObject>
  listed: Promise<void>
  isListed: boolean
  why: string
  /** Namespaces that have been listed, where each has a watch of its own. */
  open?: Set<string>
  done: Promise<void>
}

export function createCaches(wiring: CacheWiring): Caches {
  const { kube, clock, log, scope, stall, tenantRole, tenant, memory = createOwnMemory() } = wiring
  const watched = new Map<string, Watched>()
  const stopping = new AbortController()
  const openings = new Set<(namespace: string) => void>()
  const isOpen = (namespace: string) => [...watched.values()].every(({ open }) => open?.has(namespace) ?? true)
  const tellOpening = (namespace: string) => {
    for (const listener of openings) listener(namespace)
  }
  const changing = (namespace: string, change: () => unknown) => {
    const before = isOpen(namespace)
    change()
    if (isOpen(namespace) !== before) tellOpening(namespace)
  }
  const shortages = createShortages({ memory, log, whole: tellOpening })
  const limits = {
    room: tenant === undefined ? roomOfNamespaces(memory) : roomOfTenant(memory, tenant),
    ...shortages.bell,
  }
  const tenants = tenantRole ? createTenants({ kube, clock, log, scope, role: tenantRole, limits }, stopping.signal) : undefined
  const start = (what: Pick<Source, 'kind' | 'scope' | 'namesOnly'>, own: readonly string[] | undefined): Watched =>
    keepWatched(
      { kube, clock, log, stall, ...what, limits },
      own && tenants ? { tenants, own, changing } : undefined,
      stopping.signal,
    )
  return {
    kube: remembering(kube, watched),
    memory,
    through: (other) => remembering(other, watched),
    of<T extends KubeObject>(kind: Kind<T>, { everywhere, namesOnly, ...rest }: CacheOptions = {}) {
      const asked = namesOnly ? { ...rest, metadataOnly: true } : rest
      const isParted = tenants !== undefined && isSameKind(kind, Secrets) && !asked.namespace
      const isLimited = kind.namespaced && scope && !everywhere && !asked.namespace
      const within = isLimited ? { ...asked, namespace: scope } : asked
      const key = keyOfWatch(kind, within, namesOnly)
      const own = everywhere ? [CREDENTIALS_NAMESPACE] : []
      const entry = watched.get(key) ?? start({ kind, scope: within, namesOnly }, isParted ? own : undefined)
      watched.set(key, entry)
      return entry.store as unknown as Store<T> // as: the key holds the kind, and the kind says the type
    },
    async ready(signal) {
      signal?.throwIfAborted()
      const aborted = Promise.withResolvers<never>()
      const abort = () => aborted.reject(signal?.reason)
      signal?.addEventListener('abort', abort, { once: true })
      await Promise.race([Promise.all([...watched.values()].map(({ listed }) => listed)), aborted.promise])
      signal?.removeEventListener('abort', abort)
    },
    waitingFor: () =>
      [...watched.values()].filter(({ isListed }) => !isListed).map(({ kind, why }) => ({ kind: kind.kind, why })),
    isOpen,
    shortage: shortages.of,
    requireWhole(namespace) {
      const shortage = shortages.of(namespace)
      if (shortage) throw shortage
    },
    onShortage: shortages.onShortage,
    onOpen(listener) {
      openings.add(listener)
      return () => openings.delete(listener)
    },
    async stop() {
      stopping.abort()
      await Promise.all([...watched.values()].map(({ done }) => done))
      for (const { store } of watched.values()) store.release()
    },
  }
}

const keyOfWatch = (kind: Kind, { namespace, labels, fields, metadataOnly }: WatchScope, namesOnly = false): string =>
  JSON.stringify([apiVersionOf(kind), kind.plural, namespace, labels, fields, metadataOnly === true, namesOnly])

const isSameKind = (one: Kind, other: Kind): boolean => one.group === other.group && one.plural === other.plural

/** For a cache that is fed from some namespaces only. */
interface Parts {
  tenants: Tenants
  /** Namespaces that are read in any case. */
  own: readonly string[]
  /** Makes a change to what of the namespace is open. */
  changing(namespace: string, change: () => unknown): void
}

interface Source extends Omit<Feed<KubeObject>, 'store' | 'listed' | 'failed'> {
  limits: StoreLimits<KubeObject>
  namesOnly: boolean | undefined
}

function keepWatched({ limits, namesOnly, ...source }: Source, parts: Parts | undefined, signal: AbortSignal): Watched {
  const trim = namesOnly ? nameOnly : isSameKind(source.kind, Secrets) ? trimmedSecret : undefined
  const store = new Store<KubeObject>(trim ? { ...limits, trim } : limits)
  const first = Promise.withResolvers<void>()
  const { kind, scope } = source
  const entry: Watched = {
    kind,
    scope,
    store,
    listed: first.promise,
    isListed: false,
    why: 'not listed yet',
    done: Promise.resolve(),
  }
  const listed = () => {
    entry.isListed = true
    entry.why = ''
    first.resolve()
  }
  const failed = (failure: Failure) => {
    entry.why = failure.message
    // What is kept of it is not followed any more.
    if (isFailure(failure, 'too-large')) entry.isListed = false
  }
  const feed = { ...source, store, listed, failed }
  const feedParts = async ({ tenants, own, changing }: Parts) => {
    if (await tenants.areAll()) return keepFed(feed, signal)
    const open = new Set<string>()
    entry.open = open
    const opened = (namespace: string) => changing(namespace, () => open.add(namespace))
    const closed = (namespace: string) => changing(namespace, () => open.delete(namespace))
    return keepPartsFed({ ...feed, own, opened, closed }, tenants, signal)
  }
  entry.done = parts ? feedParts(parts) : keepFed(feed, signal)
  return entry
}

/** Puts the answer of every write into the caches that would show the object. */
function remembering(kube: Kube, watched: Map<string, Watched>): Kube {
  const keep = <T extends KubeObject>(kind: Kind, written: T): T => {
    for (const { kind: shown, scope, store } of watched.values()) {
      if (!isSameKind(shown, kind) || !shows(scope, written)) continue
      store.remember(
        scope.metadataOnly ? { apiVersion: written.apiVersion, kind: written.kind, metadata: written.metadata } : written,
      )
    }
    return written
  }
  return {
    ...kube,
    create: async (kind, object, how) =>
      how?.dryRun ? kube.create(kind, object, how) : keep(kind, await kube.create(kind, object, how)),
    apply: async (kind, object, how) =>
      how.dryRun ? kube.apply(kind, object, how) : keep(kind, await kube.apply(kind, object, how)),
    patch: async (kind, ref, patch, how) =>
      how?.dryRun ? kube.patch(kind, ref, patch, how) : keep(kind, await kube.patch(kind, ref, patch, how)),
  }
}

/** Field selectors can't be judged here: such a cache waits for its watch. */
const shows = (scope: WatchScope, { metadata }: KubeObject): boolean =>
  !scope.fields && (!scope.namespace || scope.namespace === metadata.namespace) && selectorOf(scope.labels)(metadata.labels)
