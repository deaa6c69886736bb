/** What the process of test files writes between what they print: where a file begins, with its folder for temporary things, where it ends and what it took. */
export type Mark = { begin: string; folder: string } | { end: string; ms: number; cpuMs: number; code: number }

const SIGN = '\u0002test '

/** Whether this part of an output has a mark, or the beginning of one, or what uvu prints of a test that is done. */
export const hasProgress = (part: string): boolean => [SIGN, '• ', '✘ '].some((sign) => part.includes(sign))

/** As a line of its own, whatever was printed before it. */
export const lineOf = (mark: Mark): string => `\n${SIGN}${JSON.stringify(mark)}\n`

/** The marks of an output in order, each with what was printed after it. */
export function marksIn(output: string): { mark: Mark; after: string }[] {
  return output
    .split(`\n${SIGN}`)
    .slice(1)
    .map((piece) => {
      const end = piece.indexOf('\n')
      return { mark: JSON.parse(piece.slice(0, end)), after: piece.slice(end + 1) }
    })
}
