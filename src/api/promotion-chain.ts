import { inEffect } from './gitops-deployment.ts'
import type { GitOpsDeployment } from './kinds.ts'

/** A deployment in the chain that commits go through, and how far from its beginning it is. */
export interface PromotionLink {
  deployment: GitOpsDeployment
  depth: number
}

const followedBy = ({ spec }: GitOpsDeployment): string | undefined => spec.source.follow?.deployment

/**
 * From the deployment that takes commits from no other through all that take them from it, of those of one namespace. What follows one that
 * is not there begins a chain, and circles are entered once.
 */
export function promotionChainOf(deployment: GitOpsDeployment, all: readonly GitOpsDeployment[]): PromotionLink[] {
  const named = new Map(all.map((one) => [one.metadata.name, one]))
  const followers = Map.groupBy(all, followedBy)
  const links: PromotionLink[] = []
  const entered = new Set<string>()
  const open: PromotionLink[] = [{ deployment: firstOf(deployment, named), depth: 0 }]
  for (let link = open.pop(); link; link = open.pop()) {
    const { name } = link.deployment.metadata
    if (entered.has(name)) continue
    entered.add(name)
    links.push(link)
    const depth = link.depth + 1
    const next = (followers.get(name) ?? []).toSorted((one, other) => (one.metadata.name > other.metadata.name ? -1 : 1))
    open.push(...next.map((follower) => ({ deployment: follower, depth })))
  }
  return links
}

function firstOf(deployment: GitOpsDeployment, named: ReadonlyMap<string, GitOpsDeployment>): GitOpsDeployment {
  const seen = new Set([deployment.metadata.name])
  let first = deployment
  for (;;) {
    const before = named.get(followedBy(first) ?? '')
    if (!before || seen.has(before.metadata.name)) return first
    seen.add(before.metadata.name)
    first = before
  }
}

/** What people see of a link: where it is, what it has, and what waits. */
export function promotionRowOf({ deployment, depth }: PromotionLink) {
  const { metadata, spec, status } = deployment
  const { isReady, reason } = inEffect(deployment)
  const { at, by, next } = status?.promotion ?? {}
  return {
    name: metadata.name,
    depth,
    environment: spec.destination?.environment ?? '',
    type: spec.type,
    revision: status?.sync?.revision ?? '',
    state: isReady ? 'Ready' : reason,
    ...(at !== undefined && { since: at }),
    ...(by !== undefined && { by }),
    ...(next && { next }),
  }
}
