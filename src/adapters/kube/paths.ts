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
  throw new Failure(
    'not-found',
    `nothing can be called ${JSON.stringify(name)}: a name is not empty, . or .., and has no / or %`,
    {
      remedy: 'Correct the name.',
    },
  )
}

/** The collection; without a namespace, all namespaces. */
export const collectionPath = (kind: Kind, namespace?: string): string =>
  kind.namespaced && namespace ? `${root(kind)}/namespaces/${segment(namespace)}/${kind.plural}` : `${root(kind)}/${kind.plural}`

export const objectPath = (kind: Kind, { name, namespace }: Ref, subresource?: string): string =>
  `${collectionPath(kind, namespace)}/${segment(name)}${subresource ? `/${subresource}` : ''}`

/** `?a=b&c=d`, leaving out what is undefined; `` when nothing is left. */
export function queryString(values: Record<string, string | number | boolean | undefined>): string {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined)
  return pairs.length === 0 ? '' : `?${pairs.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join('&')}`
}

export const selectors = ({ labels, fields }: ListQuery) => ({ labelSelector: labels, fieldSelector: fields })
