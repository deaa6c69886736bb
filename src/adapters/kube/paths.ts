import { apiVersionOf, type Kind, type Ref } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import type { ListQuery } from './kube.ts'

const root = (kind: Kind): string => (kind.group ? `/apis/${apiVersionOf(kind)}` : `/api/${kind.version}`)

/**
 * A name as a part of a path (`IsValidPathSegmentName` of apimachinery). What tenants write into a reference may be anything: the path of
 * an object without a name is that of all objects, and a DELETE of it deletes them all; others lead to another resource. Throws `not-found`.
 */
function segment(name: string): string {
  if (name !== '' && name !== '.' && name !== '..' && !/[/%]/.test(name)) return encodeURIComponent(name)
  const why = `nothing can be called ${JSON.stringify(name)}: a name is not empty, . or .., and has no / or %`
  throw new Failure('not-found', why, { remedy: 'Correct the name.' })
}

/** The collection; without a namespace, all namespaces. */
export const collectionPath = (kind: Kind, namespace?: string): string =>
  kind.namespaced && namespace ? `${root(kind)}/namespaces/${segment(namespace)}/${kind.plural}` : `${root(kind)}/${kind.plural}`

export const objectPath = (kind: Kind, { name, namespace }: Ref, subresource?: string): string =>
  `${collectionPath(kind, namespace)}/${segment(name)}${subresource ? `/${subresource}` : ''}`

type QueryValues = Readonly<Record<string, string | number | boolean | undefined>>

/** `?a=b&c=d`, leaving out what is undefined; `` when nothing is left. */
export function queryString(values: QueryValues): string {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined)
  return pairs.length === 0 ? '' : `?${pairs.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join('&')}`
}

/** The objects that selectors choose of a collection. */
export const listPath = (kind: Kind, { namespace, labels, fields }: ListQuery, query: QueryValues): string =>
  collectionPath(kind, namespace) + queryString({ labelSelector: labels, fieldSelector: fields, ...query })

/** To be sent as UTF-8, as the API server reads headers: Node and undici write each character of a value as one byte. */
export const asHeader = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')
