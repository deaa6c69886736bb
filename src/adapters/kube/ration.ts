import { type CoreSecret, keyOf, refOf } from '../../api/index.ts'
import { createTally } from '../../std/index.ts'

/** Bytes of one Secret. A kubeconfig with a token and a CA has about 5,000. */
const MOST = 128 * 2 ** 10
/** Bytes of all Secrets that one cache keeps of one namespace. */
const MOST_OF_NAMESPACE = 32 * 2 ** 20
/** Bytes of the metadata that is kept of a Secret whose data is not. */
const MOST_METADATA = 4 * 2 ** 10

/** What a cache keeps of the objects of each namespace, so that nobody fills the memory of a program with his own. */
export interface Ration<T> {
  /** The object as it is kept, in the place of the one of the same name before. */
  take(object: T): T
  /** The object is kept no more. */
  giveBack(object: T): void
  /** Another one of the same size, with nothing taken of it. */
  anew(): Ration<T>
}

/** Of a Secret that is too large, or one too many, only the metadata is kept, and why: `leftOut`. */
export function secretRation(): Ration<CoreSecret> {
  const weights = createTally()
  const sums = createTally()
  const put = (secret: CoreSecret, weight: number) => {
    const { namespace = '' } = secret.metadata
    const key = keyOf(refOf(secret))
    const more = weight - weights.of(key)
    weights.add(key, more)
    return sums.add(namespace, more)
  }
  const leaveOut = (secret: CoreSecret, why: string): CoreSecret => {
    const { apiVersion, kind, type } = secret
    const rest = { apiVersion, kind, metadata: barest(secret), ...(type && { type }), leftOut: why }
    put(rest, weightOf(rest))
    return rest
  }
  return {
    take(secret) {
      const weight = weightOf(secret)
      if (weight > MOST) return leaveOut(secret, `it has ${weight} bytes, and a Secret of more than ${MOST} is not read`)
      if (put(secret, weight) <= MOST_OF_NAMESPACE || secret.leftOut) return secret
      return leaveOut(secret, `the Secrets before it in its namespace have ${MOST_OF_NAMESPACE} bytes, and no more are read`)
    },
    giveBack: (secret) => void put(secret, 0),
    anew: secretRation,
  }
}

/** Labels and owners say whose it is. */
function barest({ metadata }: CoreSecret): CoreSecret['metadata'] {
  const { name, namespace, uid, resourceVersion, labels, ownerReferences, deletionTimestamp } = metadata
  const least = {
    name,
    ...(namespace && { namespace }),
    ...(uid && { uid }),
    ...(resourceVersion && { resourceVersion }),
    ...(deletionTimestamp && { deletionTimestamp }),
  }
  const more = { ...least, ...(labels && { labels }), ...(ownerReferences && { ownerReferences }) }
  return weightOf(more) > MOST_METADATA ? least : more
}

/** About as many bytes as it has as JSON, without making that. */
function weightOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 4
  let sum = 2
  for (const [key, inner] of Object.entries(value)) sum += key.length + 4 + weightOf(inner)
  return sum
}
