import { apiVersionOf, type Kind, type Ref } from '../../api/index.ts'
import type { ListQuery } from './kube.ts'

const root = (kind: Kind): string => (kind.group ? `/apis/${apiVersionOf(kind)}` : `/api/${kind.version}`)

/** The collection; without a namespace, all namespaces. */
export const collectionPath = (kind: Kind, namespace?: string): string =>
  kind.namespaced && namespace
    ? `${root(kind)}/namespaces/${encodeURIComponent(namespace)}/${kind.plural}`
    : `${root(kind)}/${kind.plural}`

export const objectPath = (kind: Kind, { name, namespace }: Ref, subresource?: string): string =>
  `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}${subresource ? `/${subresource}` : ''}`

/** `?a=b&c=d`, leaving out what is undefined; `` when nothing is left. */
export function queryString(values: Record<string, string | number | boolean | undefined>): string {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined)
  return pairs.length === 0 ? '' : `?${pairs.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join('&')}`
}

export const selectors = ({ labels, fields }: ListQuery) => ({ labelSelector: labels, fieldSelector: fields })
