import { BEFORE_START } from './causes-before-start.ts'
import { OF_CLONES } from './causes-of-clones.ts'
import { OF_CONTAINERS } from './causes-of-containers.ts'
import type { TroubleCause } from './wait-limits.ts'

/** Everything that is known to go wrong, by its reason. */
export const CAUSES = { ...BEFORE_START, ...OF_CLONES, ...OF_CONTAINERS }
export type TroubleReason = keyof typeof CAUSES

export const causeOf = (reason: TroubleReason): TroubleCause => CAUSES[reason]
