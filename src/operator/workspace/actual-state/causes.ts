import type { Cause } from './cause.ts'
import { BEFORE_START } from './causes-before-start.ts'
import { OF_CLONES } from './causes-of-clones.ts'
import { OF_CONTAINERS } from './causes-of-containers.ts'

/** Everything that is known to go wrong, by its reason. */
export const CAUSES = { ...BEFORE_START, ...OF_CLONES, ...OF_CONTAINERS }
export type Reason = keyof typeof CAUSES

export const causeOf = (reason: Reason): Cause => CAUSES[reason]
