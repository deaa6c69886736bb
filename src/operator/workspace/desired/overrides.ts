import type { V1Container, V1PodSpec } from '@kubernetes/client-node'
import type { Container, Devfile } from '../../../devfile/index.ts'
import { CONTAINER_OVERRIDES, fieldsIn, isOwnResource, POD_OVERRIDES } from '../../../engines/devfiles/index.ts'
import { isRecord } from '../../../std/index.ts'

type Values = Record<string, unknown>

/** By these, elements of a list are found that are overridden; other lists are replaced as a whole. */
const KEYS: Readonly<Record<string, string>> = { topologySpreadConstraints: 'topologyKey', hostAliases: 'ip' }

/** A strategic merge patch: mappings are merged, lists too where they have a key, and `null` takes away. */
function patched<T extends object>(base: T, patch: Values): T {
  const is = new Map<string, unknown>(Object.entries(base))
  const changes = Object.entries(patch).map(([name, value]) => [name, patchedValue(name, is.get(name), value)])
  return { ...base, ...Object.fromEntries(changes) }
}

function patchedValue(name: string, is: unknown, value: unknown): unknown {
  if (value === null) return undefined
  if (isRecord(value)) return patched(isRecord(is) ? is : {}, value)
  const key = KEYS[name]
  if (!key || !Array.isArray(is) || !Array.isArray(value)) return value
  const keyOf = (each: unknown) => (isRecord(each) ? each[key] : undefined)
  return [...is.filter((each) => !value.some((other) => keyOf(other) === keyOf(each))), ...value]
}

/** A container with what its component says of it, apart from what `withResources` has taken over already. */
export function withContainerOverrides(base: V1Container, { attributes }: Container): V1Container {
  const { resources: _, ...patch } = fieldsIn(attributes[CONTAINER_OVERRIDES])
  const others = ['requests', 'limits'].flatMap((side) => {
    const rest = Object.entries(fieldsIn(attributes[CONTAINER_OVERRIDES], 'resources', side)).filter(
      ([name]) => !isOwnResource(name),
    )
    return rest.length > 0
      ? [[side, Object.fromEntries(rest.map(([name, value]) => [name, value === null ? null : String(value)]))]]
      : []
  })
  return patched(base, others.length > 0 ? { ...patch, resources: Object.fromEntries(others) } : patch)
}

/** The pod of these containers with what they, and then the whole devfile, say of it. */
export function withPodOverrides(base: V1PodSpec, devfile: Devfile, containers: readonly Container[]): V1PodSpec {
  const whole = overridesOf(devfile, containers).reduce<V1PodSpec>((so, each) => patched(so, fieldsIn(each, 'spec')), base)
  const grace = Math.max(base.terminationGracePeriodSeconds ?? 0, whole.terminationGracePeriodSeconds ?? 0)
  const affinity = { ...whole.affinity, ...withTerms(base, whole, 'podAffinity'), ...withTerms(base, whole, 'podAntiAffinity') }
  return { ...whole, terminationGracePeriodSeconds: grace, ...(base.affinity && { affinity }) }
}

/** What the volume demands of where the pod is stays, whatever else it wants. */
function withTerms(base: V1PodSpec, whole: V1PodSpec, kind: 'podAffinity' | 'podAntiAffinity') {
  const own = base.affinity?.[kind]?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  if (own.length === 0) return {}
  const wanted = whole.affinity?.[kind]?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  const required = [...own, ...wanted.filter((each) => !own.includes(each))]
  return { [kind]: { ...whole.affinity?.[kind], requiredDuringSchedulingIgnoredDuringExecution: required } }
}

/** The users that its pods are to run as instead of the usual one. */
export const usersIn = (devfile: Devfile): number[] =>
  overridesOf(devfile, devfile.containers).flatMap((each) => {
    const { runAsUser } = fieldsIn(each, 'spec', 'securityContext')
    return typeof runAsUser === 'number' ? [runAsUser] : []
  })

/** Those of Berth stay as they are: their names cannot be overridden. */
export const podAnnotationsOf = (devfile: Devfile, containers: readonly Container[]): Record<string, string> =>
  Object.fromEntries(
    overridesOf(devfile, containers).flatMap((each) =>
      Object.entries(fieldsIn(each, 'metadata', 'annotations')).map(([key, value]) => [key, String(value)]),
    ),
  )

/** One that starts as a step and runs later, too, says it once. */
const overridesOf = ({ attributes }: Devfile, containers: readonly Container[]): unknown[] =>
  [...new Set([...containers.map((each) => each.attributes[POD_OVERRIDES]), attributes[POD_OVERRIDES]])].filter(isRecord)
