import { type AccessSubject, type Caches, isAllowed, type Kube } from '../../adapters/kube/index.ts'
import { ClusterRoleBindings, ClusterRoles, type Kind, type KubeObject, RoleBindings, Roles } from '../../api/index.ts'
import { type Clock, createTurnstile, eachOf, LRUCache, minutes, seconds } from '../../std/index.ts'

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
/** Questions under way about one person: whoever asks for a thousand pages delays nobody else. */
const AT_ONCE = 16

/** Stands for all namespaces, and for kinds that lie in none. */
const EVERYWHERE = ''

interface PermissionServices {
  kube: Kube
  caches: Caches
  clock: Clock
  /** What is in force in all namespaces is watched, too; not by a program that sees one only. */
  isWide?: boolean
}

/** Hears of the namespaces in which permissions may be others now. */
type Listener = (isTouched: (namespace: string) => boolean) => void

/**
 * Tells what the cluster's own roles allow people. Answers are remembered with everything that they depend on in the key, until
 * a role or a binding changes, and a minute at most.
 */
export function createPermissions({ kube, caches, clock, isWide = true }: PermissionServices) {
  const decisions = new LRUCache<string, { answer: Promise<boolean>; askedAt: number; until: number }>({ max: MOST })
  /** When the decisions of a namespace were made void, of the last minute. */
  const forgotten = new Map<string, number>()
  /** Namespaces of which the API server may not know yet what has changed there, and since when. */
  const changed = new Map<string, number>()
  const listeners = new Set<Listener>()
  const underWay = createTurnstile({ each: AT_ONCE })
  let cancel: (() => void) | undefined

  /** Asks again for as long as the API server may be behind. */
  const forgetChanged = () => {
    cancel = undefined
    const now = clock.now()
    if (changed.has(EVERYWHERE)) decisions.clear()
    for (const namespace of changed.keys()) forgotten.set(namespace, now)
    // Decisions of before then are too old by now anyway.
    for (const [namespace, at] of forgotten) if (now - at > LASTS) forgotten.delete(namespace)
    const touched = new Set(changed.keys())
    const isTouched = (namespace: string) => touched.has(namespace) || touched.has(EVERYWHERE)
    for (const listener of listeners) listener(isTouched)
    for (const [namespace, at] of changed) if (clock.now() - at > BEHIND) changed.delete(namespace)
    if (changed.size > 0) cancel = clock.after(AGAIN, forgetChanged)
  }
  const kinds = [RoleBindings, Roles, ...(isWide ? [ClusterRoleBindings, ClusterRoles] : [])]
  const stops = kinds.map((kind) =>
    caches.of<KubeObject>(kind, { namesOnly: true }).onChange((now, before) => {
      if (changed.size === 0) cancel = clock.after(SOON, forgetChanged)
      changed.set((now ?? before)?.metadata.namespace ?? EVERYWHERE, clock.now())
    }),
  )
  const isYoung = (namespace: string): boolean =>
    [namespace, EVERYWHERE].some((each) => clock.now() - (changed.get(each) ?? Number.NEGATIVE_INFINITY) < BEHIND)

  const may = (person: AccessSubject, wanted: Wanted, onAsk?: () => void): Promise<boolean> => {
    // The name of nobody is nobody's: a server would decide about its caller.
    if (person.user.trim() === '') return Promise.resolve(false)
    const key = keyOfQuestion(person, wanted)
    const { namespace } = wanted
    const known = decisions.get(key)
    const now = clock.now()
    if (known && known.until > now && known.askedAt >= (forgotten.get(namespace) ?? 0)) return known.answer
    onAsk?.()
    const answer = underWay.pass(person.user, () => isAllowed(kube, loggedIn(person), rightOf(wanted)))
    const decision = { answer, askedAt: now, until: now + (isYoung(namespace) ? LASTS_THEN : LASTS) }
    decisions.set(key, decision)
    // A question that failed is not remembered.
    answer.catch(() => decisions.get(key) === decision && decisions.delete(key))
    return answer
  }
  return {
    /** `onAsk`: told when the answer is not remembered, and the API server is asked. */
    may,
    /** Finds those of the namespaces in which they may. */
    async where(
      person: AccessSubject,
      wanted: Pick<Wanted, 'verb' | 'kind'>,
      namespaces: readonly string[],
    ): Promise<Set<string>> {
      if (await may(person, { ...wanted, namespace: EVERYWHERE })) return new Set(namespaces)
      const found = new Set<string>()
      await eachOf(namespaces, AT_ONCE, async (namespace) => {
        if (await may(person, { ...wanted, namespace })) found.add(namespace)
      })
      return found
    },
    /** Calls the listener when somebody's permissions may be others now. */
    onChange(listener: Listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    stop() {
      cancel?.()
      for (const stop of stops) stop()
    },
  }
}

const keyOfQuestion = ({ user, groups, uid, extra }: AccessSubject, { verb, kind, namespace, name }: Wanted): string =>
  JSON.stringify([user, groups, uid, extra, verb, kind.group, kind.plural, namespace, name])

const loggedIn = ({ user, groups, uid, extra }: AccessSubject): AccessSubject => ({
  user,
  groups: [...groups, 'system:authenticated'],
  uid,
  extra,
})

const rightOf = ({ verb, kind, namespace, name }: Wanted) => ({
  verb,
  group: kind.group,
  resource: kind.plural,
  namespace,
  name,
})
