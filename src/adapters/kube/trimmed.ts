import type { CoreSecret, KubeObject } from '../../api/index.ts'
import { weightOf } from './memory.ts'

/** Bytes of one Secret. A kubeconfig with a token and a CA has about 5,000. */
const MOST = 128 * 2 ** 10
/** Bytes of the metadata that is kept of a Secret whose data is not. */
const MOST_METADATA = 4 * 2 ** 10

/** Of a Secret that is too large only the metadata, and why: `leftOut`. */
export function trimmedSecret(secret: CoreSecret): CoreSecret {
  const weight = weightOf(secret)
  if (weight <= MOST) return secret
  const { apiVersion, kind, type } = secret
  const leftOut = `it has ${weight} bytes, and a Secret of more than ${MOST} is not read`
  return { apiVersion, kind, metadata: barest(secret), ...(type && { type }), leftOut }
}

/** What tells one object from another, and one version of it from the next. */
export const nameOnly = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({
  apiVersion,
  kind,
  metadata: leastOf(metadata),
})

function leastOf({ name, namespace, uid, resourceVersion, deletionTimestamp }: KubeObject['metadata']): KubeObject['metadata'] {
  return {
    name,
    ...(namespace && { namespace }),
    ...(uid && { uid }),
    ...(resourceVersion && { resourceVersion }),
    ...(deletionTimestamp && { deletionTimestamp }),
  }
}

/** Labels and owners say whose it is. */
function barest({ metadata }: CoreSecret): CoreSecret['metadata'] {
  const { labels, ownerReferences } = metadata
  const least = leastOf(metadata)
  const more = { ...least, ...(labels && { labels }), ...(ownerReferences && { ownerReferences }) }
  return weightOf(more) > MOST_METADATA ? least : more
}
