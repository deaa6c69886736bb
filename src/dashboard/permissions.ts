import { type Caches, isAllowed, type Kube } from '../adapters/kube/index.ts'
import { ClusterRoleBindings, ClusterRoles, type Kind, type KubeObject, RoleBindings, Roles } from '../api/index.ts'
import type { Person } from '../engines/access/index.ts'
import { type Clock, LRUCache, minutes, seconds } from '../std/index.ts'

/** Somebody wants to do this. */
interface Wanted {
  readonly verb: string
  readonly kind: Pick<Kind, 'group' | 'plural'>
  /** Empty: in all of them, or of a kind that lies in none. */
  readonly namespace: string
  /** One object; without it all of them. */
  readonly name?: string | undefined
}

export type Permissions = ReturnType<typeof createPermissions>

/** Roles change seldom, and a watch tells it. */
const LASTS = minutes(1)
/** The API server decides by watches of its own, which may be a moment behind this one. */
const BEHIND = seconds(5)
const LASTS_THEN = seconds(1)
/** Changes come in bunches. */
const SOON = 100
const AGAIN = seconds(1.2)
/** Decisions that are remembered. */
const MOST = 50_000
/** Questions under way for one page. */
const AT_ONCE = 16

const EVERYWHERE = ''

/**
 * Tells what the cluster's own roles allow people. Answers are remembered with everything that they depend on in the key, until
 * a role or a binding changes, and a minute at most.
 */
export function createPermissions({ kube, caches, clock }: { kube: Kube; caches: Caches; clock: Clock }) {
  const decisions = new LRUCache<string, { namespace: string; answer: Promise<boolean>; until: number }>({ max: MOST })
  /** Namespaces of which the API server may not know yet what has changed there, and since when. */
  const changed = new Map<string, number>()
  const listeners = new Set<() => void>()
  let cancel: (() => void) | undefined

  /** Asks again for as long as the API server may be behind. */
  const forgetChanged = () => {
    cancel = undefined
    if (changed.has(EVERYWHERE)) decisions.clear()
    else for (const [key, { namespace }] of [...decisions.entries()]) if (changed.has(namespace)) decisions.delete(key)
    for (const listener of listeners) listener()
    for (const [namespace, at] of changed) if (clock.now() - at > BEHIND) changed.delete(namespace)
    if (changed.size > 0) cancel = clock.after(AGAIN, forgetChanged)
  }
  const stops = [RoleBindings, Roles, ClusterRoleBindings, ClusterRoles].map((kind) =>
    caches.of<KubeObject>(kind, { metadataOnly: true }).onChange((now, before) => {
      if (changed.size === 0) cancel = clock.after(SOON, forgetChanged)
      changed.set((now ?? before)?.metadata.namespace ?? EVERYWHERE, clock.now())
    }),
  )
  const isYoung = (namespace: string): boolean =>
    [namespace, EVERYWHERE].some((each) => clock.now() - (changed.get(each) ?? Number.NEGATIVE_INFINITY) < BEHIND)

  const may = ({ user, groups }: Person, { verb, kind, namespace, name }: Wanted): Promise<boolean> => {
    // The name of nobody is nobody's: a server would decide about its caller.
    if (user.trim() === '') return Promise.resolve(false)
    const key = JSON.stringify([user, groups, verb, kind.group, kind.plural, namespace, name])
    const known = decisions.get(key)
    if (known && known.until > clock.now()) return known.answer
    const subject = { user, groups: [...groups, 'system:authenticated'] }
    const answer = isAllowed(kube, subject, { verb, group: kind.group, resource: kind.plural, namespace, name })
    const decision = { namespace, answer, until: clock.now() + (isYoung(namespace) ? LASTS_THEN : LASTS) }
    decisions.set(key, decision)
    // A question that failed is not remembered.
    answer.catch(() => decisions.get(key) === decision && decisions.delete(key))
    return answer
  }
  return {
    may,
    /** Finds those of the namespaces in which they may. */
    async where(person: Person, wanted: Pick<Wanted, 'verb' | 'kind'>, namespaces: readonly string[]): Promise<Set<string>> {
      if (await may(person, { ...wanted, namespace: EVERYWHERE })) return new Set(namespaces)
      const found = new Set<string>()
      const left = [...namespaces]
      const worker = async () => {
        for (let namespace = left.pop(); namespace !== undefined; namespace = left.pop())
          if (await may(person, { ...wanted, namespace })) found.add(namespace)
      }
      await Promise.all(Array.from({ length: AT_ONCE }, worker))
      return found
    },
    /** Calls the listener when somebody's permissions may be others now. */
    onChange(listener: () => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    stop() {
      cancel?.()
      for (const stop of stops) stop()
    },
  }
}
