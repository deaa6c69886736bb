import type { Kube, ListQuery } from '../../adapters/kube/index.ts'
import {
  annotations,
  ConfigMaps,
  type Deployment,
  Deployments,
  type Kind,
  type KubeObject,
  labels,
  NetworkPolicies,
  PersistentVolumeClaims,
  type Ref,
  ResourceQuotas,
  Secrets,
  ServiceAccounts,
  Services,
} from '../../api/index.ts'
import { type Clock, Failure, isFailure, type Log, minutes, seconds } from '../../std/index.ts'

/**
 * What there is of the workspaces of one namespace of a target, listed once by kind where many are compared at the same time: after
 * a start of the operator, or when their class changes. It is a help, not a memory: what is in it is used once and soon, and what is
 * not in it is asked for one by one.
 */
export interface Survey {
  /** Whoever is to be compared says so; true while a list is being made that is worth waiting for. All are woken when it is. */
  isAwaited(uid: string): boolean
  /** What was seen of the workspace of this UID, which is then forgotten. */
  take(uid: string): Sighting | undefined
  close(): void
}

/** One workspace's objects as they were listed. */
export type Sighting = ReadonlyMap<string, string>

interface Tools {
  kube: Kube
  clock: Clock
  log: Log
  namespace: string
  /** How many Deployments are there. */
  count(): number
  /** The list is made, or cannot be. */
  done(): void
}

/** Fewer are compared one by one. Whoever asks first is the first of all: then the operator has begun. */
const MANY = 10
/** Later so many must ask within this time. */
const TOGETHER = seconds(10)
/** What was listed is used for so long. */
const KEPT = minutes(1)
/** Where it was refused, or there was too much, nobody tries again for so long. */
const REFUSED = minutes(5)
/** Characters that are kept at most, in all: a few tens of MB. */
const MOST = 32_000_000

/** Deployments are watched, and Secrets stay where they are: of them only the metadata comes. */
const KINDS: readonly Kind[] = [
  ServiceAccounts,
  PersistentVolumeClaims,
  NetworkPolicies,
  ConfigMaps,
  Services,
  ResourceQuotas,
  Secrets,
]

export function createSurvey(tools: Tools): Survey {
  const { clock, done } = tools
  const ending = new AbortController()
  const asking = new Set<string>()
  let since = Number.NEGATIVE_INFINITY
  let until = Number.NEGATIVE_INFINITY
  let isUnderWay = false
  let isFirst = true
  let seen = new Map<string, Map<string, string>>()

  const begin = async () => {
    isUnderWay = true
    const found = await listed(tools, ending.signal)
    isUnderWay = false
    seen = found ?? new Map()
    until = clock.now() + (found ? KEPT : REFUSED)
    if (!ending.signal.aborted) done()
  }
  return {
    isAwaited(uid) {
      const now = clock.now()
      if (isUnderWay) return true
      if (now < until) return false
      seen.clear()
      if (now - since > TOGETHER) {
        asking.clear()
        since = now
      }
      asking.add(uid)
      const together = isFirst ? tools.count() : asking.size
      isFirst = false
      if (together < MANY) return false
      asking.clear()
      void begin()
      return true
    },
    take(uid) {
      const sighting = clock.now() < until ? seen.get(uid) : undefined
      seen.delete(uid)
      return sighting
    },
    close: () => ending.abort(),
  }
}

/** By UID of the workspace; nothing where it is refused or exceeds the limit: a part would pass for the whole. */
async function listed(
  { kube, log, namespace }: Tools,
  signal: AbortSignal,
): Promise<Map<string, Map<string, string>> | undefined> {
  const seen = new Map<string, Map<string, string>>()
  let size = 0
  try {
    for (const kind of KINDS) {
      const query: ListQuery = { namespace, labels: labels.workspaceUid, metadataOnly: kind === Secrets }
      for await (const page of kube.pages(kind, query, signal)) {
        for (const object of page) {
          const uid = object.metadata.labels?.[labels.workspaceUid] ?? ''
          const text = textOf(object)
          size += text.length
          if (size > MOST) throw new Failure('too-large', `there is more than ${MOST} characters of it`)
          seen.set(uid, (seen.get(uid) ?? new Map<string, string>()).set(keyOf(kind, object.metadata.name), text))
        }
      }
    }
    return seen
  } catch (thrown) {
    const failure = Failure.from(thrown)
    if (!isFailure(failure, 'cancelled')) log.info('objects are compared one by one', { namespace, failure })
    return undefined
  }
}

/** Without what nothing is compared with. A text takes a third of what the object takes. */
const textOf = ({ metadata, ...rest }: KubeObject): string =>
  JSON.stringify({ ...rest, status: undefined, metadata: { ...metadata, managedFields: undefined } })

const keyOf = ({ kind }: Kind, name: string): string => `${kind} ${name}`

export const isIn = (sighting: Sighting, kind: Kind, { metadata }: KubeObject): boolean =>
  sighting.has(keyOf(kind, metadata.name))

/**
 * The target as it was seen for the workspace of this UID: its Deployments by their watch, the rest as listed. What was not seen is
 * asked of the target, which may hold it for somebody else; what is written goes there.
 */
export function throughSighting(
  kube: Kube,
  { uid, sighting, deployments }: { uid: string; sighting: Sighting; deployments: readonly Deployment[] },
): Kube {
  const own = `${labels.workspaceUid}=${uid}`
  const watched = new Map(deployments.map((each) => [keyOf(Deployments, each.metadata.name), JSON.stringify(each)]))
  const seen = new Map([...sighting, ...watched])
  return {
    ...kube,
    async get<T extends KubeObject>(kind: Kind<T>, ref: Ref, signal?: AbortSignal) {
      const text = seen.get(keyOf(kind, ref.name))
      const object: T | undefined = text === undefined ? undefined : JSON.parse(text)
      // Of a Secret only the metadata is here: enough for the record of the frozen variables, which is there.
      const isWhole = kind.kind !== Secrets.kind || object?.metadata.annotations?.[annotations.variables] !== undefined
      return object && isWhole ? object : kube.get(kind, ref, signal)
    },
    async list<T extends KubeObject>(kind: Kind<T>, query: ListQuery = {}, signal?: AbortSignal) {
      const isSeen = query.metadataOnly === true && query.labels === own && LISTED.includes(kind.kind)
      if (!isSeen) return kube.list(kind, query, signal)
      return [...seen].flatMap(([key, text]): T[] => (key.startsWith(`${kind.kind} `) ? [JSON.parse(text)] : []))
    },
  }
}

const LISTED = [...KINDS, Deployments].map(({ kind }) => kind)
