import type { ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { seconds, systemClock } from '../../../std/index.ts'

const PAUSE = seconds(0.1)

/**
 * Ends a child that takes more memory than it may, where the kernel says how much that is (Linux). Looking ten times a second
 * lets a greedy one take a little more; what it never does is to take the machine.
 */
export function guardMemory(child: ChildProcess, bytes: number): { readonly isExceeded: boolean } {
  const guard = { isExceeded: false }
  let cancel: () => void = () => undefined
  const look = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const used = await residentBytes(child.pid)
    if (used > bytes) {
      guard.isExceeded = true
      child.kill('SIGKILL')
    } else cancel = systemClock.after(PAUSE, () => void look())
  }
  child.once('close', () => cancel())
  cancel = systemClock.after(PAUSE, () => void look())
  return guard
}

/** `VmRSS:     123 kB`; zero where it cannot be read, as when the process has just ended. */
async function residentBytes(pid: number | undefined): Promise<number> {
  try {
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) * 1024
  } catch {
    return 0
  }
}
