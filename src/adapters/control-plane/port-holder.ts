import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import { isTaken } from './servers/folder.ts'

/** A process that listens on a port. */
export interface PortHolder {
  pid: number
  /** The name of its program, without the rest of its command line, which is nobody's business. */
  program: string
  /** The folder in which it works. */
  dir: string
  /** That is one which Berth has taken. */
  isBerth: boolean
}

/** Who listens on a port of this machine; nothing where the system does not say it, or not to us. */
export function holderOf(port: number): PortHolder | undefined {
  const sockets = new Set(['tcp', 'tcp6'].flatMap((name) => listenersIn(`/proc/net/${name}`, port)))
  if (sockets.size === 0) return undefined
  for (const name of namesIn('/proc')) {
    const pid = Number(name)
    if (Number.isInteger(pid) && namesIn(`/proc/${name}/fd`).some((fd) => sockets.has(linkAt(`/proc/${name}/fd/${fd}`))))
      return told(pid)
  }
  return undefined
}

function told(pid: number): PortHolder {
  const dir = linkAt(`/proc/${pid}/cwd`)
  const [program = ''] = textOf(`/proc/${pid}/cmdline`).split('\0')
  return { pid, program: basename(program), dir, isBerth: isTaken(dir) }
}

const LISTENS = '0A'

/** The sockets, as links to them are called, that listen on a port; see proc(5). */
function listenersIn(file: string, port: number): string[] {
  const rows = textOf(file).split('\n').slice(1)
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode] = row.trim().split(/\s+/)
    return state === LISTENS && Number.parseInt(local.split(':')[1] ?? '', 16) === port ? [`socket:[${inode}]`] : []
  })
}

const textOf = (file: string): string => orEmpty(() => readFileSync(file, 'utf8'), '')
const linkAt = (file: string): string => orEmpty(() => readlinkSync(file), '')
const namesIn = (folder: string): string[] => orEmpty(() => readdirSync(folder), [])

/** Not everywhere is there such a file, processes end meanwhile, and those of others keep theirs to themselves. */
function orEmpty<T>(read: () => T, empty: T): T {
  try {
    return read()
  } catch {
    return empty
  }
}
