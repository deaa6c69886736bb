import { type ChildProcess, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { pause, systemClock } from '../../src/std/index.ts'
import { memoryOf } from './program.ts'

type Facts = Record<string, string | number>

/** One process of a bench, which is not one of Berth's programs. */
export interface Part {
  name: string
  pid: number
  address: string
  facts: Facts
  /** Says a line to it; gives what it answers. */
  tell(line: string): Promise<Facts>
  /** Seconds of a processor that it has used. */
  cpu(): Promise<number>
  /** MB that it holds now. */
  rss(): number
  stop(): Promise<void>
}

/** Starts `program --part …` as a process that ends with its input; gives it once it has said its first line. */
export async function startPart(
  program: string,
  name: string,
  given: readonly string[],
  flags: readonly string[] = [],
): Promise<Part> {
  const child = spawn(process.execPath, [...flags, program, '--part', ...given], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const hear = async (): Promise<Facts> => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`${name} has ended`)
    return JSON.parse(value)
  }
  const { pid = 0 } = child
  const facts = await hear()
  return {
    name,
    pid,
    address: String(facts.address),
    facts,
    tell(line) {
      child.stdin.write(`${line}\n`)
      return hear()
    },
    cpu: () => cpuOf(pid),
    rss: () => memoryOf(pid).rss,
    stop: () => ended(child),
  }
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.stdin?.end()
  })

/** Of ticks of 10 ms, as the kernel counts them. Linux only. */
async function cpuOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
  return (Number(user) + Number(system)) / 100
}

/** What a part says to the bench: lines of JSON on its output. */
export const say = (facts: Facts): void => void process.stdout.write(`${JSON.stringify(facts)}\n`)

/** Hears what the bench says to a part, until the bench ends. */
export async function untilTheEnd(onLine: (line: string) => void = () => undefined): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) onLine(line)
  process.exit()
}

/** Milliseconds, the same in all processes. */
export const wallClock = (): number => performance.timeOrigin + performance.now()

/** By how much each process grew at most meanwhile, looked at ten times a second. MB. */
export async function peakDuring(
  processes: readonly { name: string; rss(): number }[],
  work: () => Promise<unknown>,
): Promise<Record<string, number>> {
  const before = new Map(processes.map((one) => [one, one.rss()]))
  const most = new Map(before)
  const over = new AbortController()
  const watch = async () => {
    while (!over.signal.aborted) {
      for (const one of processes) most.set(one, Math.max(most.get(one) ?? 0, one.rss()))
      await pause(systemClock, 100, over.signal)
    }
  }
  const watched = watch()
  try {
    await work()
  } finally {
    over.abort()
    await watched
  }
  return Object.fromEntries(processes.map((one) => [`${one.name} +MB`, (most.get(one) ?? 0) - (before.get(one) ?? 0)]))
}
