import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Failure, pause, systemClock } from '../../src/std/index.ts'

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts')

/** `berth operator` as a process of its own: what the bench itself holds is not counted. */
export interface OperatorProgram {
  /** Milliseconds from the start until every cache had its first list. */
  listed: number
  /** Milliseconds from the start until every object was looked at and nothing waited any more. */
  synced: number
  figures(): Promise<Figures>
  stop(): Promise<void>
}

export interface Figures {
  /** Requests so far by verb. */
  requests: Record<string, number>
  reconciles: number
  /** MB. */
  rss: number
  peak: number
  heap: number
  external: number
}

/** Without leader election, so that every request that is counted was made for an object. */
export async function startOperator(kubeconfig: string, flags: readonly string[] = []): Promise<OperatorProgram> {
  const began = performance.now()
  const command = [...flags, MAIN, 'operator', '--kubeconfig', kubeconfig, '--operations', '127.0.0.1:0', '--no-leader-election']
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] })
  const address = await addressOf(child)
  while (!(await fetch(`http://${address}/readyz`)).ok) await pause(systemClock, 50)
  const listed = performance.now() - began
  await untilCalm(address)
  const synced = performance.now() - began - CALM
  return {
    listed,
    synced,
    figures: async () => ({ ...figuresIn(await metricsOf(address)), ...memoryOf(child.pid ?? 0) }),
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Failure('internal', 'the operator has no output')
  for await (const line of createInterface(child.stdout)) {
    const { message, operations } = JSON.parse(line)
    if (message !== 'operator started') continue
    child.stdout.resume()
    return operations
  }
  throw new Failure('unavailable', 'the operator ended while it started')
}

const metricsOf = async (address: string): Promise<string> => (await fetch(`http://${address}/metrics`)).text()

/** So long must nothing wait and nothing be done, milliseconds. */
const CALM = 1000

async function untilCalm(address: string): Promise<void> {
  for (let last = -1; ; ) {
    const { reconciles, waiting } = figuresIn(await metricsOf(address))
    if (reconciles > 0 && reconciles === last && waiting === 0) return
    last = reconciles
    await pause(systemClock, CALM)
  }
}

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
  }
}

/** As the kernel counts it. Linux only; zeros elsewhere. */
function memoryOf(pid: number): { rss: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const megabytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024
  return { rss: megabytes('VmRSS'), peak: megabytes('VmHWM') }
}
