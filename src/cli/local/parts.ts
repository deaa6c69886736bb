import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endServer, lastWords, launch, type Server, worksIn } from '../../adapters/control-plane/index.ts'
import { Failure, isRecord, minutes, pause, recordIn, seconds, systemClock } from '../../std/index.ts'
import type { Shell } from '../shell.ts'
import { forMachine } from './network.ts'

/** A program of Berth that runs beside this one, working in the folder of a local installation. */
export interface LocalPart {
  name: string
  pid: number
  /** It said this of itself when it was up: addresses, mostly, as this machine reaches them. */
  facts: Record<string, string>
  /** It is being ended on purpose, perhaps by another process. */
  ending?: boolean
}

export interface PartOptions {
  dir: string
  name: string
  /** The program with its arguments. */
  command: readonly [string, ...string[]]
  /** The constant message of the log line that says it is up. */
  up: string
  /** That of a later line, where only that says that it does its work. */
  works?: string | undefined
  detached: boolean
  /** The whole environment of the program; that of this process without it. */
  env?: Shell['env'] | undefined
  signal: AbortSignal
}

/** A machine that does much else has taken 30 s. What ends while it starts is told at once. */
const STARTS_WITHIN = minutes(2)

/** Starts a part and waits until its log says that it is up; the log begins anew. */
export async function startPart(plan: PartOptions): Promise<LocalPart> {
  const { dir, name, command, detached, env } = plan
  const [program, ...flags] = command
  const log = logOf(dir, name)
  mkdirSync(join(dir, 'logs'), { recursive: true })
  writeFileSync(log, '', { mode: 0o600 })
  const server = await launch({ name, program, flags, dir, log, detached, env })
  remember(dir, { name, pid: server.pid, facts: {} })
  const said = Object.entries(await factsOf(plan, server)).map(([fact, text]) => [fact, forMachine(text)])
  const part = { name, pid: server.pid, facts: Object.fromEntries(said) }
  remember(dir, part)
  return part
}

async function factsOf({ dir, name, up, works = up, signal }: PartOptions, server: Server): Promise<Record<string, string>> {
  const log = logOf(dir, name)
  const deadline = systemClock.now() + STARTS_WITHIN
  while (systemClock.now() < deadline) {
    const said = readFileSync(log, 'utf8')
    const facts = saidIn(said, up)
    if (facts && saidIn(said, works)) return facts
    if (signal.aborted) throw new Failure('cancelled', `stopped while ${name} started`)
    if (server.hasExited())
      throw new Failure('unavailable', `${name} ended while it started${lastWords(log)}`, { remedy: `Its log is ${log}.` })
    await pause(systemClock, 30, signal)
  }
  throw new Failure('timeout', `${name} did not start within ${STARTS_WITHIN / 1000} s${lastWords(log)}`, {
    remedy: `Its log is ${log}.`,
  })
}

/** The texts of the first JSON line whose message is this one. */
function saidIn(log: string, message: string): Record<string, string> | undefined {
  for (const line of log.split('\n')) {
    const fields = recordIn(line)
    if (fields?.message !== message) continue
    return Object.fromEntries(Object.entries(fields).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])))
  }
  return undefined
}

export const isRunning = (dir: string, { pid }: LocalPart): boolean => worksIn(pid, dir)

/** The programs that were started in the folder, in the order of the start. */
export function partsOf(dir: string): LocalPart[] {
  const file = stateOf(dir)
  if (!existsSync(file)) return []
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
  return Array.isArray(value) ? value.filter(isPart) : []
}

const isPart = (value: unknown): value is LocalPart => isRecord(value) && 'name' in value && 'pid' in value && 'facts' in value

/** Ends them, the last started first. Answers whether one was running. */
export async function endParts(dir: string): Promise<boolean> {
  const running = partsOf(dir).filter((part) => isRunning(dir, part))
  for (const part of running) rememberEnding(dir, part)
  for (const { pid } of running.reverse()) await endServer(pid, seconds(5))
  rmSync(stateOf(dir), { force: true })
  return running.length > 0
}

/** A full disk must not keep it running. */
function rememberEnding(dir: string, part: LocalPart): void {
  try {
    remember(dir, { ...part, ending: true })
  } catch {
    // A process that watches it takes its end for a failure.
  }
}

/** Written beside and renamed: whoever reads meanwhile sees the old list or the new one. */
function remember(dir: string, part: LocalPart): void {
  const parts = [...partsOf(dir).filter(({ name }) => name !== part.name), part]
  writeFileSync(`${stateOf(dir)}.new`, JSON.stringify(parts, undefined, 2))
  renameSync(`${stateOf(dir)}.new`, stateOf(dir))
}

const stateOf = (dir: string): string => join(dir, 'parts.json')

export const logOf = (dir: string, name: string): string => join(dir, 'logs', `${name}.log`)
