import type { CoreEvent, Pod } from '../../../api/index.ts'
import type { TroubleReason } from './causes.ts'
import type { Evidence } from './evidence.ts'
import { bornAt } from './pods.ts'
import { eventsOn, firstOf, type Symptom, timesOf } from './symptom.ts'

/** Why a pod that has a node does not get as far as its containers. The pod does not say it; Events do. */
export function unprepared(pod: Pod, evidence: Evidence): Symptom | undefined {
  for (const event of eventsOn(pod, evidence)) {
    const reason = reasonFor(event)
    if (!reason) continue
    const said = event.message ?? event.reason ?? ''
    return {
      reason,
      where: `Pod ${pod.metadata.name}`,
      said,
      since: firstOf(event),
      tried: timesOf(event),
      notBefore: bornAt(pod),
    }
  }
  return undefined
}

const MISSING = /(secret|configmap)s? "?[^\s"]*"? not found|references non-existent (secret|config) key/i

function reasonFor({ reason, message = '' }: CoreEvent): TroubleReason | undefined {
  if (reason === 'FailedAttachVolume') return /Multi-Attach/i.test(message) ? 'VolumeInUse' : 'VolumeNotAttached'
  if (reason === 'FailedMount' || reason === 'FailedMapVolume')
    return MISSING.test(message) ? 'MountSourceMissing' : 'VolumeNotMounted'
  if (reason !== 'FailedCreatePodSandBox' && reason !== 'NetworkNotReady') return undefined
  return /RuntimeHandler \S+ not supported|no runtime for/i.test(message) ? 'RuntimeHandlerMissing' : 'SandboxFailed'
}
