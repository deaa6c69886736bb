import type { V1Probe } from '@kubernetes/client-node'
import type { Container } from '../../../devfile/index.ts'
import { type EventStep, longest, stepsOf, takersOf } from '../../../engines/devfiles/index.ts'
import { takesTurns } from './form.ts'
import { partsOf } from './parts.ts'
import type { Addition, WorkspacePlan } from './plan.ts'
import { probeOf } from './probes.ts'

const VOLUME = 'workspace-turns'
/** A folder that ends with the pod, for the marks by which its containers know whose turn it is. */
export const TURNS = '/.workspace-data/turns'
/** The commands of all containers, as files. */
export const SCRIPTS = '/.workspace-data/scripts'
export const WAITER = 'await-turns'

/** How several containers of the main pod keep the order of the commands at its start. */
export interface Turns {
  /** All that have a part, as the devfile has them. */
  containers: string[]
  /** The one that does not count as started before all are done, and that is started again when a command has failed. */
  keeper: string
  /** Who has a part in each step. */
  steps: string[][]
}

/** Nothing where one container has all commands, or where each has a probe of its own: a container has no two that it starts with. */
export function turnsOf(plan: WorkspacePlan): Turns | undefined {
  const { workspace, devfile } = plan
  if (!takesTurns(plan)) return undefined
  const [main] = partsOf(workspace, devfile)
  const steps = takersOf(devfile, 'postStart', main.containers)
  const taking = main.containers.filter(({ name }) => steps.some((takers) => takers.includes(name)))
  const keeper = taking.findLast((container) => probeOf(plan, container, 0) === undefined)
  return taking.length > 1 && keeper ? { containers: taking.map(({ name }) => name), keeper: keeper.name, steps } : undefined
}

/** Words behind each step of a container: its own mark, and those that it waits for. */
export const marksOf = ({ steps }: Turns, container: string): string[] =>
  steps.flatMap((takers, i) => {
    if (!takers.includes(container)) return []
    const before = (steps[i - 1] ?? []).map((name) => markOf(i, name))
    return [[markOf(i + 1, container), ...before].join(' ')]
  })

const markOf = (step: number, container: string): string => `${step}.${container}`

/** Seconds that all steps may take, one after the other. */
export function longestOf({ devfile }: WorkspacePlan, { steps, containers }: Turns): number {
  const own = devfile.containers.filter(({ name }) => containers.includes(name))
  const parts = new Map(own.map((container) => [container.name, stepsOf(devfile, 'postStart', container)]))
  const next = (name: string): EventStep => parts.get(name)?.shift() ?? []
  return steps.reduce((sum, takers) => sum + Math.max(...takers.map((name) => longest([next(name)]))), 0)
}

/** The folder, for those that have a part. */
export function turnsAdditions(plan: WorkspacePlan): Addition[] {
  const { containers = [] } = turnsOf(plan) ?? {}
  const mounts = [{ name: VOLUME, mountPath: TURNS }]
  return containers.map((only, i) => ({ only, mounts, ...(i === 0 && { volumes: [{ name: VOLUME, emptyDir: {} }] }) }))
}

/**
 * Waits for all commands, once, and ends its container at the first that has failed. A hook that waited would keep the kubelet from
 * whatever else the pod needs, such as another start of the container that is waited for.
 */
export function turnsProbeOf(plan: WorkspacePlan, { name }: Container, limit: number): V1Probe | undefined {
  const turns = turnsOf(plan)
  if (turns?.keeper !== name) return undefined
  const others = turns.containers.filter((each) => each !== name)
  const command = ['sh', `${SCRIPTS}/${WAITER}`, TURNS, '/dev/termination-log', '/proc/1/fd/2', name, ...others]
  return { exec: { command }, periodSeconds: 1, failureThreshold: 1, timeoutSeconds: limit }
}

/** Says whether a container that has begun does not count as started until all commands are done. */
export const awaitsTurns = (probe: V1Probe | undefined): boolean => probe?.exec?.command?.[1] === `${SCRIPTS}/${WAITER}`
