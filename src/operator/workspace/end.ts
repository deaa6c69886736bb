import type { Workspace } from '../../api/index.ts'
import { beginningOf } from '../../std/index.ts'
import type { WorkspaceDraft } from './status.ts'

/** The condition of a workspace that ends. Its time says since when. */
export const REMOVED = 'Removed'

/** What an end waits for: in a word, and in a sentence. */
export interface Remains {
  what: string
  message: string
}

const MOST_NAMED = 10

/** What is still there, in words. */
export function sayLeft(names: readonly string[]): string {
  const named = names.slice(0, MOST_NAMED).map((name) => beginningOf(name, 100))
  const more = names.length - named.length
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

/** The status of a workspace that is going, or gone. */
export function statusOfEnd(
  { status, metadata }: Workspace,
  state: 'Terminating' | 'Terminated',
  remains: Remains | undefined,
): WorkspaceDraft {
  const {
    conditions,
    observedGeneration,
    failure,
    url,
    ports,
    willStopAt,
    willStopReason,
    willStartAt,
    willTerminateAt,
    willTerminateReason,
    willDeleteAt,
    activeSince,
    resources,
    backups,
    kept,
    waitingFor: _,
    waiting,
    step,
    ...known
  } = status ?? {}
  const message =
    remains?.message ?? (state === 'Terminated' ? 'everything of it is removed' : 'everything of it is being removed')
  const statement = { status: 'False', reason: state, message, observedGeneration: metadata.generation ?? 0 } as const
  return {
    ...known,
    actualState: state,
    ...(remains && { waitingFor: remains.what }),
    conditions: [
      { type: 'Ready', ...statement },
      { type: 'Applied', ...statement },
      { type: 'DeploymentReady', ...statement },
      { type: REMOVED, ...statement, status: state === 'Terminated' ? 'True' : 'False' },
    ],
  }
}
