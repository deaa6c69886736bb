import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ControlPlane, ServerName } from '../../src/adapters/control-plane/index.ts'
import { isAlive } from '../../src/adapters/control-plane/servers/processes.ts'
import { isRecord, recordIn } from '../../src/std/index.ts'
import { eventually } from './verbs.ts'

/** Its id, as the control plane has written it down for later processes. */
function pidOf({ dir }: ControlPlane, name: ServerName): number {
  const pids = recordIn(readFileSync(join(dir, 'control-plane.json'), 'utf8'))?.pids
  return isRecord(pids) ? Number(pids[name]) : Number.NaN
}

/** SIGKILL, as the kernel sends it when memory runs out. */
export async function killServer(plane: ControlPlane, name: ServerName): Promise<void> {
  const pid = pidOf(plane, name)
  process.kill(pid, 'SIGKILL')
  await eventually(() => !isAlive(pid))
}

/** From then on it neither answers nor closes anything, until it is resumed. */
export async function freezeServer(plane: ControlPlane, name: ServerName): Promise<void> {
  const pid = pidOf(plane, name)
  process.kill(pid, 'SIGSTOP')
  await eventually(() => standsStill(pid))
}

export const resumeServer = (plane: ControlPlane, name: ServerName): boolean => process.kill(pidOf(plane, name), 'SIGCONT')

/** Whether every thread stands still: SIGSTOP is sent at once and takes effect a moment later. Off Linux nobody can tell. */
function standsStill(pid: number): boolean {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    return threads.every((thread) => /\) T /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')))
  } catch {
    return true
  }
}
