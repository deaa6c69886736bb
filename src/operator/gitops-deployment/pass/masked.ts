import type { EventRecorder } from '../../../adapters/kube/index.ts'
import { type GitOpsDeployment, keyOf } from '../../../api/index.ts'
import type { Next, StatusDraft } from '../../../engines/controller/index.ts'
import { type Hiding, hiding, type Observed } from '../../../engines/gitops/index.ts'
import { isRecord } from '../../../std/index.ts'
import type { SyncServices } from '../services/services.ts'
import { sourcesOf } from '../watch/caches.ts'

/**
 * Carries out what is told in Events, in the status and by failures, with values masked that came from Secrets or were encrypted.
 * An API server quotes what it refuses, and a Secret's value may stand in any field of any object. Notifications repeat the status.
 */
export async function withSecretsMasked(
  deployment: GitOpsDeployment,
  services: SyncServices,
  work: (services: SyncServices) => Promise<Next>,
): Promise<Next> {
  if (sourcesOf(deployment).length === 0) return work(services)
  // What is secret is known only when the work has read it, and that is before anything is told.
  let made: { put: Secrets; decrypted: Secrets; hiding: Hiding } | undefined
  const hide = (): Hiding => {
    const key = keyOf(deployment.metadata)
    const [put, decrypted] = [services.variables.secretsOf(key), services.decryptions.secretsOf(key)]
    if (!made || made.put !== put || made.decrypted !== decrypted)
      made = { put, decrypted, hiding: hiding(new Set([...(put ?? []), ...(decrypted ?? [])])) }
    return made.hiding
  }
  const { context } = services
  try {
    const next = await work({ ...services, context: { ...context, events: masked(context.events, hide) } })
    return next.status ? { ...next, status: hiddenStatus(next.status, hide()) } : next
  } catch (thrown) {
    throw hide().failure(thrown)
  }
}

type Secrets = ReadonlySet<string> | undefined

const masked = (events: EventRecorder, hide: () => Hiding): EventRecorder => ({
  record: (about, occurrence) => events.record(about, { ...occurrence, message: hide().text(occurrence.message) }),
  flush: () => events.flush(),
})

/** Its sentences: every field named message, wherever it stands. Names, states and times are not made of secrets. */
function hiddenStatus(status: StatusDraft, hide: Hiding): StatusDraft {
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inside)
    return isRecord(value) ? fields(value) : value
  }
  const fields = <T extends Record<string, unknown>>(record: T): T => {
    const hidden = Object.entries(record).map(([key, value]) =>
      key === 'message' && typeof value === 'string' ? [key, hide.text(value)] : [key, inside(value)],
    )
    return Object.fromEntries(hidden)
  }
  return fields(status)
}

/** For when it cannot be known what is secret: how objects do, and nothing that they say of it. */
export const withoutMessages = ({ health, objects, until }: Observed): Observed => ({
  health: { status: health.status },
  objects: objects.map((object) => ({ ...object, health: { status: object.health.status } })),
  until,
})
