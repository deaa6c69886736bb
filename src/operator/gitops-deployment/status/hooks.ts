import type { Entry } from '../../../engines/gitops/index.ts'

/** A hook that ran and failed: nothing is wrong with how it was applied. */
export const isHookFailed = ({ failure }: Entry): boolean => failure?.reason === 'HookFailed'

/** A hook in words of others that Berth does not run, and does not apply either. */
export const isNotRun = ({ failure }: Entry): boolean => failure?.reason === 'HookNotRun'

/** The schema takes so many characters. */
export const messageOf = ({ why = '' }: Entry): string => why.slice(0, 1024)
