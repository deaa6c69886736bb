import { readFileSync } from 'node:fs'
import { recordIn } from '../../std/index.ts'

const LONGEST = 200

/** Follows the message that a program ended: a colon and the complaint in the last line of its log; nothing if it does not complain. */
export function lastWords(log: string): string {
  const complaint = complaintIn(lastLines(log, 1).replace(/^berth: /, ''))
  const shown = complaint.length > LONGEST ? `${complaint.slice(0, LONGEST)} …` : complaint
  return shown && `: ${shown}`
}

/** The line of a program that was killed is about something else: it says so by its level, where it has one. */
function complaintIn(line: string): string {
  const record = recordIn(line)
  if (record) return isFault(record) ? [record.message ?? record.msg, record.error].filter(Boolean).join(': ') : ''
  const [, letter, text = line] = KLOG.exec(line) ?? []
  return letter === 'I' ? '' : text
}

/** As pino writes levels, and as zap and slog do. */
const isFault = ({ level = 'info' }: Record<string, unknown>): boolean =>
  typeof level === 'number' ? level >= 40 : !/^(debug|info)$/i.test(String(level))

/** The header of Kubernetes' programs: level and date, time, thread, file and line. */
const KLOG = /^([IWEF])\d{4} [\d:.]+ +\d+ \S+\] (.*)$/

export const lastLines = (log: string, count = 5): string => {
  try {
    return readFileSync(log, 'utf8').trim().split('\n').slice(-count).join('\n')
  } catch {
    return ''
  }
}
