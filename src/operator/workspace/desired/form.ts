import type { Deployment } from '../../../api/index.ts'
import { IDLE_SCRIPT } from './idle.ts'
import type { WorkspacePlan } from './plan.ts'

/**
 * Pods of workspaces are made otherwise by each version of Berth, and an upgrade is to start nobody's pod again. So the form of a pod
 * has a number, which its Deployment keeps: what runs keeps the form that it has, and whatever makes another pod anyway takes the
 * newest. Everything that depends on the number is in this file.
 *
 * 0: as it was before there were numbers.
 * 1: idle containers end when they are asked to; a pod beside the main one waits for the clone before it has the projects; none
 * starts while the one before it ends; Berth's own containers keep to what the class allows a workspace; the one that clones has a
 * name for its user; and another runner of commands makes no other pod.
 * 2: commands of several containers at the start keep the order of the devfile.
 */
const NEWEST = 2

/** On a Deployment, not on its pods: a version that does not know it makes no other pods because of it. */
const FORM = 'berth.dev/pod-form'

type Formed = Pick<WorkspacePlan, 'form'>

const isAtLeast = ({ form = NEWEST }: Formed, least: number): boolean => form >= least

/** Says on a Deployment by which form it is made. */
export const formAnnotation = (plan: Formed): Record<string, string> =>
  isAtLeast(plan, 1) ? { [FORM]: String(plan.form ?? NEWEST) } : {}

/** The form of what there is, as far as it may be kept; nothing where a pod is made anyway. */
export function formToKeep(live: Deployment | undefined, isToRun: boolean): number | undefined {
  const form = Number(live?.metadata.annotations?.[FORM] ?? 0)
  const isStart = isToRun && live?.spec?.replicas === 0
  return live && !isStart && Number.isInteger(form) && form >= 0 && form < NEWEST ? form : undefined
}

/** Keeps a container there for people. */
export const idleCommand = (plan: Formed): string[] =>
  isAtLeast(plan, 1) ? ['sh', '-c', IDLE_SCRIPT] : ['tail', '-f', '/dev/null']

/** Says whether a pod knows its runner by the text of it. */
export const isMadeAnewForRunner = (plan: Formed): boolean => !isAtLeast(plan, 1)

/** Says whether a pod beside the main one that has the projects waits until they are cloned. */
export const awaitsClone = (plan: Formed): boolean => isAtLeast(plan, 1)

/** Says whether a pod with the volume starts on no node while another in its place is there. */
export const isAlone = (plan: Formed): boolean => isAtLeast(plan, 1)

/** Says whether Berth's own containers keep to what the class allows a workspace. */
export const fitsMaxima = (plan: Formed): boolean => isAtLeast(plan, 1)

/** Says whether the container that clones has a name for its user. */
export const hasNamedUser = (plan: Formed): boolean => isAtLeast(plan, 1)

/** Says whether commands of several containers keep their order at the start. */
export const takesTurns = (plan: Formed): boolean => isAtLeast(plan, 2)
