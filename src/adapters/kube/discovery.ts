import { groupOf, type Kind } from '../../api/index.ts'
import { isFailure, isRecord } from '../../std/index.ts'
import type { KubeConnection } from './connection.ts'

export type Discovery = ReturnType<typeof createDiscovery>

/** Groups with their versions. Repositories ask for any, and servers that strangers run have any. */
const MOST = 500

/**
 * A version, or a group and a version. It is a part of the path of whatever is asked, and tenants write it: `v1%2fnamespaces%2fother…` would
 * be a request to whatever stands there, with the rights of whoever asks on their behalf.
 */
const API_VERSION = /^(?:[a-z0-9][a-z0-9.-]*\/)?[a-z0-9][a-z0-9-]*$/

/**
 * Which kinds the server serves, asked for group by group and remembered. It follows CRDs that come, go and change: a kind that
 * is not known is asked for again, and a request that finds no such resource makes the client forget the group.
 */
export function createDiscovery(connection: KubeConnection) {
  const known = new Map<string, Promise<Map<string, Kind>>>()
  const load = (apiVersion: string): Promise<Map<string, Kind>> => {
    const loading = fetchGroup(connection, apiVersion)
    known.set(apiVersion, loading)
    loading.catch(() => known.delete(apiVersion))
    const [oldest] = known.keys()
    if (known.size > MOST && oldest !== undefined) known.delete(oldest)
    return loading
  }
  return {
    async resolve(apiVersion: string, kind: string): Promise<Kind | undefined> {
      if (!API_VERSION.test(apiVersion)) return undefined
      const remembered = (await known.get(apiVersion))?.get(kind)
      return remembered ?? (await load(apiVersion)).get(kind)
    },
    /** The server no longer knows a kind of this group and version as it was: it is asked again the next time. */
    forget: (apiVersion: string): void => void known.delete(apiVersion),
  }
}

async function fetchGroup(connection: KubeConnection, apiVersion: string): Promise<Map<string, Kind>> {
  const group = groupOf(apiVersion)
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  const path = group ? `/apis/${apiVersion}` : `/api/${version}`
  try {
    const { resources } = await connection.json<{ resources?: unknown }>({ method: 'GET', path, about: apiVersion })
    // Of a stranger's server: what names no kind is none.
    const kinds = (Array.isArray(resources) ? resources : [])
      .filter(isRecord)
      .flatMap(({ kind, name, namespaced }) =>
        typeof kind === 'string' && typeof name === 'string' && !name.includes('/')
          ? [{ group, version, kind, plural: name, namespaced: namespaced === true }]
          : [],
      )
    return new Map(kinds.map((each) => [each.kind, each]))
  } catch (failure) {
    if (isFailure(failure, 'not-found')) return new Map()
    throw failure
  }
}
