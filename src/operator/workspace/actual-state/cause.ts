import type { StepName } from './evidence.ts'

/** One thing that goes wrong. */
export interface Cause {
  step: StepName
  /** The rest of a sentence that begins with the name of what is in trouble. */
  what: string
  /** One sentence for whoever owns the workspace. */
  remedy: string
  patience: number
}

/** Whom to ask about what the owner of a workspace cannot change. */
export const ADMIN = "an administrator of the target's cluster"
