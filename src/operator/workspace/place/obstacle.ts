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

type ObstacleText = Pick<Obstacle, 'message' | 'remedy' | 'waitingFor'>

/** The scanner of hack/reference finds reasons only in the calls of plain functions with a parameter of that name. */
export function obstacleAt(step: ConditionStep, reason: string, text: ObstacleText): Obstacle {
  return { step, reason, ...text }
}

export function classObstacle(reason: string, text: ObstacleText): Obstacle {
  return obstacleAt('ClassResolved', reason, text)
}

export function devfileObstacle(reason: string, text: ObstacleText): Obstacle {
  return obstacleAt('DevfileValid', reason, text)
}

export function targetObstacle(reason: string, text: ObstacleText): Obstacle {
  return obstacleAt('TargetReady', reason, text)
}
