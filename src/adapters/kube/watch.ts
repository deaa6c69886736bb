import { apiVersionOf, type Kind, type KubeObject } from '../../api/index.ts'
import { type Clock, Failure, isFailure, type Log, minutes, pause, seconds, waitOf } from '../../std/index.ts'
import type { ApiStatus } from './errors.ts'
import type { Kube, ListQuery } from './kube.ts'
import { type ListPage, pagesOf } from './page-limit.ts'
import { listPath } from './paths.ts'

export type WatchScope = Omit<ListQuery, 'mostBytes'>

/** A watch feeds it: a Store, or something that keeps less of each object than a Store does. */
export interface Sink<T extends KubeObject> {
  put(object: T): void
  remove(object: T): void
  /** A list begins. */
  list(): Listing<T>
  /** Nothing changed up to that version. */
  saw(version: string): void
  /** Says whether a list would bring objects that had no room before. */
  isDue?(): boolean
}

/** Takes the pages of a list. A list that does not end, because a page could not be had, counts for nothing. */
export interface Listing<T extends KubeObject> {
  page(objects: readonly T[]): void
  /** That was all, as of that version. */
  end(version: string): void
  /** It comes to no end. */
  drop?(): void
}

export interface Feed<T extends KubeObject> {
  kube: Kube
  kind: Kind<T>
  scope: WatchScope
  store: Sink<T>
  /** Takes from an object what is not kept; managedFields and kubectl's copy without it. It must keep the metadata. */
  keep?: ((object: T) => T) | undefined
  /** The resourceVersion of which the store holds everything: without it a list comes first. */
  from?: string | undefined
  /** One of very many: it shares a connection with the others where the server can. */
  shared?: boolean | undefined
  clock: Clock
  log: Log
  /** Silence after which a watch counts as dead, milliseconds; STALL without it. */
  stall?: number | undefined
  /** Called after each complete list. */
  listed: () => void
  /** Called when a list or watch failed, before the wait. */
  failed: (failure: Failure) => void
}

interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  /** Events of a stranger's server may lack it. */
  object?: T & ApiStatus & { code?: number }
}

/** `kubectl apply` writes the whole object once more here. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
/** Objects in a page of a list: small pages leave little garbage, and V8 keeps a heap that was large once. */
const PAGE = 100
/** A watch that ends sooner than this is not opened again at once, milliseconds. */
const BRIEF = seconds(1)
/** Failed attempts to resume in a row before everything is listed again. */
const RESUMES = 6
/** Between questions to a server that does not answer. */
export const BACKOFF = { base: 200, max: seconds(15), jitter: 0.5 }
/** The longest wait that a server gets by asking for one. */
const LONGEST_WAIT = minutes(1)
/** The API server sends a bookmark each minute; a watch that is silent for longer than two is dead without knowing it. */
const STALL = minutes(2.5)

/**
 * Keeps a store equal to the API until the signal aborts: list in pages, watch from there, resume from the last
 * resourceVersion, list again on 410. It never ends by itself.
 */
export async function keepFed<T extends KubeObject>(feed: Feed<T>, signal: AbortSignal): Promise<void> {
  let version = feed.from
  let attempt = 0
  while (!signal.aborted) {
    try {
      if (version === undefined) {
        version = await list(feed, signal)
        feed.listed()
      }
      const opened = feed.clock.now()
      await watch(feed, version, signal, (newer) => {
        version = newer
        attempt = 0
      })
      // A proxy that ends every watch at once must not be asked without a pause.
      if (feed.clock.now() - opened < BRIEF) await pause(feed.clock, BRIEF, signal)
    } catch (thrown) {
      const failure = Failure.from(thrown)
      if (signal.aborted) return
      // Also after several failures of any kind: a server that lost its data knows nothing of our version.
      if (isFailure(failure, 'expired', 'too-large') || attempt >= RESUMES) version = undefined
      feed.failed(failure)
      feed.log.debug('watch interrupted', { kind: feed.kind.kind, failure })
      await pause(feed.clock, waitAfter(failure, attempt++), signal)
    }
  }
}

/** A busy server may ask for a wait, within reason: a target's server is a stranger's, and may ask for a year. */
const waitAfter = ({ retryAfter = 0 }: Failure, attempt: number): number =>
  Math.max(waitOf(BACKOFF, attempt), Math.min(retryAfter, LONGEST_WAIT))

async function list<T extends KubeObject>(feed: Feed<T>, signal: AbortSignal): Promise<string> {
  const { kube, kind, scope, store } = feed
  const listing = store.list()
  let version = ''
  const how = { about: `list of ${kind.plural}`, accept: accept(scope, 'List'), signal }
  const pages = pagesOf(kind.plural, PAGE, (part) => kube.read<ListPage<T>>(listPath(kind, scope, part), how))
  try {
    for await (const { items, metadata } of pages) {
      listing.page((items ?? []).map((item) => kept(feed, item)))
      version = metadata.resourceVersion
    }
  } catch (thrown) {
    listing.drop?.()
    throw thrown
  }
  listing.end(version)
  return version
}

async function watch<T extends KubeObject>(
  feed: Feed<T>,
  from: string,
  signal: AbortSignal,
  advance: (version: string) => void,
): Promise<void> {
  const { kube, kind, scope, clock, stall = STALL } = feed
  const stalled = new AbortController()
  let calm = clock.after(stall, () => stalled.abort())
  try {
    const path = listPath(kind, scope, {
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: from,
      timeoutSeconds: 240 + Math.floor(Math.random() * 240),
    })
    const either = AbortSignal.any([signal, stalled.signal])
    const about = `watch of ${kind.plural}`
    const lines = await kube.stream(path, { about, accept: accept(scope, ''), signal: either, shared: feed.shared })
    for await (const line of lines) {
      calm()
      calm = clock.after(stall, () => stalled.abort())
      if (line) advance(take(feed, line))
    }
  } catch (thrown) {
    if (stalled.signal.aborted && !signal.aborted)
      throw new Failure('unavailable', `the watch of ${kind.plural} was silent for ${stall / 1000} s`)
    throw thrown
  } finally {
    calm()
  }
}

/** One watch event into the store; the answer is the version to resume from. */
function take<T extends KubeObject>(feed: Feed<T>, line: string): string {
  const { kube, kind, store } = feed
  const { type, object }: WatchEvent<T> = parseEvent(line)
  if (type === 'ERROR') throw kube.refuse(object?.code ?? 500, object ?? {}, `watch of ${kind.plural}`)
  const version = object?.metadata?.resourceVersion
  // To resume from no version means to start anew at some time, and to miss what was deleted until then.
  if (!version) throw new Failure('unavailable', `the watch of ${kind.plural} sent an event without a resourceVersion`)
  if (type === 'DELETED') store.remove(kept(feed, object))
  else if (type === 'BOOKMARK') {
    store.saw(version)
    // Once a minute, and not with every change: a list costs as much as there is.
    if (store.isDue?.()) throw new Failure('expired', `there is room again for ${kind.plural} that had none`)
  } else store.put(kept(feed, object))
  return version
}

function parseEvent<T>(line: string): WatchEvent<T> {
  try {
    return JSON.parse(line) ?? {}
  } catch (cause) {
    throw new Failure('unavailable', 'the watch was cut in the middle of an event', { cause })
  }
}

const accept = ({ metadataOnly }: WatchScope, suffix: 'List' | ''): string | undefined =>
  metadataOnly ? `application/json;as=PartialObjectMetadata${suffix};g=meta.k8s.io;v=v1,application/json` : undefined

/** The API leaves out in lists what the list says already. */
function kept<T extends KubeObject>({ kind, keep = slim }: Feed<T>, object: T): T {
  object.apiVersion = apiVersionOf(kind)
  object.kind = kind.kind
  return keep(object)
}

/** Tools write for themselves half of an object's size or more, and nobody here reads it. */
function slim<T extends KubeObject>(object: T): T {
  object.metadata = without(object.metadata, 'managedFields')
  const { annotations } = object.metadata
  if (annotations && LAST_APPLIED in annotations) object.metadata.annotations = without(annotations, LAST_APPLIED)
  return object
}

/** Made anew: with `delete`, V8 keeps the rest as a dictionary. */
const without = <T extends object>(record: T, key: string): T =>
  Object.fromEntries(Object.entries(record).filter(([name]) => name !== key)) as T // as: our types do not know such a key
