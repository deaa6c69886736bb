import { harmless } from '../std/index.ts'

/** Matches what we ourselves say to a terminal: the colours of shell.ts, and the line that report.ts redraws. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OURS = /(\u001B\[(?:1|2|22|31|32|33|36|39)m|\r\u001B\[K)/

/** The last net below every verb: whatever it prints, only our own colours and the redrawn line get through. */
export const netted = (text: string): string =>
  text
    .split(OURS)
    .map((part, at) => (at % 2 === 1 ? part : harmless(part)))
    .join('')
