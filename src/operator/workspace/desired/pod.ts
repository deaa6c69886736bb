import type { V1PodSpec } from '@kubernetes/client-node'
import type { Container } from '../../../devfile/index.ts'
import { containerOf, stepContainerOf } from './containers.ts'
import { objectNameOf } from './names.ts'
import { withPodOverrides } from './overrides.ts'
import { MAIN, selectorOf } from './parts.ts'
import type { Addition, Plan } from './plan.ts'
import { pullSecretsOf } from './pull-secrets.ts'
import { timeFor } from './scripts.ts'
import { usesLasting, volumesOf } from './volumes.ts'

/** In the pod template: a later time makes new pods. */
export const RESTARTED_AT = 'berth.dev/restarted-at'

/** Any user but root; images for workspaces let any user of group 0 work. */
const USER = 5001
const GROUP = 0
const GRACE_SECONDS = 10

export interface PodParts {
  /** Whether it is the workspace, or beside it. */
  isMain: boolean
  /** Seconds that it may take to become ready. */
  startLimit: number
  /** Run one after another before the others, at this event. */
  steps: readonly Container[]
  event?: 'prestart' | 'poststop'
  /** Run as long as the pod does. */
  containers: readonly Container[]
  additions: readonly Addition[]
}

/** A pod of a workspace: nobody is root in it, and it has no way to the target's API. */
export function podOf(plan: Plan, { isMain, startLimit, steps, event = 'prestart', containers, additions }: PodParts): V1PodSpec {
  const { settings, workspace } = plan
  const pullSecrets = pullSecretsOf(plan).map(({ metadata }) => ({ name: metadata.name }))
  const needsVolume = !isMain && containers.some((container) => usesLasting(plan, container))
  const name = objectNameOf(workspace)
  const first = additions.flatMap((addition) => addition.initContainers ?? [])
  const initContainers = [...first, ...steps.map((each, i) => stepContainerOf(plan, each, additions, `${event}-${i + 1}`))]
  const pod: V1PodSpec = {
    serviceAccountName: name,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    ...(pullSecrets.length > 0 && { imagePullSecrets: pullSecrets }),
    // The volume is for one node at a time.
    ...(needsVolume && { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [besideMain(plan)] } } }),
    terminationGracePeriodSeconds: GRACE_SECONDS + timeFor(plan, 'preStop', containers),
    ...(settings.useKubernetesUserNamespaces && { hostUsers: false }),
    ...(settings.defaultRuntimeClass && { runtimeClassName: settings.defaultRuntimeClass }),
    securityContext: {
      runAsNonRoot: true,
      runAsUser: USER,
      // Without it, a user of that number in the image would bring a group of its own.
      runAsGroup: GROUP,
      fsGroup: GROUP,
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    },
    volumes: [
      ...volumesOf(plan, [...steps, ...containers], isMain || needsVolume),
      ...additions.flatMap(({ volumes = [] }) => volumes),
    ],
    ...(initContainers.length > 0 && { initContainers }),
    containers: [
      ...containers.map((container) => containerOf(plan, { container, additions, startLimit })),
      ...additions.flatMap(({ beside = [] }) => beside),
    ],
  }
  return withPodOverrides(pod, plan.devfile, [...steps, ...containers])
}

const besideMain = ({ workspace }: Plan) => ({
  labelSelector: { matchLabels: selectorOf(workspace, MAIN) },
  topologyKey: 'kubernetes.io/hostname',
})
