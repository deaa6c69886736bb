import type { Kube } from '../../adapters/kube/index.ts'
import {
  annotations,
  indexBy,
  isDeleting,
  type KubeObject,
  labels,
  type Namespace,
  Namespaces,
  type SpaceRequest,
  type SpaceTierSpec,
} from '../../api/index.ts'
import { createOnce } from '../../engines/apply/index.ts'
import { namespaceOf } from './desired.ts'
import { unableToProvision } from './failures.ts'
import { namespaceNames } from './names.ts'
import { MANAGER } from './pieces.ts'
import type { Site } from './site.ts'

export const uidOf = ({ metadata }: SpaceRequest): string => metadata.uid ?? ''

/** Of the request that this was made for. */
export const requestUidOf = ({ metadata }: KubeObject): string => metadata.labels?.[labels.spaceRequestUid] ?? ''

/** By the request that it was made for. */
export const byRequest = indexBy((object: KubeObject) => [requestUidOf(object)])

/** The namespace that was made for the request, as far as the cache knows. */
export const namespaceFor = ({ namespaces }: Pick<Site, 'namespaces'>, request: SpaceRequest): Namespace | undefined =>
  namespaces.by(byRequest, uidOf(request))[0]

/** The namespace of the request, as the tier wants it: the one that was made for it, or a new one. Never one that somebody else made. */
export async function keepNamespace(
  site: Pick<Site, 'kube' | 'namespaces'>,
  request: SpaceRequest,
  tier: SpaceTierSpec,
): Promise<Namespace> {
  const mine = namespaceFor(site, request)
  if (!mine) return makeNamespace(site.kube, request, tier)
  return isDeleting(mine) ? mine : follow(site.kube, mine, namespaceOf(request, tier, mine.metadata.name))
}

async function makeNamespace(kube: Kube, request: SpaceRequest, tier: SpaceTierSpec): Promise<Namespace> {
  const names = namespaceNames(request.metadata.namespace ?? '', uidOf(request))
  for (const name of names) {
    const { made, there } = await createOnce(kube, Namespaces, namespaceOf(request, tier, name), MANAGER)
    if (made) return made
    if (there && requestUidOf(there) === uidOf(request)) return there
  }
  throw unableToProvision(
    `namespaces of other owners have every name that could be given: ${names.join(', ')}`,
    'Make the SpaceRequest anew under another name',
  )
}

/** Labels and annotations of the tier, and none that it had before and has no more. */
async function follow(kube: Kube, there: Namespace, wanted: Namespace): Promise<Namespace> {
  const before = keysOf(there)
  const patch = {
    labels: changes(there.metadata.labels, wanted.metadata.labels, before.labels),
    annotations: changes(there.metadata.annotations, wanted.metadata.annotations, before.annotations),
  }
  if (!patch.labels && !patch.annotations) return there
  const { resourceVersion, name } = there.metadata
  return kube.patch(Namespaces, { name }, { metadata: { resourceVersion, ...patch } }, { manager: MANAGER })
}

type Marks = Record<string, string>

function changes(has: Marks = {}, wanted: Marks = {}, former: string[] = []): Record<string, string | null> | undefined {
  const put = Object.entries(wanted).filter(([key, value]) => has[key] !== value)
  const drop = former.filter((key) => !(key in wanted) && key in has).map((key) => [key, null] as const)
  return put.length + drop.length > 0 ? Object.fromEntries([...put, ...drop]) : undefined
}

function keysOf({ metadata }: Namespace): { labels?: string[]; annotations?: string[] } {
  try {
    return JSON.parse(metadata.annotations?.[annotations.tierKeys] ?? '{}')
  } catch {
    return {} // Somebody overwrote our note: what left the tier stays then, what is in it is put back.
  }
}
