import type { ContainerStatus, Deployment, Pod } from '../../api/index.ts'

/** Why a workspace does not become ready. */
export interface Trouble {
  reason: string
  message: string
  /** The object or step that failed. */
  cause: string
  remedy: string
  /** It will not pass by itself soon: the workspace is Failed, not Starting. */
  fatal: boolean
}

const IMAGE = ['ImagePullBackOff', 'ErrImagePull', 'InvalidImageName', 'ErrImageNeverPull']
const CREATE = ['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError']

/** The first trouble in the order in which a workspace starts: quota, scheduling, images, containers. */
export function troubleOf(deployment: Deployment | undefined, pods: readonly Pod[]): Trouble | undefined {
  const alive = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  return refusedPods(deployment) ?? alive.map(troubleOfPod).find((trouble) => trouble !== undefined)
}

function refusedPods(deployment: Deployment | undefined): Trouble | undefined {
  const refused = deployment?.status?.conditions?.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True')
  if (!refused) return undefined
  const message = refused.message ?? 'the pod was refused'
  const quota = message.includes('exceeded quota')
  return {
    reason: quota ? 'QuotaExceeded' : (refused.reason ?? 'FailedCreate'),
    message,
    cause: `Deployment ${deployment?.metadata.name}`,
    remedy: quota
      ? 'Ask for less memory and CPU in the devfile, stop another workspace of the target, or have the quota raised.'
      : "Change the devfile so that the target's policies admit its pod.",
    fatal: true,
  }
}

function troubleOfPod(pod: Pod): Trouble | undefined {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])]
  return unscheduled(pod) ?? statuses.map((status) => troubleOfContainer(pod, status)).find((trouble) => trouble !== undefined)
}

/** Not fatal: a node or a volume may still come, and the progress deadline ends the wait. */
function unscheduled(pod: Pod): Trouble | undefined {
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status !== 'False') return undefined
  const message = scheduled.message ?? 'no node takes the pod'
  const volume = /PersistentVolumeClaim/i.test(message)
  return {
    reason: volume ? 'VolumeNotBound' : 'Unschedulable',
    message,
    cause: `Pod ${pod.metadata.name}`,
    remedy: volume
      ? "Check the class's storageClassName and that the target can provision such a volume."
      : 'Ask for less memory and CPU in the devfile, or add a node to the target.',
    fatal: false,
  }
}

function troubleOfContainer(pod: Pod, { name, image, state, lastState }: ContainerStatus): Trouble | undefined {
  const reason = state?.waiting?.reason ?? ''
  const cause = `container ${name} of Pod ${pod.metadata.name}`
  const said = state?.waiting?.message
  if (IMAGE.includes(reason)) {
    const remedy = 'Correct the image in the devfile, or add its registry to imagePullSecrets of the class.'
    return { reason, message: said ?? `the image ${image ?? ''} cannot be pulled`, cause, remedy, fatal: true }
  }
  if (CREATE.includes(reason)) {
    const remedy =
      'Correct command, env and volumeMounts of the container in the devfile. The image must run as any non-root user.'
    return { reason, message: said ?? 'the container cannot be started', cause, remedy, fatal: true }
  }
  if (reason !== 'CrashLoopBackOff') return undefined
  const ended = lastState?.terminated
  const how = ended ? `ended with exit code ${ended.exitCode}${ended.reason ? ` (${ended.reason})` : ''}` : 'ends again and again'
  return {
    reason,
    message: `the container ${how}`,
    cause,
    remedy:
      ended?.reason === 'OOMKilled'
        ? 'Raise memoryLimit in the devfile.'
        : "Read the container's log. An image that ends at once needs a command that stays, or the attribute overrideCommand: true.",
    fatal: true,
  }
}
