import { isDeleting, type KubeObject, type RoleBinding, RoleBindings, Roles, Secrets, type Subject } from '../../api/index.ts'
import { aborted, type Clock, type Failure, isFailure, type Log, pause, waitOf } from '../../std/index.ts'
import { subjectOf, whoNeedsEntry } from './access-review.ts'
import type { Kube } from './kube.ts'
import { Store, type StoreLimits } from './store.ts'
import { BACKOFF, type Feed, keepFed } from './watch.ts'

/** Hears of each namespace that lets the program in, and of each that does so no more. */
export interface Visitor {
  enter(namespace: string): void
  leave(namespace: string): void
}

/** The namespaces whose Secrets a program may read. */
export interface Tenants {
  /** Whether it may read them in all namespaces, once the API server has said so. */
  areAll(): Promise<boolean>
  /** Tells of those that are there, and of changes. For who knows that it may not read them all. */
  visit(visitor: Visitor): void
}

export interface TenantsWiring {
  kube: Kube
  clock: Clock
  log: Log
  /** Limit to one namespace. */
  scope: string | undefined
  /** The ClusterRole to which an admin of a namespace binds the program there; the RoleBinding has its name. */
  role: string
  /** For what is kept of the role bindings. */
  limits: Omit<StoreLimits<RoleBinding>, 'trim'>
}

/** Asks once whether the program may read Secrets everywhere; where it may not, role bindings say in which namespaces it may. */
export function createTenants({ kube, clock, log, scope, role, limits }: TenantsWiring, signal: AbortSignal): Tenants {
  const bindings = new Store<RoleBinding>(limits)
  let user: string | undefined
  const begin = async (): Promise<boolean> => {
    const { group, plural: resource } = Secrets
    user = await untilAnswered(() => whoNeedsEntry(kube, { group, resource, verb: 'list' }), clock, signal)
    if (user === undefined) return true
    const listed = Promise.withResolvers<void>()
    const within = { namespace: scope, fields: `metadata.name=${role}` }
    const failed = (failure: Failure) => log.info('role bindings cannot be read', { role, failure })
    void keepFed({ kube, kind: RoleBindings, scope: within, store: bindings, clock, log, listed: listed.resolve, failed }, signal)
    await Promise.race([listed.promise, aborted(signal)])
    return false
  }
  const isOurs = (binding: RoleBinding | undefined) =>
    binding !== undefined && user !== undefined && binds(binding, role, subjectOf(user))
  let begun: Promise<boolean> | undefined
  return {
    areAll() {
      begun ??= begin()
      return begun
    },
    visit({ enter, leave }) {
      const stop = bindings.onChange((now, before) => {
        const { namespace = '' } = (now ?? before)?.metadata ?? {}
        if (isOurs(now) !== isOurs(before)) (isOurs(now) ? enter : leave)(namespace)
      })
      signal.addEventListener('abort', stop, { once: true })
      for (const binding of bindings.all()) if (isOurs(binding)) enter(binding.metadata.namespace ?? '')
    },
  }
}

function binds({ roleRef, subjects = [], ...binding }: RoleBinding, role: string, we: Subject): boolean {
  const isBound = subjects.some(({ kind, name, namespace }) => kind === we.kind && name === we.name && namespace === we.namespace)
  return (
    roleRef.kind === 'ClusterRole' && roleRef.apiGroup === Roles.group && roleRef.name === role && isBound && !isDeleting(binding)
  )
}

/** An API server that does not answer yet is waited for, as watches do. `undefined` after the signal aborted. */
async function untilAnswered<T>(ask: () => Promise<T>, clock: Clock, signal: AbortSignal): Promise<T | undefined> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      return await ask()
    } catch {
      // Why it does not answer is told by all the watches that wait for it, too.
      await pause(clock, waitOf(BACKOFF, attempt), signal)
    }
  }
  return undefined
}

export interface PartedFeed<T extends KubeObject> extends Feed<T> {
  store: Store<T>
  /** Namespaces that the program reads in any case. */
  own: readonly string[]
  /** A namespace has its first list. */
  opened(namespace: string): void
  closed(namespace: string): void
}

/**
 * `keepFed` for a program that reads in some namespaces only: a watch for each that lets it in. One that does not, whatever its role binding
 * says, keeps nobody waiting.
 */
export async function keepPartsFed<T extends KubeObject>(
  feed: PartedFeed<T>,
  tenants: Tenants,
  signal: AbortSignal,
): Promise<void> {
  const parts = new Map<string, AbortController>()
  const running = new Set<Promise<void>>()
  const awaited = new Set<string>()
  const arrive = (namespace: string) => {
    if (awaited.delete(namespace) && awaited.size === 0) feed.listed()
  }
  const enter = (namespace: string) => {
    const end = new AbortController()
    const store = feed.store.part(namespace, end.signal)
    parts.set(namespace, end)
    const listed = () => {
      if (end.signal.aborted) return
      feed.opened(namespace)
      arrive(namespace)
    }
    const failed = (failure: Failure) => {
      feed.failed(failure)
      if (!isFailure(failure, 'forbidden')) return
      feed.closed(namespace)
      arrive(namespace)
    }
    const watched = { ...feed, scope: { ...feed.scope, namespace }, store, shared: true, listed, failed }
    const run = keepFed(watched, AbortSignal.any([signal, end.signal])).finally(() => running.delete(run))
    running.add(run)
  }
  const leave = (namespace: string) => {
    parts.get(namespace)?.abort()
    parts.delete(namespace)
    feed.closed(namespace)
    arrive(namespace)
  }
  for (const namespace of feed.own) enter(namespace)
  tenants.visit({ enter, leave })
  for (const namespace of parts.keys()) awaited.add(namespace)
  if (awaited.size === 0) feed.listed()
  await aborted(signal)
  await Promise.all(running)
}
