export interface Timed {
  title: string
  ms: number
  cpuMs?: number | undefined
}

const SHOWN = 40

/** What took longest, with the sums of all, as a table. */
export function timesTable(times: Timed[]): string {
  const rows = times
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, SHOWN)
    .map(({ title, ms, cpuMs }) => row(inSeconds(ms), cpuMs === undefined ? '-' : inSeconds(cpuMs), title))
  const sum = (of: (timed: Timed) => number) => inSeconds(times.reduce((all, each) => all + of(each), 0))
  return [
    row('wall s', 'cpu s', ''),
    ...rows,
    row(
      sum(({ ms }) => ms),
      sum(({ cpuMs = 0 }) => cpuMs),
      'all together, without what was started and outlived its file',
    ),
  ].join('\n')
}

const inSeconds = (ms: number) => (ms / 1000).toFixed(1)
const row = (wall: string, cpu: string, title: string) => `${wall.padStart(8)} ${cpu.padStart(8)}  ${title}`.trimEnd()
