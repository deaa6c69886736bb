import { conditionOf, type GitOpsDeployment } from '../../api/index.ts'

/** A deployment in the chain that commits go through, and how far from its beginning it is. */
export interface Link {
  deployment: GitOpsDeployment
  depth: number
}

const before = ({ spec }: GitOpsDeployment): string | undefined => spec.source.follow?.deployment

/** Pure. From the deployment that takes commits from no other, through all that take them from it. Circles are entered once. */
export function chainOf(deployment: GitOpsDeployment, all: readonly GitOpsDeployment[]): Link[] {
  const named = new Map(all.map((one) => [one.metadata.name, one]))
  const seen = new Set<string>()
  let first = deployment
  for (let next = named.get(before(first) ?? ''); next && !seen.has(next.metadata.name); next = named.get(before(first) ?? '')) {
    seen.add(next.metadata.name)
    first = next
  }
  const links: Link[] = []
  const entered = new Set<string>()
  const open: Link[] = [{ deployment: first, depth: 0 }]
  for (let link = open.pop(); link; link = open.pop()) {
    const { name } = link.deployment.metadata
    if (entered.has(name)) continue
    entered.add(name)
    links.push(link)
    const depth = link.depth + 1
    open.push(
      ...followersOf(name, all)
        .map((follower) => ({ deployment: follower, depth }))
        .reverse(),
    )
  }
  return links
}

/** Pure. Those that take the commits of one, by name. */
export const followersOf = (name: string, all: readonly GitOpsDeployment[]): GitOpsDeployment[] =>
  all.filter((one) => before(one) === name).toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1))

/** Pure. What people see of one link. */
export function linkRow({ deployment: { metadata, spec, status }, depth }: Link) {
  const { sync, conditions, promotion } = status ?? {}
  const ready = conditionOf(conditions, 'Ready')
  const state = ready?.status === 'True' ? 'Ready' : (ready?.reason ?? 'Unknown')
  const { next } = promotion ?? {}
  return {
    name: metadata.name,
    depth,
    environment: spec.destination?.environment ?? '',
    type: spec.type,
    revision: sync?.revision ?? '',
    state,
    ...(promotion?.at !== undefined && { since: promotion.at }),
    ...(promotion?.by !== undefined && { by: promotion.by }),
    ...(next && { next }),
  }
}
