import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { Failure, pause, seconds, systemClock } from '../../../std/index.ts'
import { isAlive, sendSignal } from './processes.ts'

/** One running program. */
export interface Server {
  name: string
  pid: number
  /** It is gone, and so is the process that kept it. */
  hasExited(): boolean
}

export interface Launch {
  name: string
  program: string
  flags: readonly string[]
  dir: string
  log: string
  /** true: the server outlives this process. false: it dies with it, whatever kills it. */
  detached: boolean
  /** The whole environment of the server; that of this process without it. */
  env?: Record<string, string | undefined> | undefined
}

/**
 * Runs the server and ends it when stdin closes, which the kernel sees to even when the parent is killed with -9.
 * It prints the server's process id. The reader is a process of its own, because `wait` cannot wait for two things;
 * while it lives, so does the shell, or at least the server's entry in the process table: the id cannot be another's.
 * A server that was killed can't say so: its log says it here.
 */
const KEEPER = `
exec 3<&0
"$@" </dev/null >&2 3<&- & server=$!
echo "$server"; exec >&-
{ read -r _ <&3; kill -KILL "$server"; } 2>/dev/null & reader=$!
exec 3<&-
wait "$server" 2>/dev/null; code=$?
[ "$code" -ne 137 ] || echo 'killed (SIGKILL)' >&2
kill "$reader" 2>/dev/null
exit "$code"`

export async function launch(what: Launch): Promise<Server> {
  const log = openSync(what.log, 'a', 0o600)
  try {
    return what.detached ? await alone(what, log) : await kept(what, log)
  } finally {
    closeSync(log)
  }
}

/** In a session of its own, so that Ctrl-C in the terminal reaches only us, and we stop the servers in good order. */
async function kept({ name, program, flags, dir, env }: Launch, log: number): Promise<Server> {
  const keeper = spawn('sh', ['-c', KEEPER, 'keeper', program, ...flags], {
    cwd: dir,
    env,
    detached: true,
    stdio: ['pipe', 'pipe', log],
  })
  const end = ended(keeper)
  keeper.stdin?.on('error', () => undefined)
  const pid = await new Promise<number>((resolve, reject) => {
    keeper.once('error', (thrown) => reject(Failure.from(thrown, name)))
    keeper.stdout?.once('data', (text: Buffer) => resolve(Number(text.toString())))
    keeper.stdout?.once('end', () => reject(new Failure('internal', `${name} did not start`)))
  })
  keeper.unref()
  keeper.stdout?.destroy()
  return { name, pid, ...end }
}

async function alone({ name, program, flags, dir, env }: Launch, log: number): Promise<Server> {
  const child = spawn(program, flags, { cwd: dir, env, detached: true, stdio: ['ignore', log, log] })
  const end = ended(child)
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (thrown) => reject(Failure.from(thrown, name)))
  })
  child.unref()
  return { name, pid: child.pid ?? 0, ...end }
}

function ended(child: ChildProcess): Pick<Server, 'hasExited'> {
  let over = false
  child.once('exit', () => {
    over = true
  })
  return { hasExited: () => over }
}

/** Asks first, insists after `grace`. */
export async function endServer(pid: number, grace = seconds(3)): Promise<void> {
  sendSignal(pid, 'SIGCONT')
  sendSignal(pid, 'SIGTERM')
  await untilGone(pid, grace)
  sendSignal(pid, 'SIGKILL')
  await untilGone(pid, grace)
}

async function untilGone(pid: number, patience: number): Promise<void> {
  const deadline = systemClock.now() + patience
  while (isAlive(pid) && systemClock.now() < deadline) await pause(systemClock, 20)
}

export const logOf = (logs: string, name: string): string => join(logs, `${name}.log`)
