import { KubeConfig } from '@kubernetes/client-node'
import { type Kind, type KubeObject, keyOf, type Ref, typeMetaOf } from '../../api/index.ts'
import { Failure, isFailure, isRecord, systemClock } from '../../std/index.ts'
import { type ConnectionOptions, type KubeConnection, loadKubeConfig, openConnection } from './connection.ts'
import { createDiscovery, type Discovery } from './discovery.ts'
import { KIND_NOT_SERVED } from './errors.ts'
import type { ApplyHow, DeleteHow, Identity, JsonPatchStep, Kube, ListQuery, PatchHow } from './kube.ts'
import { weightOf } from './memory.ts'
import { type FetchPage, type ListPage, orBegunAnew, pagesOf } from './page-limit.ts'
import { asHeader, collectionPath, listPath, objectPath, queryString } from './paths.ts'

const PAGE = 500
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'

/** A program's own way to the API server. */
export function connect(
  from: { kubeconfig?: string | undefined; context?: string | undefined } & Partial<ConnectionOptions> = {},
): Kube {
  const { kubeconfig, context, clock = systemClock, ...options } = from
  return createKube(openConnection(loadKubeConfig({ file: kubeconfig, context }), { clock, ...options }))
}

export interface ServerOptions extends ConnectionOptions {
  /** URL of the API, which may have a path. */
  server: string
  /** PEM of the authorities to trust instead of the system's. */
  ca?: Uint8Array | undefined
}

/** Any API server, as whoever the token says. */
export function connectTo({ server, ca, ...options }: ServerOptions): Kube {
  const config = new KubeConfig()
  const caData = ca && Buffer.from(ca).toString('base64')
  config.loadFromClusterAndUser({ name: 'server', server, skipTLSVerify: false, ...(caData && { caData }) }, { name: 'user' })
  return createKube(openConnection(config, options))
}

export function createKube(
  connection: KubeConnection,
  identity?: Identity,
  discovery: Discovery = createDiscovery(connection),
): Kube {
  const headers = identity ? impersonation(identity) : {}
  const call = caller(connection, discovery, headers)
  const pageOf = <T extends KubeObject>(kind: Kind<T>, query: ListQuery, signal?: AbortSignal): FetchPage<T> => {
    const accept = query.metadataOnly ? METADATA_LIST : undefined
    return async (part) => call('GET', listPath(kind, query, part), kind.plural, { signal, accept, mostBytes: query.mostBytes })
  }

  return {
    server: connection.server,
    refuse: connection.refuse,

    get: <T extends KubeObject>(kind: Kind<T>, ref: Ref, signal?: AbortSignal) =>
      absentIsUndefined(async () => call<T>('GET', objectPath(kind, ref), title(kind, ref), { signal })),

    pages: <T extends KubeObject>(kind: Kind<T>, query: ListQuery = {}, signal?: AbortSignal) =>
      objectsOf(kind, pageOf(kind, query, signal)),
    list: <T extends KubeObject>(kind: Kind<T>, query: ListQuery = {}, signal?: AbortSignal) =>
      (connection.isStrange ? wholeOf : allOf)(kind, pageOf(kind, query, signal)),

    create: async <T extends KubeObject>(kind: Kind<T>, object: T, how: { manager?: string; dryRun?: boolean } = {}) => {
      const query = queryString({ fieldManager: how.manager, dryRun: how.dryRun ? 'All' : undefined, fieldValidation: 'Strict' })
      return call<T>('POST', collectionPath(kind, object.metadata.namespace) + query, title(kind, object.metadata), {
        body: object,
      })
    },

    apply: async <T extends KubeObject>(kind: Kind<T>, object: T, how: ApplyHow) => {
      const query = queryString({
        fieldManager: how.manager,
        force: how.force,
        dryRun: how.dryRun ? 'All' : undefined,
        fieldValidation: 'Strict',
      })
      return call<T>('PATCH', objectPath(kind, object.metadata, how.subresource) + query, title(kind, object.metadata), {
        body: { ...object, ...typeMetaOf(kind) },
        contentType: 'application/apply-patch+yaml',
      })
    },

    patch: async <T extends KubeObject>(kind: Kind<T>, ref: Ref, patch: object | JsonPatchStep[], how: PatchHow = {}) => {
      const query = queryString({ fieldManager: how.manager, dryRun: how.dryRun ? 'All' : undefined })
      return call<T>('PATCH', objectPath(kind, ref, how.subresource) + query, title(kind, ref), {
        body: patch,
        contentType: Array.isArray(patch) ? 'application/json-patch+json' : 'application/merge-patch+json',
      })
    },

    async delete(kind: Kind, ref: Ref, { uid, resourceVersion, propagation = 'Background', dryRun = false }: DeleteHow = {}) {
      const body = {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        propagationPolicy: propagation,
        ...(dryRun && { dryRun: ['All'] }),
        preconditions: { uid, resourceVersion },
      }
      const send = async () => call<object>('DELETE', objectPath(kind, ref), title(kind, ref), { body })
      const answer = await absentIsUndefined(send)
      if (!answer) return 'absent'
      return isStillThere(answer) ? 'terminating' : 'deleted'
    },

    post: (path, body) => call('POST', path, path, { body }),
    read: (path, { signal, accept, about = path } = {}) =>
      connection.json({ method: 'GET', path, about, headers: { ...headers, ...(accept && { accept }) }, signal }),
    resolve: (apiVersion, kind) => discovery.resolve(apiVersion, kind),
    stream: (path, { signal, accept, about = path, shared } = {}) =>
      connection.lines({ method: 'GET', path, about, headers: { ...headers, ...(accept && { accept }) }, signal, shared }),
    socket: (path, { protocols, signal, about = path }) =>
      connection.socket({ method: 'GET', path, about, headers, signal }, protocols),
    as: (other) => createKube(connection, other, discovery),
    close: () => connection.close(),
  }
}

interface Extra {
  body?: unknown
  contentType?: string
  accept?: string | undefined
  signal?: AbortSignal | undefined
  mostBytes?: number | undefined
}

async function* objectsOf<T extends KubeObject>(kind: Kind<T>, fetch: FetchPage<T>): AsyncGenerator<T[]> {
  for await (const page of pagesOf(kind.plural, PAGE, fetch)) yield itemsOf(kind, page)
}

/** Of a list that is held whole, bytes: tenants decide how many objects there are, and how large. */
const MOST_LISTED = 64 * 2 ** 20

const allOf = <T extends KubeObject>(kind: Kind<T>, fetch: FetchPage<T>): Promise<T[]> =>
  orBegunAnew(async () => {
    const items: T[] = []
    let bytes = 0
    for await (const page of objectsOf(kind, fetch)) {
      bytes += weightOf(page)
      if (bytes > MOST_LISTED) throw listTooLarge(kind, `has more than ${MOST_LISTED >> 20} MiB`)
      for (const item of page) items.push(item)
    }
    return items
  })

const listTooLarge = ({ plural }: Kind, what: string): Failure =>
  new Failure('too-large', `the list of ${plural} ${what}`, { reason: 'ListTooLarge', remedy: 'Delete what nobody needs' })

/** An object takes far more memory than the few bytes that the smallest one has on the way. */
const MOST_OF_STRANGERS = 10_000

/** At once: of a stranger's list no more is held than of any answer. */
async function wholeOf<T extends KubeObject>(kind: Kind<T>, fetch: FetchPage<T>): Promise<T[]> {
  const page = await fetch({})
  const count = page.items?.length ?? 0
  if (count > MOST_OF_STRANGERS) throw listTooLarge(kind, `has ${count} objects, more than ${MOST_OF_STRANGERS}`)
  if (page.metadata?.continue)
    throw new Failure('unavailable', `the list of ${kind.plural} comes in pages, which nobody asked for`)
  return itemsOf(kind, page)
}

const itemsOf = <T extends KubeObject>(kind: Kind<T>, { items }: ListPage<T>): T[] =>
  (items ?? []).map((item) => ({ ...item, ...typeMetaOf(kind) }))

/** One request; a kind that turns out not to be served is forgotten. */
function caller(connection: KubeConnection, discovery: Discovery, headers: Record<string, string | string[]>) {
  return <T>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    about: string,
    { accept, ...rest }: Extra = {},
  ): Promise<T> =>
    connection
      .json<T>({ method, path, about, headers: { ...headers, ...(accept && { accept }) }, ...rest })
      .catch((failure: unknown) => {
        if (isFailure(failure, 'not-found') && failure.reason === KIND_NOT_SERVED) discovery.forget(groupVersionIn(path))
        throw failure
      })
}

/** `apps/v1` of `/apis/apps/v1/…`, `v1` of `/api/v1/…`. */
function groupVersionIn(path: string): string {
  const [, root, first = '', second = ''] = path.split('/')
  return root === 'api' ? first : `${first}/${second}`
}

/** A DELETE is answered by a Status or by the object; by one with a deletion timestamp while it is on its way out. */
const isStillThere = (answer: object): boolean =>
  'metadata' in answer && isRecord(answer.metadata) && answer.metadata.deletionTimestamp !== undefined

const title = (kind: Kind, ref: Ref): string => `${kind.kind} ${keyOf(ref)}`

async function absentIsUndefined<T>(find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find()
  } catch (failure) {
    if (isAbsent(failure)) return undefined
    throw failure
  }
}

/** A 404 for the object; a 404 for the whole kind (its CRD is not installed) stays an error. */
const isAbsent = (failure: unknown): boolean => isFailure(failure, 'not-found') && failure.reason !== KIND_NOT_SERVED

/**
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 * To a server an empty user is none: what was meant for a tenant would be done with the caller's own rights. And blanks around a
 * name are lost on the way: it would be somebody else's.
 */
function impersonation({ user, groups, uid }: Identity): Record<string, string | string[]> {
  if ([user, ...(groups ?? [])].some((name) => name.trim() === '' || /^[ \t]|[ \t]$/.test(name)))
    throw new Failure('internal', 'impersonation of a user or group without a name, or with blanks around it')
  return {
    'impersonate-user': asHeader(user),
    ...(groups && { 'impersonate-group': groups.map(asHeader) }),
    ...(uid && { 'impersonate-uid': asHeader(uid) }),
  }
}
