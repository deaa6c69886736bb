import { createHash } from 'node:crypto'
import type { Agent } from '../../api/index.ts'

/** The number that peers want for an object: the same for its life, and exact also where numbers are doubles. 48 bits, positive. */
export const numberOf = (uid: string): bigint => BigInt(createHash('sha256').update(uid).digest().readUIntBE(0, 6))

export type ProjectKnownToAgent = NonNullable<NonNullable<Agent['status']>['knownProjects']>[number]

interface ProjectAt {
  path: string
  uid: string
  /** Its own number. */
  id?: bigint
}

/**
 * The number by which an agent knows a project. Whoever is trusted after another goes on under that one's number, for it names the
 * inventories of what came from there; unless that is the number of another path, where the one before may be now.
 */
export function numberIn(known: readonly ProjectKnownToAgent[], { path, uid, id: own = numberOf(uid) }: ProjectAt): bigint {
  const others = known.filter((one) => one.path !== path)
  const entry = known.find((one) => one.path === path)
  if (entry?.projectId !== undefined) return BigInt(entry.projectId)
  const before = entry && entry.uid !== uid ? numberOf(entry.uid) : undefined
  if (before !== undefined && !others.some((one) => written(one) === before || numberOf(one.uid) === before)) return before
  // The number of a project follows it from path to path, but for where another has gone on under it.
  return others.some((one) => written(one) === own) ? numberOf(`${uid} ${path}`) : own
}

const written = ({ projectId }: ProjectKnownToAgent): bigint | undefined =>
  projectId === undefined ? undefined : BigInt(projectId)
