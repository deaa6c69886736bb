/**
 * Texts of objects in a cluster are written by strangers: an escape in them could move the cursor, hide a line or set the title
 * of a person's terminal, and a direction mark could make a word read as another one. They are shown, not obeyed.
 * Found in spec R27; https://nvd.nist.gov/vuln/detail/CVE-2022-36035 shows a command line that trusted a cluster.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const HARMFUL = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g

/** One or more lines of text in which nothing speaks to the terminal; what would is written as `\u001b`. */
export const harmless = (text: string): string => text.replace(HARMFUL, escaped)

/** The same on one line: a space stands for each end of a line with the blanks around it. */
export function harmlessLine(text: string): string {
  const [first = '', ...others] = harmless(text).split('\n')
  const last = others.pop()
  if (last === undefined) return first
  return [first.trimEnd(), ...others.map((line) => line.trim()).filter(Boolean), last.trimStart()].join(' ')
}

export const isHarmless = (text: string): boolean => harmless(text) === text

const escaped = (character: string): string =>
  character === '\t' ? ' ' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
