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
  type Ref,
  Secrets,
  typeMetaOf,
} from '../api/index.ts'
import { healthOf } from '../engines/health/index.ts'
import { systemClock } from '../std/index.ts'
import { unlessForbidden } from './options.ts'

/** Why a pod does not run. */
export interface PodTrouble {
  message: string
  /** Its containers were tried and do not start: time alone does not help. */
  isStuck: boolean
  /** A container has ended and was started again, so that there is a log of the run before. */
  hasRestarted: boolean
  /** Secrets that its pods cannot be without, and that are not there. */
  lacks: string[]
}

/** Every replica is of the Deployment as it is now, and available. */
export const isRolledOut = (deployment: Deployment): boolean =>
  healthOf({ ...typeMetaOf(Deployments), ...deployment }, systemClock.now()).status === 'Healthy'

/** What the containers, the scheduler or the last warning say of a pod that is not ready; nothing while nobody has said anything. */
export async function troubleOfPods(kube: Kube, deployment: Deployment): Promise<PodTrouble | undefined> {
  const trouble = await saidOfPods(kube, deployment)
  return trouble && { ...trouble, lacks: await absentSecrets(kube, deployment) }
}

async function saidOfPods(kube: Kube, { metadata, spec, status }: Deployment): Promise<Omit<PodTrouble, 'lacks'> | undefined> {
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

async function absentSecrets(kube: Kube, { metadata: { namespace }, spec }: Deployment): Promise<string[]> {
  const { volumes = [], containers = [], initContainers = [], imagePullSecrets = [] } = spec?.template.spec ?? {}
  const mounted = volumes.flatMap(({ secret, projected }) => [
    ...(secret && !secret.optional ? [secret.secretName] : []),
    ...(projected?.sources ?? []).flatMap((source) => (source.secret && !source.secret.optional ? [source.secret.name] : [])),
  ])
  const inVariables = [...containers, ...initContainers].flatMap(({ env = [], envFrom = [] }) => [
    ...env.flatMap(({ valueFrom: { secretKeyRef: from } = {} }) => (from && !from.optional ? [from.name] : [])),
    ...envFrom.flatMap(({ secretRef: from }) => (from && !from.optional ? [from.name] : [])),
  ])
  const names = new Set(
    [...mounted, ...inVariables, ...imagePullSecrets.map(({ name }) => name)].filter((name) => name !== undefined),
  )
  const looks = [...names].map(async (name) => ((await isAbsent(kube, { name, namespace })) ? [name] : []))
  return (await Promise.all(looks)).flat()
}

/** Not everybody who looks may read Secrets: then none is missed. */
const isAbsent = async (kube: Kube, ref: Ref): Promise<boolean> =>
  (await unlessForbidden(async () => (await kube.get(Secrets, ref)) === undefined)) ?? false

/** What the program `certificates` makes by itself; all other Secrets are made by people. */
const MADE = ['kas-tls', 'berth-proxy-tls', 'kas-private-api']
const PAGES: Record<string, string> = { 'berth-proxy-oidc': 'docs/proxy.md' }

/** What can be done about Secrets that are not there: neither other values nor another installation helps. */
export function remedyForAbsent(lacks: readonly string[], namespace: string): string | undefined {
  const byHand = lacks.filter((name) => !MADE.includes(name))
  if (byHand.length > 0) {
    const pages = new Set(byHand.map((name) => PAGES[name] ?? 'docs/installation.md'))
    return `Make what is not there: Secret ${byHand.map((name) => `${namespace}/${name}`).join(', ')} (${[...pages].join(', ')}). Its pods wait for it, and then run by themselves.`
  }
  const [made] = lacks
  return (
    made &&
    `Secret ${namespace}/${made} is made by the program certificates, or by you: look at \`kubectl logs -n ${namespace} deployment/certificates\`.`
  )
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
