import { type Job, Jobs } from '../../../api/index.ts'
import type { Devfile } from '../../../devfile/index.ts'
import { appliedAt, timeToApply } from '../../../engines/devfiles/index.ts'
import { envelope } from './envelope.ts'
import { environmentAddition, variablesAddition } from './environment.ts'
import { gitAdditionOf } from './git.ts'
import { digest } from './names.ts'
import { podAnnotationsOf } from './overrides.ts'
import { besideName, selectorOf } from './parts.ts'
import type { WorkspacePlan } from './plan.ts'
import { podOf } from './pod.ts'

/** The part of a workspace that its pods after a stop are. */
export const AFTER_STOP = 'poststop'

export const runsAfterStop = (devfile: Devfile): boolean => appliedAt(devfile, 'postStop').length > 0

/**
 * Applies the containers of postStop, one after the other, in a Job: it runs when the pods are gone, has the volume, and is tried
 * once. Its name says which stop it is for, so that no stop has two.
 */
export function afterStopJob(plan: WorkspacePlan, startedAt: string): Job | undefined {
  const { workspace, devfile } = plan
  const containers = appliedAt(devfile, 'postStop')
  if (containers.length === 0) return undefined
  const stop = digest(`${workspace.metadata.uid} ${startedAt}`).slice(0, 8)
  const frame = envelope(plan, Jobs, besideName(workspace, `${AFTER_STOP}-${stop}`))
  const additions = [variablesAddition(plan), environmentAddition(plan), gitAdditionOf(plan, 'after')]
  const pod = podOf(plan, { isMain: true, startLimit: 0, event: AFTER_STOP, steps: containers, containers: [], additions })
  const steps = pod.initContainers ?? []
  return {
    ...frame,
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: timeToApply(devfile, 'postStop'),
      template: {
        metadata: {
          labels: { ...frame.metadata.labels, ...selectorOf(workspace, AFTER_STOP) },
          annotations: { ...podAnnotationsOf(devfile, containers), ...frame.metadata.annotations },
        },
        spec: { ...pod, restartPolicy: 'Never', initContainers: steps.slice(0, -1), containers: steps.slice(-1) },
      },
    },
  }
}
