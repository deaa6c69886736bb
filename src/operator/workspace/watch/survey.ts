import { type Kube, type ListQuery, type Memory, sayShare, weightOf } from '../../../adapters/kube/index.ts'
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
} from '../../../api/index.ts'
import { Failure, isFailure, minutes, seconds } from '../../../std/index.ts'
import type { ViewTools } from './view.ts'

/**
 * A survey lists the objects of the workspaces in one namespace of a target, once by kind, where many are compared at the same time:
 * after a start of the operator, or when their class changes. It is a help, not a memory: an object in it is used once and soon, and
 * one that is not in it is asked for by itself.
 */
export interface Survey {
  /**
   * Called for each workspace that is to be compared; true while a list is being made that is worth waiting for. All are woken when
   * it is made.
   */
  isAwaited(uid: string): boolean
  /** Gives the objects of the workspace of this UID, once. */
  take(uid: string): ListedObjects | undefined
  close(): void
}

/** One workspace's objects as they were listed. */
export interface ListedObjects {
  objects: ReadonlyMap<string, string>
  /** It is not used any more: until then the tenant's memory holds it. */
  forget(): void
}

interface Tools extends Pick<ViewTools, 'kube' | 'tenant' | 'memory' | 'clock' | 'log' | 'namespace'> {
  /** True where the workspace of this UID is in this target; a server can claim to have objects of any number of others. */
  leadsHere(uid: string): boolean | undefined
  /** How many Deployments of such workspaces are there. */
  count(): number
  /** The list is made, or cannot be. */
  done(): void
}

/** Fewer are compared one by one. The first question of all comes after a start of the operator. */
const MANY = 10
/** Later so many must ask within this time. */
const TOGETHER = seconds(10)
/** A list is used for so long. */
const KEPT = minutes(1)
/** Where it was refused, or there was too much, nobody tries again for so long. */
const REFUSED = minutes(5)
/** Characters that are read at most, in all, also of objects of which nothing is kept: a list would need no end. */
const MOST = 32_000_000
/** So much of what a tenant gets stays for its watches: without them nothing goes on, and without a survey there are more requests. */
const LEFT = 0.25

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

/** The objects of one workspace, and how much memory they take. */
interface Seen {
  objects: Map<string, string>
  bytes: number
}

export function createSurvey(tools: Tools): Survey {
  const { clock, done, memory, tenant } = tools
  const ending = new AbortController()
  const asking = new Set<string>()
  let since = Number.NEGATIVE_INFINITY
  let until = Number.NEGATIVE_INFINITY
  let isUnderWay = false
  let isFirst = true
  let seen = new Map<string, Seen>()
  let endTimer = (): void => undefined

  const clear = () => {
    endTimer()
    forgetAll(seen, tools)
  }
  const begin = async () => {
    isUnderWay = true
    const found = await listAll(tools, ending.signal)
    isUnderWay = false
    clear()
    seen = found ?? new Map()
    if (ending.signal.aborted) return clear()
    until = clock.now() + (found ? KEPT : REFUSED)
    // The next who asks may come in an hour, so nobody is waited for.
    endTimer = clock.after(KEPT, clear)
    done()
  }
  return {
    isAwaited(uid) {
      const now = clock.now()
      if (isUnderWay) return true
      if (now < until) return false
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
      const { objects, bytes } = seen.get(uid) ?? {}
      seen.delete(uid)
      return objects && { objects, forget: () => memory?.giveBack(tenant, bytes ?? 0) }
    },
    close() {
      ending.abort()
      clear()
    },
  }
}

function forgetAll(seen: Map<string, Seen>, { memory, tenant }: Tools): void {
  for (const { bytes } of seen.values()) memory?.giveBack(tenant, bytes)
  seen.clear()
}

/** By UID of the workspace; nothing where it is refused or exceeds a limit: a part would pass for the whole. */
async function listAll(tools: Tools, signal: AbortSignal): Promise<Map<string, Seen> | undefined> {
  const { kube, log, namespace, leadsHere } = tools
  const seen = new Map<string, Seen>()
  // Of a workspace that comes here meanwhile, only a part would be kept.
  const known = new Map<string, boolean>()
  const isHere = (uid: string): boolean => {
    const is = known.get(uid) ?? leadsHere(uid)
    if (is !== undefined) known.set(uid, is)
    return is === true
  }
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
          if (isHere(uid)) keep(seen, uid, { key: keyOf(kind, object.metadata.name), text }, tools)
        }
      }
    }
    return seen
  } catch (thrown) {
    forgetAll(seen, tools)
    const failure = Failure.from(thrown)
    if (!isFailure(failure, 'cancelled')) log.info('objects are compared one by one', { namespace, failure })
    return undefined
  }
}

function keep(seen: Map<string, Seen>, uid: string, { key, text }: { key: string; text: string }, { memory, tenant }: Tools) {
  const bytes = weightOf([key, text])
  if (memory) takeFrom(memory, tenant, bytes)
  const before = seen.get(uid)
  seen.set(uid, { objects: (before?.objects ?? new Map<string, string>()).set(key, text), bytes: (before?.bytes ?? 0) + bytes })
}

function takeFrom(memory: Memory, tenant: string, bytes: number): void {
  if (memory.has(tenant, bytes + LEFT * memory.each, true) && memory.take(tenant, bytes, true)) return
  const share = sayShare(memory)
  throw new Failure('too-large', `there is no room for it beside what is watched in the targets of one namespace (${share})`)
}

/** Without what nothing is compared with. A text takes a third of what the object takes. */
const textOf = ({ metadata, ...rest }: KubeObject): string =>
  JSON.stringify({ ...rest, status: undefined, metadata: { ...metadata, managedFields: undefined } })

const keyOf = ({ kind }: Kind, name: string): string => `${kind} ${name}`

export const isIn = (listed: ListedObjects, kind: Kind, { metadata }: KubeObject): boolean =>
  listed.objects.has(keyOf(kind, metadata.name))

/**
 * The target as it was seen for the workspace of this UID: its Deployments by their watch, the rest as listed. What was not seen is
 * asked of the target, which may hold it for somebody else; what is written goes there.
 */
export function throughList(
  kube: Kube,
  { uid, listed, deployments }: { uid: string; listed: ListedObjects; deployments: readonly Deployment[] },
): Kube {
  const own = `${labels.workspaceUid}=${uid}`
  const watched = new Map(deployments.map((each) => [keyOf(Deployments, each.metadata.name), JSON.stringify(each)]))
  const seen = new Map([...listed.objects, ...watched])
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
