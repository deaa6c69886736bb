import { isDeleting, type KubeObject, type RoleBinding, RoleBindings, Roles, Secrets, type Subject } from '../../api/index.ts'
import { aborted, type Clock, type Failure, isFailure, type Log, pause, waitOf } from '../../std/index.ts'
import { subjectOf, whoNeedsEntry } from './access-review.ts'
import type { Kube } from './kube.ts'
import { Store, type StoreLimits } from './store.ts'
import { BACKOFF, type Feed, keepFed } from './watch.ts'

export type Tenants = ReturnType<typeof createTenants>

interface TenantsOptions {
  kube: Kube
  clock: Clock
  log: Log
  /** Limit to one namespace. */
  scope: string | undefined
  /** The ClusterRole to which an admin of a namespace binds the program there; the RoleBinding has its name. */
  role: string
  /** For the role bindings that are kept. */
  limits: Omit<StoreLimits<RoleBinding>, 'trim'>
}

/**
 * The namespaces whose Secrets a program may read. It is asked once whether it may read them everywhere; where it may not, role bindings
 * say in which namespaces it may.
 */
export function createTenants({ kube, clock, log, scope, role, limits }: TenantsOptions, signal: AbortSignal) {
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
    /** Says whether it may read them in all namespaces, once the API server has said so. */
    areAll(): Promise<boolean> {
      begun ??= begin()
      return begun
    },
    /** Tells of each namespace that lets the program in, now or later, and of each that does so no more. Not for one that may read them all. */
    visit(enter: (namespace: string) => void, leave: (namespace: string) => void): void {
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

interface PartedFeed<T extends KubeObject> extends Feed<T> {
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
  tenants.visit(enter, leave)
  for (const namespace of parts.keys()) awaited.add(namespace)
  if (awaited.size === 0) feed.listed()
  await aborted(signal)
  await Promise.all(running)
}
