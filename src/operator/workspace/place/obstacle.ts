import { STAGES } from '../actual-state/index.ts'

/** The steps to a running workspace, in order; each is a condition. */
export const STEPS = [
  'ClassResolved',
  'ProjectFound',
  'DevfileValid',
  'TargetReady',
  'Applied',
  ...STAGES,
  'DeploymentReady',
] as const
export type ConditionStep = (typeof STEPS)[number]

/** Why a step cannot be done now. */
export interface Obstacle {
  step: ConditionStep
  reason: string
  message: string
  remedy: string
  /** A name to look for: what will bring the workspace further. Without it the user must act. */
  waitingFor?: string
  /** It is being done, and only takes long: nothing has failed. */
  isUnderWay?: true
}

export const isObstacle = (found: object): found is Obstacle => 'step' in found

/** The arguments stand in the order in which a person reads them. */
export function obstacleAt(step: ConditionStep, reason: string, message: string, remedy: string, waitingFor?: string): Obstacle {
  return { step, reason, message, remedy, ...(waitingFor !== undefined && { waitingFor }) }
}

/** A condition that is False. */
export const notTrue = (type: string, reason: string, message: string) => ({ type, status: 'False', reason, message }) as const
