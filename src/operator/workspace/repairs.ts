import { type Deployment, isTrue, nameOf, PersistentVolumeClaims } from '../../api/index.ts'
import { PLAN_DIGEST, type Plan } from './desired/index.ts'
import type { Room } from './room.ts'

interface Change {
  /** The Deployment before. */
  was: Deployment | undefined
  /** As it is wanted. */
  deployment: Deployment
  changed: readonly string[]
}

/** What was made by this very plan before and is not so any more, somebody else has changed: an Event says what was repaired. */
export function tellChanged(
  { workspace, namespace }: Pick<Plan, 'workspace' | 'namespace'>,
  { was, deployment, changed }: Change,
  { workshop: { log, events } }: Room,
): void {
  if (changed.length === 0) return
  log.info('workspace applied', { workspace: nameOf(workspace), changed })
  const digest = deployment.metadata.annotations?.[PLAN_DIGEST]
  const { status, metadata } = workspace
  const wasThere = isTrue(status?.conditions, 'Applied') && status?.observedGeneration === metadata.generation
  if (was ? was.metadata.annotations?.[PLAN_DIGEST] !== digest : !wasThere) return
  const lost = changed.some((name) => name.startsWith(PersistentVolumeClaims.kind))
  const what = `changed or removed in namespace ${namespace} by somebody, and repaired: ${changed.join(', ')}`
  const message = lost ? `${what}. The volume is a new one, and empty` : what
  events.record(workspace, { type: lost ? 'Warning' : 'Normal', reason: 'Repaired', message })
}
