import type { KubeObject } from '../../api/index.ts'
import { type Failure, sayFailure } from '../../std/index.ts'
import type { StatusDraft } from './reconcile.ts'

/** After a failure what the status says of what is there stays as it is, and Ready says why it is no newer. */
export function failedStatus(
  { metadata, status }: KubeObject & { status?: { conditions?: unknown } | undefined },
  failure: Failure,
): StatusDraft {
  const { conditions: _, ...others } = status ?? {}
  const [state, reason] = failure.code === 'invalid' ? (['False', 'Invalid'] as const) : (['Unknown', 'ReconcileFailed'] as const)
  const observedGeneration = metadata.generation ?? 0
  const ready = { status: state, reason: failure.reason ?? reason, message: sayFailure(failure) }
  return { ...others, observedGeneration, conditions: [{ type: 'Ready', ...ready, observedGeneration }] }
}
