import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { kill } from 'node:process'

/** A process that has ended and that nobody has waited for does not count. */
export function isAlive(pid: number): boolean {
  try {
    // Signal 0 asks without touching.
    return kill(pid, 0) && !isZombie(pid)
  } catch (thrown) {
    // "Not permitted": it is there, and somebody else's.
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM'
  }
}

/** Its first thread may end before the others, which hold its ports until they have, too. */
function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')) && readdirSync(`/proc/${pid}/task`).length === 1
  } catch {
    return false
  }
}

/** A process that is not there has got what it was to get, also when it ends between a look and the signal. */
export function sendSignal(pid: number, name: NodeJS.Signals): void {
  if (!isAlive(pid)) return
  try {
    kill(pid, name)
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')) throw thrown
  }
}

/** The process works in this folder. A number is given again after its process has ended; a server never moves. */
export function worksIn(pid: number, dir: string): boolean {
  if (!isAlive(pid)) return false
  if (!existsSync('/proc/self')) return true // no Linux: the number has to do
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === dir
  } catch {
    return false
  }
}
