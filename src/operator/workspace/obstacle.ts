import { STAGES } from './actual-state/index.ts'

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
export type Step = (typeof STEPS)[number]

/** Why a step cannot be done now. */
export interface Obstacle {
  step: Step
  reason: string
  message: string
  remedy: string
  /** What will bring it further, where something will: a name to look for. Without it the user must act. */
  waitingFor?: string
  /** It is being done, and only takes long: nothing has failed. */
  isUnderWay?: true
}

export const isObstacle = (found: object): found is Obstacle => 'step' in found
