import { createHash } from 'node:crypto'
import type { Kube } from '../../adapters/kube/index.ts'
import type { Kind, KubeObject } from '../../api/index.ts'
import { LRUCache } from '../../std/index.ts'

/**
 * What the API server makes of an object: defaults filled in, quantities in its own spelling. Only that can be compared
 * with what is there, and only the server knows it; so it is learned from its answers, or asked for once by a dry run.
 */
export interface Canonical {
  learn(kind: Kind, wanted: KubeObject, answer: KubeObject): void
  of(kind: Kind, wanted: KubeObject): Promise<KubeObject>
}

/** Tiers are few; more entries than this come from claims that each ask for other amounts. */
const MOST = 1000

export function createCanonical(kube: Kube, manager: string): Canonical {
  const known = new LRUCache<string, string>({ max: MOST })

  const learn = (kind: Kind, wanted: KubeObject, answer: KubeObject) =>
    void known.set(keyOf(kind, wanted), shared(answer, wanted))
  return {
    learn,
    async of(kind, wanted) {
      const text = known.get(keyOf(kind, wanted))
      if (text !== undefined) return own(text, wanted)
      const probe = {
        ...wanted,
        metadata: { name: `${wanted.metadata.name}-dry-run`, namespace: wanted.metadata.namespace ?? '' },
      }
      const answer = await kube.create(kind, probe, { dryRun: true, manager })
      learn(kind, wanted, answer)
      return answer
    },
  }
}

/** Spaces of one tier differ in nothing but the namespace's name, which may stand inside of a subject: they share an entry. */
const PLACEHOLDER = '"<namespace>"'

const quoted = ({ metadata }: KubeObject): string => JSON.stringify(metadata.namespace ?? '')

const shared = (object: KubeObject, { metadata }: KubeObject): string =>
  JSON.stringify({ ...object, metadata: { name: metadata.name } }).replaceAll(
    JSON.stringify(metadata.namespace ?? ''),
    PLACEHOLDER,
  )

function own(text: string, wanted: KubeObject): KubeObject {
  const object: KubeObject = JSON.parse(text.replaceAll(PLACEHOLDER, quoted(wanted)))
  return object
}

const keyOf = (kind: Kind, wanted: KubeObject): string =>
  `${kind.plural} ${createHash('sha256').update(shared(wanted, wanted)).digest('base64')}`
