import type { Cache, Kube } from '../../src/adapters/kube/index.ts'
import type { KubeObject } from '../../src/api/index.ts'
import { Failure, minutes, pause, seconds, systemClock } from '../../src/std/index.ts'
import type { Figures, Program } from './program.ts'

/** Looks again after each change of the cache. What takes longer than this is not measured but broken. */
export function until<T extends KubeObject>(cache: Cache<T>, holds: () => boolean, what: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const cancel = systemClock.after(LONGEST, () => reject(new Failure('timeout', `not within ${LONGEST / 60_000} min: ${what}`)))
  const look = () => {
    if (holds()) resolve()
  }
  const end = cache.onChange(look)
  look()
  return promise.finally(() => {
    cancel()
    end()
  })
}

const LONGEST = minutes(10)

/** Looks every so many milliseconds, until it is stopped. */
export function regularly(milliseconds: number, look: () => void | Promise<void>): () => void {
  const ending = new AbortController()
  const go = async () => {
    for (; !ending.signal.aborted; await pause(systemClock, milliseconds, ending.signal)) await look()
  }
  void go()
  return () => ending.abort()
}

/** Waits until the operator and kas have sent nothing for a while. */
export async function untilSilent(programs: readonly Program[]): Promise<void> {
  for (let last = -1; ; ) {
    const counts = await Promise.all(programs.map(async ({ figures }) => (await figures()).metric('berth_api_requests_total')))
    const sum = counts.reduce((all, each) => all + each, 0)
    if (sum === last) return
    last = sum
    await pause(systemClock, seconds(4))
  }
}

/** Server-side applies that the API server has answered, by its own count: nobody's who applies. */
export const appliesOf = (user: Kube, resource: string): Promise<number> =>
  serverMetric(
    user,
    (line) =>
      line.startsWith('apiserver_request_total{') && line.includes(`resource="${resource}"`) && line.includes('verb="APPLY"'),
  )

/** Seconds of CPU that the API server has used by now: what a run costs it, however busy the machine is with other things. */
export const serverCpu = (user: Kube): Promise<number> =>
  serverMetric(user, (line) => line.startsWith('process_cpu_seconds_total '))

/** The sum of what the API server says in these lines of its metrics. */
export async function serverMetric(user: Kube, isMeant: (line: string) => boolean): Promise<number> {
  const lines = await user.stream('/metrics', { accept: 'text/plain' })
  let sum = 0
  for await (const line of lines) if (isMeant(line)) sum += Number(line.slice(line.lastIndexOf(' ') + 1))
  return sum
}

/** What all of them together have used by now; CPU time says the same on a busy machine as on a quiet one. */
export async function footprintOf(programs: readonly Program[]): Promise<Record<string, number | string>> {
  const figures = await Promise.all(programs.map((program) => program.figures()))
  const sum = (of: (one: Figures) => number) => figures.reduce((all, one) => all + of(one), 0)
  const each = figures.map(({ rss, heap }) => `${Math.round(rss)} (heap ${Math.round(heap)})`)
  return {
    'CPU s': sum((one) => one.metric('process_cpu_seconds_total')),
    'RSS MB': sum(({ rss }) => rss),
    'peak MB': sum(({ peak }) => peak),
    'each MB': each.join(' + '),
  }
}
