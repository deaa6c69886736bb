import { existsSync, readdirSync, readlinkSync } from 'node:fs'

/** Ends what works in a folder or below: programs that a test file started apart, and that it could not end when it was ended itself. */
export function endAllIn(folder: string): void {
  if (!existsSync('/proc/self')) return // No Linux.
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (`${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${folder}/`)) process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  }
}
