import type { Execution } from './execute.ts'

export interface Verdict {
  passed: number
  failed: number
  /** Tests that were not run, and what this machine lacks for them. */
  leftOut?: { count: number; why: string }
  /** What is wrong with the file as a whole, beside its failed tests. */
  complaint?: string
}

/** What uvu prints at the end of a file; what was skipped is no part of the total. Later summaries of one process win over what a test itself may have printed. */
const SUMMARY = /^ {2}Total: +(\d+)\n {2}Passed: +(\d+)\n {2}Skipped: +(\d+)$/gm

/** What a suite prints that leaves itself out. */
const LEFT_OUT = /^LEFT OUT (.+)$/m

/** A check counts as one test. */
export function verdictOfCheck({ code, cut }: Execution): Verdict {
  if (code === 0 && !cut) return { passed: 1, failed: 0 }
  return { passed: 0, failed: 1, ...(cut ? { complaint: cut } : {}) }
}

/** Exit code 0 proves nothing: a file passes when its runner counted tests, all passed, and the process ended well. */
export function verdictOfTests({ output, code, cut }: Execution): Verdict {
  const summary = [...output.matchAll(SUMMARY)].at(-1)
  if (!summary) return { passed: 0, failed: 1, complaint: cut ?? `ended with ${code ?? 'a signal'} before any summary` }
  const [total = 0, passed = 0, skipped = 0] = summary.slice(1).map(Number)
  const failed = total - passed
  if (total + skipped === 0) return { passed: 0, failed: 1, complaint: 'has no tests' }
  if (cut) return { passed, failed: failed + 1, complaint: cut }
  if (failed === 0 && code !== 0)
    return { passed, failed: 1, complaint: `all tests passed, but it ended with ${code ?? 'a signal'}` }
  const [, why = 'nobody said why'] = LEFT_OUT.exec(output) ?? []
  return { passed, failed, ...(skipped > 0 && { leftOut: { count: skipped, why } }) }
}
