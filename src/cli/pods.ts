import { type Kube, selectorFor } from '../adapters/kube/index.ts'
import {
  type ContainerStatus,
  type CoreEvent,
  CoreEvents,
  conditionOf,
  type Deployment,
  Deployments,
  isDeleting,
  lastSaidAt,
  type Pod,
  Pods,
  typeMetaOf,
} from '../api/index.ts'
import { healthOf } from '../engines/health/index.ts'
import { systemClock } from '../std/index.ts'

/** Why a pod does not run. */
export interface PodTrouble {
  message: string
  /** Its containers were tried and do not start: time alone does not help. */
  isStuck: boolean
  /** A container has ended and was started again, so that there is a log of the run before. */
  hasRestarted: boolean
}

/** Every replica is of the Deployment as it is now, and available. */
export const isRolledOut = (deployment: Deployment): boolean =>
  healthOf({ ...typeMetaOf(Deployments), ...deployment }, systemClock.now()).status === 'Healthy'

/** What the containers, the scheduler or the last warning say of a pod that is not ready; nothing while nobody has said anything. */
export async function troubleOfPods(kube: Kube, { metadata, spec, status }: Deployment): Promise<PodTrouble | undefined> {
  const { namespace } = metadata
  for (const pod of await kube.list(Pods, { namespace, labels: selectorFor(spec?.selector.matchLabels ?? {}) })) {
    if (isDeleting(pod) || conditionOf(pod.status?.conditions ?? [], 'Ready')?.status === 'True') continue
    const stuck = containersOf(pod)
      .map(saidByContainer)
      .find((said) => said !== undefined)
    const message = stuck ?? saidByScheduler(pod) ?? (await lastWarningOf(kube, pod))
    const hasRestarted = (pod.status?.containerStatuses ?? []).some(({ restartCount }) => restartCount > 0)
    if (message !== undefined)
      return { message: `pod ${pod.metadata.name}: ${message}`, isStuck: stuck !== undefined, hasRestarted }
  }
  // A quota, a policy or a missing account keeps them from being made at all.
  const failure = conditionOf(status?.conditions ?? [], 'ReplicaFailure')
  return failure?.status === 'True' && failure.message
    ? { message: failure.message, isStuck: true, hasRestarted: false }
    : undefined
}

const containersOf = ({ status }: Pod) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]

/** These are said of containers that nobody has tried to start. */
const BEFORE = ['ContainerCreating', 'PodInitializing']

function saidByContainer({ name, ready, restartCount, state = {}, lastState = {} }: ContainerStatus): string | undefined {
  const { reason = '', message } = state.waiting ?? {}
  const ended = state.terminated ?? (ready ? undefined : lastState.terminated)
  if (ended && ended.exitCode !== 0)
    return `container ${name} ended with exit code ${ended.exitCode} (${ended.reason}), and was started again ${restartCount} times`
  return reason === '' || BEFORE.includes(reason)
    ? undefined
    : `container ${name} waits (${reason})${message ? `: ${message}` : ''}`
}

function saidByScheduler({ status }: Pod): string | undefined {
  const scheduled = conditionOf(status?.conditions ?? [], 'PodScheduled')
  return scheduled?.status === 'False' ? scheduled.message : undefined
}

async function lastWarningOf(kube: Kube, { metadata: { name, namespace, uid } }: Pod): Promise<string | undefined> {
  const events = await kube.list(CoreEvents, { namespace, fields: `involvedObject.name=${name},type=Warning` })
  const about = events.filter(({ involvedObject }) => involvedObject.uid === uid)
  return about.toSorted((one, other) => timeOf(one) - timeOf(other)).at(-1)?.message
}

const timeOf = (event: CoreEvent): number => Date.parse(lastSaidAt(event)) || 0
