import type { ProgressReport } from '../adapters/control-plane/index.ts'
import { harmlessLine } from '../std/index.ts'
import { wrap } from './output.ts'
import type { Shell } from './shell.ts'

const BAR = 24
const CLEAR = '\r\u001B[K'

/**
 * Lines, broken at `width` where one is given, and a progress bar on standard error. Where it cannot redraw a line, each tenth of
 * the way is a line.
 */
export function reportTo(shell: Pick<Shell, 'say' | 'lively'>, width?: number): ProgressReport {
  let barIsUp = false
  let tenth = -1
  const drop = () => {
    if (barIsUp) shell.say(CLEAR)
    barIsUp = false
  }
  return {
    line(text) {
      drop()
      const lines = width === undefined ? [harmlessLine(text)] : wrap(text, width)
      shell.say(`${lines.join('\n')}\n`)
    },
    progress({ what: given, done, total }) {
      const what = harmlessLine(given)
      const share = total > 0 ? Math.min(1, done / total) : 0
      if (shell.lively) {
        shell.say(`${CLEAR}${barOf(share)} ${what}`.slice(0, 78 + CLEAR.length))
        barIsUp = share < 1
        if (!barIsUp) shell.say('\n')
        return
      }
      if (Math.floor(share * 10) === tenth) return
      tenth = Math.floor(share * 10)
      shell.say(`${String(Math.floor(share * 100)).padStart(3)} % ${what}\n`)
    },
  }
}

function barOf(share: number): string {
  const full = Math.round(share * BAR)
  return `[${'#'.repeat(full)}${'.'.repeat(BAR - full)}] ${String(Math.floor(share * 100)).padStart(3)} %`
}
