import { durationOf, seconds } from '../../../std/index.ts'

/** `1h30m` in milliseconds, at least ten seconds; the schema has checked the text. */
export const intervalOf = (text = '10m'): number => Math.max(durationOf(text), seconds(10))
