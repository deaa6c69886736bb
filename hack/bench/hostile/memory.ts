import { readFile } from 'node:fs/promises'
import { familyOf } from '../../../src/adapters/processes/index.ts'
import { Failure } from '../../../src/std/index.ts'
import { LIMIT } from '../../../test/support/shipped-limit.ts'
import type { Program } from '../program.ts'
import { regularly } from '../waiting.ts'

const OFTEN = 100

/** What a program had when it had the most. */
export interface Weight {
  /** With all that it had started, MiB. */
  most: number
  /** Of that, by itself. */
  own: number
  /** How many processes it had started. */
  started: number
}

export interface Scale {
  readonly top: Weight
  stop(): void
}

/**
 * Weighs a program with everything that it started, ten times a second, as a container would count them: resident memory that is no file's,
 * and what several share but once.
 */
export function weigh(name: string, { pid }: Program, exceeded: (failure: Failure) => void): Scale {
  let top: Weight = { most: 0, own: 0, started: 0 }
  const look = async () => {
    const { ids } = familyOf(pid)
    const [own = 0, ...started] = await Promise.all(ids.map(anonymousOf))
    const most = started.reduce((sum, one) => sum + one, own)
    if (most > top.most) top = { most, own, started: started.length }
    if (most > LIMIT)
      exceeded(new Failure('too-large', `${name} had ${Math.round(most)} MiB; in its container it would have ended`))
  }
  const stop = regularly(OFTEN, look)
  return {
    get top() {
      return top
    },
    stop,
  }
}

/** Nothing for a process that has ended meanwhile. */
async function anonymousOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  return Number(/^Pss_Anon:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1024
}
