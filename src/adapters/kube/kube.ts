import type { Kind, KubeObject, Ref } from '../../api/index.ts'
import type { Refuse } from './errors.ts'
import type { KubeSocket } from './web-socket.ts'

export interface ListQuery {
  namespace?: string | undefined
  /** A label selector in the API's own syntax: `app=web,tier in (a,b)`. */
  labels?: string | undefined
  fields?: string | undefined
  /** Only metadata is fetched, and kept (PartialObjectMetadata); of a Secret, nothing that is secret. */
  metadataOnly?: boolean | undefined
  /** Of one answer, 16 MiB without it: where objects are larger, fewer of them come in a page. */
  mostBytes?: number | undefined
}

export interface ApplyHow {
  /** The field manager: one per controller. */
  manager: string
  /** Take fields over from other managers. Without it a taken field is a `conflict`. */
  force?: boolean
  dryRun?: boolean
  subresource?: 'status'
}

export interface PatchHow {
  subresource?: 'status'
  manager?: string
  dryRun?: boolean
}

export interface DeleteHow {
  /** Preconditions: the object is deleted only if it is still this one (`conflict` otherwise). */
  uid?: string | undefined
  resourceVersion?: string | undefined
  propagation?: 'Background' | 'Foreground' | 'Orphan'
  /** The server says what would come of it, and deletes nothing. */
  dryRun?: boolean
}

/** RFC 6902. */
export interface JsonPatchStep {
  op: 'add' | 'remove' | 'replace' | 'test'
  path: string
  value?: unknown
}

export interface ReadOptions {
  signal?: AbortSignal | undefined
  /** The Accept header; JSON without it. */
  accept?: string | undefined
  /** The subject of messages; the path without it. */
  about?: string | undefined
  /** Of a stream: one of very many, which share a connection where the server can. */
  shared?: boolean | undefined
}

export interface Identity {
  user: string
  groups?: string[]
  uid?: string
}

/**
 * One API server, as one identity. Each call is one request; errors are `Failure`s that name the object
 * (`not-found`, `already-exists`, `conflict`, `invalid`, `forbidden`, `expired`, `unavailable`, …).
 */
export interface Kube {
  /** The server's URL, for messages. */
  readonly server: string
  /** Makes a Failure of a refusal in the middle of an answer. */
  readonly refuse: Refuse
  /** `undefined` when there is no such object. */
  get<T extends KubeObject>(kind: Kind<T>, ref: Ref, signal?: AbortSignal): Promise<T | undefined>
  /** Objects page by page, for who needs not all of them at once; `expired` when the rest is not to be had any more. */
  pages<T extends KubeObject>(kind: Kind<T>, query?: ListQuery, signal?: AbortSignal): AsyncIterable<T[]>
  /** All objects, fetched in pages. */
  list<T extends KubeObject>(kind: Kind<T>, query?: ListQuery, signal?: AbortSignal): Promise<T[]>
  create<T extends KubeObject>(kind: Kind<T>, object: T, how?: { manager?: string; dryRun?: boolean }): Promise<T>
  /** Server-side apply: creates or brings the listed fields to these values. */
  apply<T extends KubeObject>(kind: Kind<T>, object: T, how: ApplyHow): Promise<T>
  /** JSON merge patch (an object) or JSON patch (an array). A `metadata.resourceVersion` in a merge patch is a precondition. */
  patch<T extends KubeObject>(kind: Kind<T>, ref: Ref, patch: object | JsonPatchStep[], how?: PatchHow): Promise<T>
  /** `terminating`: the server took note, and something (a finalizer, a grace period) keeps the object for now. */
  delete(kind: Kind, ref: Ref, how?: DeleteHow): Promise<'deleted' | 'terminating' | 'absent'>
  /** POST to a subresource or a review API: `post('/api/v1/namespaces/x/serviceaccounts/y/token', {...})`. */
  post<T>(path: string, body: unknown): Promise<T>
  /** GET of any path, parsed as JSON. */
  read<T>(path: string, options?: ReadOptions): Promise<T>
  /** The kind behind an apiVersion and kind, from discovery; `undefined` when the server does not serve it. */
  resolve(apiVersion: string, kind: string): Promise<Kind | undefined>
  /** A long answer line by line: watches, logs. */
  stream(path: string, options?: ReadOptions): Promise<AsyncIterable<string>>
  /** Messages both ways, in one of these protocols: commands in pods, connections to their ports. */
  socket(path: string, options: ReadOptions & { protocols: string[] }): Promise<KubeSocket>
  /** The same server as somebody else (impersonation). */
  as(identity: Identity): Kube
  /** Ends the connections; calls under way fail with `unavailable`. Shared by all identities of one connection. */
  close(): Promise<void>
}
