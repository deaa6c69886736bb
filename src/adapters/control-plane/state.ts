import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { Failure, isRecord } from '../../std/index.ts'
import { type Layout, layoutOf } from './servers/layout.ts'
import { worksIn } from './servers/processes.ts'
import { endServer } from './servers/server.ts'

/** A later process has to know this about a control plane that this one started. */
interface State {
  server: string
  port: number
  /** Process ids by the name of the server, in the order of their start. */
  pids: Record<string, number>
}

export function writeState(layout: Layout, state: State): void {
  const beside = `${layout.state}.new`
  writeFileSync(beside, `${JSON.stringify(state, null, 2)}\n`)
  renameSync(beside, layout.state)
}

function readState({ state }: Layout): State | undefined {
  if (!existsSync(state)) return undefined
  try {
    const value: unknown = JSON.parse(readFileSync(state, 'utf8'))
    return isState(value) ? value : undefined
  } catch (thrown) {
    throw new Failure('invalid', `${state} cannot be read`, { cause: thrown, remedy: 'Remove the folder if nothing runs in it.' })
  }
}

const isState = (value: unknown): value is State => isRecord(value) && 'server' in value && 'port' in value && 'pids' in value

/** `undefined` where no control plane ever was, or where it was stopped. `dead` are the servers that are not there any more. */
export function statusOf(dir: string) {
  if (!existsSync(dir)) return
  const layout = layoutOf(dir)
  const state = readState(layout)
  if (!state) return
  const dead = Object.keys(state.pids).filter((name) => !worksIn(state.pids[name] ?? 0, dir))
  return {
    running: dead.length < Object.keys(state.pids).length,
    kubeconfig: layout.kubeconfig,
    authority: layout.authority,
    server: state.server,
    /** Pods run on a real node. */
    hasNode: 'node' in state.pids,
    dead,
  }
}

/** The kind of nodes that the cluster in a folder has had since its first start; `undefined` where there was none. */
export function nodesIn(dir: string): 'real' | 'simulated' | undefined {
  const { node, data } = layoutOf(dir)
  if (!existsSync(data)) return undefined
  return existsSync(node) ? 'real' : 'simulated'
}

/** Ends whatever still runs of an earlier start, the last started first. The data stays. */
export async function endServersOf(layout: Layout): Promise<boolean> {
  const state = readState(layout)
  const running = Object.values(state?.pids ?? {}).filter((pid) => worksIn(pid, layout.dir))
  for (const pid of running.reverse()) await endServer(pid)
  rmSync(layout.state, { force: true })
  return running.length > 0
}
