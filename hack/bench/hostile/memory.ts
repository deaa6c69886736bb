import { readdirSync, readFileSync } from 'node:fs'
import { Failure } from '../../../src/std/index.ts'
import type { Program } from '../program.ts'
import { regularly } from '../waiting.ts'

/** What `deploy` gives the operator, and kas, MiB. */
export const LIMIT = 1024
/** What Node takes for its heap, at most, in a container with that limit. */
export const LIKE_SHIPPED = [`--max-old-space-size=${LIMIT / 2}`]

const OFTEN = 100

export interface Scale {
  /** The most that the program and all that it started had at one time, MiB. */
  readonly most: number
  /** Of that, what the program itself had. */
  readonly own: number
  /** And how many processes it had started. */
  readonly started: number
  stop(): void
}

/**
 * Weighs a program with everything that it started, ten times a second, as a container would count them: resident memory that is no file's,
 * and what several share but once.
 */
export function weigh(name: string, { pid }: Program, exceeded: (failure: Failure) => void): Scale {
  let top = { most: 0, own: 0, started: 0 }
  const look = () => {
    const [own = 0, ...started] = treeOf(pid).map(anonymousOf)
    const has = started.reduce((sum, one) => sum + one, own)
    if (has > top.most) top = { most: has, own, started: started.length }
    if (has > LIMIT)
      exceeded(new Failure('too-large', `${name} had ${Math.round(has)} MiB; in its container it would have ended`))
  }
  const stop = regularly(OFTEN, look)
  return {
    get most() {
      return top.most
    },
    get own() {
      return top.own
    },
    get started() {
      return top.started
    },
    stop,
  }
}

function treeOf(root: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    const parent = pid > 0 ? parentOf(pid) : undefined
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid])
  }
  const tree = [root]
  for (const pid of tree) tree.push(...(children.get(pid) ?? []))
  return tree
}

function parentOf(pid: number): number | undefined {
  const text = textOf(`/proc/${pid}/stat`)
  // The name of the program is in parentheses, and may have some in it.
  return text ? Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]) : undefined
}

const anonymousOf = (pid: number): number =>
  Number(/^Pss_Anon:\s+(\d+) kB/m.exec(textOf(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) / 1024

/** Nothing for a process that has ended meanwhile. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // It ended between two looks.
    return ''
  }
}
