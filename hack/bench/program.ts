import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { kill } from 'node:process'
import { endServer, lastWords, worksIn } from '../../src/adapters/control-plane/index.ts'
import { startPart } from '../../src/cli/local/parts.ts'
import { Failure, pause, seconds, systemClock } from '../../src/std/index.ts'

const ROOT = join(import.meta.dirname, '../..')
const SOURCES = join(ROOT, 'src/cli/main.ts')
const BUILT = join(ROOT, 'dist/cli/main.js')

/** How Node runs a program. */
export interface Running {
  flags?: readonly string[]
  /** As `npm run build` made it: stripping types from the sources takes some 20 MB. */
  isBuilt?: boolean
  /** What stands in front of the command of the program with this name. */
  enter?: (name: string) => readonly [string, ...string[]]
}

/** A program of Berth as a process of its own: what the bench itself holds is not counted. It dies with the bench, however that ends. */
export interface Program {
  readonly pid: number
  /** What it said of itself when it was up: addresses. */
  readonly facts: Readonly<Record<string, string>>
  figures(): Promise<Figures>
  /** SIGKILL: it cannot tidy up. */
  kill(): Promise<void>
  stop(): Promise<void>
}

export interface OperatorProgram extends Program {
  /** Milliseconds from the start until every cache had its first list. */
  listed: number
  /** Milliseconds from the start until every object was looked at and nothing waited any more. */
  synced: number
}

export interface Figures {
  /** Requests so far by verb. */
  requests: Record<string, number>
  reconciles: number
  /** Keys that wait in some queue. */
  waiting: number
  /** MB. */
  rss: number
  peak: number
  heap: number
  external: number
  /** The sum of all series of this name. */
  metric(name: string): number
}

/** What was asked of targets, watches too. */
export const targetRequestsIn = ({ metric }: Figures): number => metric('berth_target_requests_total')

/** Everything that was asked, watches too. */
export const requestsIn = ({ requests }: Figures): number => Object.values(requests).reduce((sum, each) => sum + each, 0)

/** For each of so many. */
export const askedSince = (before: Figures, after: Figures, count: number): Record<string, number> => ({
  'requests each': (requestsIn(after) - requestsIn(before)) / count,
  'to targets each': (targetRequestsIn(after) - targetRequestsIn(before)) / count,
  'reconciles each': (after.reconciles - before.reconciles) / count,
})

export interface ProgramPlan extends Running {
  name: 'operator' | 'kas' | 'agent'
  /** Beside others of the same program it needs a name of its own. */
  as?: string
  kubeconfig: string
  options: readonly string[]
}

/** Its log lies in the folder of the control plane, and goes away with it. */
export async function startProgram({
  name,
  as = name,
  kubeconfig,
  options,
  flags = [],
  isBuilt,
  enter,
}: ProgramPlan): Promise<Program> {
  const dir = dirname(kubeconfig)
  const words = name === 'agent' ? ['agent', 'run'] : [name]
  const given = [isBuilt ? BUILT : SOURCES, ...words, '--kubeconfig', kubeconfig, '--operations', '127.0.0.1:0', ...options]
  const command: [string, ...string[]] = [process.execPath, ...flags, ...given]
  const { pid, facts } = await startPart({
    dir,
    name: as,
    command: enter ? [...enter(as), ...command] : command,
    up: `${name} started`,
    detached: false,
    signal: new AbortController().signal,
  })
  while (!(await fetch(`http://${facts.operations}/readyz`)).ok) await pause(systemClock, 20)
  return {
    pid,
    facts,
    figures: async () => {
      if (!worksIn(pid, dir)) throw new Failure('unavailable', `${as} has ended${lastWords(`${dir}/logs/${as}.log`)}`)
      return { ...figuresIn(await metricsOf(facts.operations ?? '')), ...memoryOf(pid) }
    },
    async kill() {
      kill(pid, 'SIGKILL')
      while (worksIn(pid, dir)) await pause(systemClock, 5)
    },
    stop: () => endServer(pid, seconds(20)),
  }
}

/** Without leader election, so that every request that is counted was made for an object. */
export async function startOperator(
  kubeconfig: string,
  options: readonly string[] = [],
  running: Running = {},
): Promise<OperatorProgram> {
  const began = performance.now()
  const given = ['--no-leader-election', ...options]
  const program = await startProgram({ ...running, name: 'operator', kubeconfig, options: given })
  const listed = performance.now() - began
  await untilCalm(program)
  return { ...program, listed, synced: performance.now() - began - CALM }
}

/** So long must nothing wait and nothing be done, milliseconds. */
const CALM = 1000

export async function untilCalm({ figures }: Program): Promise<void> {
  for (let last = -1; ; ) {
    const { reconciles, waiting } = await figures()
    if (reconciles === last && waiting === 0) return
    last = reconciles
    await pause(systemClock, CALM)
  }
}

const metricsOf = async (address: string): Promise<string> => (await fetch(`http://${address}/metrics`)).text()

const MB = 2 ** 20

function figuresIn(text: string) {
  const rows = text.split('\n').map((line) => /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line))
  const named = (name: RegExp) => rows.flatMap((row) => (row && name.test(row[1] ?? '') ? [row] : []))
  const sum = (name: RegExp) => named(name).reduce((all, row) => all + Number(row[3]), 0)
  const requests: Record<string, number> = {}
  for (const [, , labels = '', value] of named(/^berth_api_requests_total$/)) {
    const verb = /verb="(\w+)"/.exec(labels)?.[1] ?? ''
    requests[verb] = (requests[verb] ?? 0) + Number(value)
  }
  return {
    requests,
    reconciles: sum(/^berth_reconciles_total$/),
    waiting: sum(/^berth_queue_depth_/),
    heap: sum(/^nodejs_heap_size_used_bytes$/) / MB,
    external: sum(/^nodejs_external_memory_bytes$/) / MB,
    metric: (name: string) => sum(new RegExp(`^${name}$`)),
  }
}

/** As the kernel counts it. Linux only; zeros elsewhere. */
export function memoryOf(pid: number): { rss: number; peak: number } {
  const file = `/proc/${pid}/status`
  const status = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const megabytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024
  return { rss: megabytes('VmRSS'), peak: megabytes('VmHWM') }
}
