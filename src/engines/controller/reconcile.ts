import type { Caches, EventRecorder, Kube } from '../../adapters/kube/index.ts'
import type { Kind, KubeObject, Ref, Statement } from '../../api/index.ts'
import type { Clock, Failure, Log } from '../../std/index.ts'
import type { Wakeups } from './wakeups.ts'

/** What every controller of a program is built from. */
export interface ControllerContext {
  /** Writes through here show in the caches at once. */
  kube: Kube
  caches: Caches
  events: EventRecorder
  clock: Clock
  log: Log
}

/**
 * The status as the reconcile wants it: the complete one, except that `conditions` are statements without times and
 * conditions of types that are not stated stay. The loop compares and writes only what differs, once, at the end.
 */
export type StatusDraft = { conditions?: Statement[] } & Record<string, unknown>

export type Next =
  | { word: 'settled'; recheck: number | undefined; status: StatusDraft | undefined; object: KubeObject | undefined }
  | { word: 'again'; after: number; why: string; status: StatusDraft | undefined; object: KubeObject | undefined }

interface Said {
  status?: StatusDraft | undefined
  /** The object as the reconcile's own last write left it, when it wrote to it. The status is written on top of that version. */
  object?: KubeObject | undefined
}

/** Everything is as it should be, or waits for an event that a watch will bring. `recheck`: look again after so many milliseconds anyway. */
export const settled = ({ recheck, status, object }: Said & { recheck?: number | undefined } = {}): Next => ({
  word: 'settled',
  recheck,
  status,
  object,
})

/** Not done, and no event will say when: come back after so many milliseconds. Waiting is not a failure. */
export const again = ({ after, why, status, object }: Said & { after: number; why: string }): Next => ({
  word: 'again',
  after,
  why,
  status,
  object,
})

/** Brings one object closer to what it should be. It gets the object, never the event that woke it. */
export type Reconcile<T extends KubeObject> = (object: T, signal: AbortSignal) => Promise<Next>

/** Another kind whose changes concern objects of this controller. */
export interface Watch<T extends KubeObject = KubeObject> {
  kind: Kind<T>
  namespace?: string
  labels?: string
  fields?: string
  metadataOnly?: boolean
  /** All namespaces, also where the program is limited to one. */
  everywhere?: boolean
  /** Which objects of the controller's own kind a change concerns. Called with the object before and after the change. */
  wakes(object: T): Ref[]
}

/** Written with methods, so that a controller of any kind is a `Controller`. */
export interface Controller<T extends KubeObject = KubeObject> {
  /** kebab-case; also the field manager, the metric label and the reporter of Events. */
  name: string
  kind: Kind<T>
  /** Limits which objects of the kind it sees. */
  labels?: string
  watches?: Watch[]
  /** Reconciles that run at once; one object is never reconciled twice at the same time. */
  concurrency?: number
  /** How long one reconcile may take, milliseconds; two minutes without it. */
  limit?: number
  reconcile(object: T, signal: AbortSignal): Promise<Next>
  /** Another source of wake-ups than the API. */
  wakeups?: Wakeups
  /** The object is gone from the API. Rarely needed: what must be undone hangs on a finalizer. */
  gone?: (ref: Ref, signal: AbortSignal) => Promise<Next>
  /** What the status says after a failure. Without it only the log and an Event do. */
  failed?(object: T, failure: Failure): StatusDraft | undefined
}
