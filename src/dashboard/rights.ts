import { type Cache, type Caches, isAllowed, type Kube } from '../adapters/kube/index.ts'
import { ClusterRoleBindings, ClusterRoles, type Kind, type KubeObject, RoleBindings, Roles } from '../api/index.ts'
import type { Person } from '../engines/access/index.ts'
import { type Clock, minutes, seconds } from '../std/index.ts'

/** What somebody wants to do. */
export interface Wish {
  readonly verb: string
  readonly kind: Pick<Kind, 'group' | 'plural'>
  /** Empty: in all of them, or of a kind that lies in none. */
  readonly namespace: string
  /** Of one object; without it of all. */
  readonly name?: string | undefined
}

/** What the cluster's own roles allow people. */
export interface Rights {
  may(person: Person, wish: Wish): Promise<boolean>
  /** Those of the namespaces in which they may. */
  where(person: Person, wish: Pick<Wish, 'verb' | 'kind'>, namespaces: readonly string[]): Promise<ReadonlySet<string>>
  /** Told when somebody's rights may be others now. */
  onChange(listener: () => void): () => void
  stop(): void
}

interface Decision {
  readonly answer: Promise<boolean>
  readonly until: number
}

/** Roles change seldom, and whoever watches them hears of it. */
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

/** Remembered with everything that they depend on in the key, until a role or a binding changes, and a minute at most. */
export function createRights({ kube, caches, clock }: { kube: Kube; caches: Caches; clock: Clock }): Rights {
  /** By namespace, then by person and wish. */
  const decisions = new Map<string, Map<string, Decision>>()
  const changed = new Map<string, number>()
  const listeners = new Set<() => void>()
  let size = 0

  const forget = (namespaces: Iterable<string>) => {
    for (const namespace of namespaces) {
      size -= decisions.get(namespace)?.size ?? 0
      decisions.delete(namespace)
      if (namespace !== EVERYWHERE) continue
      decisions.clear()
      size = 0
    }
    for (const listener of listeners) listener()
  }
  /** Nothing is otherwise than it was: nobody is told, who would only ask for all of it again. */
  const makeRoom = () => {
    for (const [namespace, { size: theirs }] of decisions) {
      if (size < MOST) return
      size -= theirs
      decisions.delete(namespace)
    }
  }
  const next: { stop: () => void } = { stop: () => undefined }
  /** Asks again for as long as the API server may be behind. */
  const tick = () => {
    next.stop = () => undefined
    forget(changed.keys())
    for (const [namespace, at] of changed) if (clock.now() - at > BEHIND) changed.delete(namespace)
    if (changed.size > 0) next.stop = clock.after(AGAIN, tick)
  }
  const heard = (namespace: string) => {
    if (changed.size === 0) next.stop = clock.after(SOON, tick)
    changed.set(namespace, clock.now())
  }
  const stops = [RoleBindings, Roles, ClusterRoleBindings, ClusterRoles].map((kind) =>
    listen(caches.of<KubeObject>(kind, { metadataOnly: true }), heard),
  )

  const isYoung = (namespace: string): boolean =>
    [namespace, EVERYWHERE].some((each) => clock.now() - (changed.get(each) ?? Number.NEGATIVE_INFINITY) < BEHIND)

  const may = (person: Person, wish: Wish): Promise<boolean> => {
    // The name of nobody is nobody's: a server would decide about its caller.
    if (person.user.trim() === '') return Promise.resolve(false)
    const { verb, kind, namespace, name = '' } = wish
    const key = JSON.stringify([person.user, person.groups, verb, kind.group, kind.plural, name])
    const known = decisions.get(namespace)?.get(key)
    if (known && known.until > clock.now()) return known.answer
    makeRoom()
    const answer = review(kube, person, wish)
    const those = decisions.get(namespace) ?? new Map<string, Decision>()
    decisions.set(namespace, those)
    if (!those.has(key)) size++
    const decision = { answer, until: clock.now() + (isYoung(namespace) ? LASTS_THEN : LASTS) }
    those.set(key, decision)
    // What could not be asked is no answer that is remembered.
    answer.catch(() => {
      if (those.get(key) === decision && those.delete(key) && decisions.get(namespace) === those) size--
    })
    return answer
  }

  return {
    may,
    where: (person, wish, namespaces) => whereOf(may, person, wish, namespaces),
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    stop() {
      next.stop()
      for (const stop of stops) stop()
    },
  }
}

const EVERYWHERE = ''

async function whereOf(may: Rights['may'], person: Person, wish: Pick<Wish, 'verb' | 'kind'>, namespaces: readonly string[]) {
  if (await may(person, { ...wish, namespace: EVERYWHERE })) return new Set(namespaces)
  const found = new Set<string>()
  const left = [...namespaces]
  const worker = async () => {
    for (let namespace = left.pop(); namespace !== undefined; namespace = left.pop())
      if (await may(person, { ...wish, namespace })) found.add(namespace)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return found
}

const listen = (cache: Cache<KubeObject>, heard: (namespace: string) => void): (() => void) =>
  cache.onChange((now, before) => heard((now ?? before)?.metadata.namespace ?? EVERYWHERE))

const review = (kube: Kube, { user, groups }: Person, { verb, kind, namespace, name }: Wish): Promise<boolean> =>
  isAllowed(
    kube,
    { user, groups: [...groups, 'system:authenticated'] },
    { verb, group: kind.group, resource: kind.plural, namespace, name },
  )
