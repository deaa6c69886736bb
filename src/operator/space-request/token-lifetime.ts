import { durationOf } from '../../std/index.ts'

const DEFAULT = '24h'

/** `1h30m` in seconds, as a TokenRequest wants it. */
export const secondsOf = (duration: string = DEFAULT): number => durationOf(duration) / 1000
