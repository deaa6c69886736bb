import type { V1PodSpec } from '@kubernetes/client-node'
import { type CoreSecret, Secrets } from '../../../api/index.ts'
import type { Container } from '../../../devfile/index.ts'
import { containerOf, stepContainerOf } from './containers.ts'
import { envelope } from './envelope.ts'
import { isAlone } from './form.ts'
import { digest, objectNameOf } from './names.ts'
import { withPodOverrides } from './overrides.ts'
import { MAIN, selectorOf } from './parts.ts'
import type { Addition, WorkspacePlan } from './plan.ts'
import { POD_SECURITY } from './rights.ts'
import { timeFor } from './scripts.ts'
import { usesLasting, volumesOf } from './volumes.ts'

/** In the pod template: a later time makes new pods. */
export const RESTARTED_AT = 'berth.dev/restarted-at'

const GRACE_SECONDS = 10

export interface PodParts {
  /** It is the workspace, and not beside it. */
  isMain: boolean
  /** The part that it is, where there is to be one such pod at a time. */
  part?: string
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
export function podOf(
  plan: WorkspacePlan,
  { isMain, part, startLimit, steps, event = 'prestart', containers, additions }: PodParts,
): V1PodSpec {
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
    ...affinityOf(plan, needsVolume, isMain || needsVolume ? part : undefined),
    terminationGracePeriodSeconds: GRACE_SECONDS + timeFor(plan, 'preStop', containers),
    ...(settings.useKubernetesUserNamespaces && { hostUsers: false }),
    ...(settings.defaultRuntimeClass && { runtimeClassName: settings.defaultRuntimeClass }),
    securityContext: POD_SECURITY,
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

/** Where it may be, for the sake of the volume: that is for one node at a time, and for one pod of each part. */
function affinityOf(plan: WorkspacePlan, isBeside: boolean, part: string | undefined): Pick<V1PodSpec, 'affinity'> {
  const near = (one: string, topologyKey: string) => ({
    requiredDuringSchedulingIgnoredDuringExecution: [
      { labelSelector: { matchLabels: selectorOf(plan.workspace, one) }, topologyKey },
    ],
  })
  const isApart = part !== undefined && isAlone(plan)
  if (!isBeside && !isApart) return {}
  return {
    affinity: {
      ...(isBeside && { podAffinity: near(MAIN, 'kubernetes.io/hostname') }),
      // Every node has this label, so that no node takes a pod while the one before it ends on any.
      ...(isApart && { podAntiAffinity: near(part, 'kubernetes.io/os') }),
    },
  }
}

/** On a copy: the state of the Secret that it was copied from. */
const SOURCE_VERSION = 'berth.dev/source-version'

/** Copies of the class's credentials for registries, for this workspace alone. */
export function pullSecretsOf(plan: WorkspacePlan): CoreSecret[] {
  return (plan.pullSecrets ?? []).map(({ metadata, type = '', data = {} }) => {
    const source = digest(`${metadata.namespace}/${metadata.name}/${type}`).slice(0, 8)
    const { metadata: own, ...rest } = envelope(plan, Secrets, `${objectNameOf(plan.workspace)}-pull-${source}`)
    const version = `${metadata.uid}/${metadata.resourceVersion}`
    return { ...rest, metadata: { ...own, annotations: { ...own.annotations, [SOURCE_VERSION]: version } }, type, data }
  })
}
