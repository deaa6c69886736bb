import { type Agent, indexBy } from '../../api/index.ts'
import type { UsedProject } from './ports.ts'

/**
 * Whether another GitProject stands behind a path than the one that the agent has used: deleted and made anew, by whomever. As with
 * the hosts that SSH knows, the first one is taken; another one is not, until somebody who may change the Agent trusts it.
 */
export function isAnother({ path, uid }: UsedProject, { trusted, used }: Trust): boolean {
  const known = uidOf(trusted, path) ?? uidOf(used, path)
  return known !== undefined && known !== uid
}

interface Trust {
  /** The choice of somebody who may change the Agent; it wins. */
  trusted: readonly UsedProject[] | undefined
  used: readonly UsedProject[] | undefined
}

export const trustOf = ({ spec, status }: Agent): Trust => ({ trusted: spec.trustedProjects, used: status?.knownProjects })

const uidOf = (known: readonly UsedProject[] | undefined, path: string): string | undefined =>
  known?.find((one) => one.path === path)?.uid

export const byKnownProject = indexBy(({ status }: Agent) => (status?.knownProjects ?? []).map(({ path }) => path))
