import { readdirSync, readlinkSync } from 'node:fs'

/** The processes that work in the folder: every server and program of an installation does. */
export function processesIn(dir: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => worksBelow(pid, dir))
}

function worksBelow(pid: number, dir: string): boolean {
  try {
    const folder = readlinkSync(`/proc/${pid}/cwd`)
    return folder === dir || folder.startsWith(`${dir}/`)
  } catch {
    return false // it has ended meanwhile, or is somebody else's
  }
}
