import type { Agent } from '../api/index.ts'
import type { OnUsed, UsedProject } from './ports.ts'

/**
 * Whether another GitProject stands behind a path than the one that the agent has used: deleted and made anew, by whomever. As with
 * the hosts that SSH knows, the first one is taken; another one is not, until somebody who may change the Agent trusts it.
 */
export function isAnother({ spec, status }: Agent, { path, uid }: UsedProject): boolean {
  const known = uidOf(spec.trustedProjects, path) ?? uidOf(status?.knownProjects, path)
  return known !== undefined && known !== uid
}

const uidOf = (known: readonly UsedProject[] | undefined, path: string): string | undefined =>
  known?.find((one) => one.path === path)?.uid

export const BY_KNOWN_PROJECT = {
  knownProject: ({ status }: Agent): string[] => (status?.knownProjects ?? []).map(({ path }) => path),
}

/** Passes on what the gate tells to whoever writes it down, who is not there yet when the gate is made. */
export function createUses(): { tell: OnUsed; onUsed(listener: OnUsed): void } {
  const listeners: OnUsed[] = []
  return {
    tell(agent, used) {
      for (const listener of listeners) listener(agent, used)
    },
    onUsed: (listener) => void listeners.push(listener),
  }
}
