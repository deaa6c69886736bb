import { pause, seconds, systemClock } from '../../../src/std/index.ts'
import { load, print, quantile, since, spreadOf } from '../figures.ts'
import { peakDuring, wallClock } from '../part.ts'
import type { Stage, Way } from './stage.ts'
import { ANSWER_BYTES, exchange } from './work.ts'

const MB = 10 ** 6
/** Turns of each way: what else goes on on the machine is to hit all of them. */
const ROUNDS = 3

interface Run {
  requests: number
  seconds: number
  /** Of all processes, the bench too. */
  cpu: number
  latencies: number[]
}

/** Requests a second, how long one takes, and what it costs all processes. */
export async function small(stage: Stage, length: number): Promise<void> {
  const { ways } = stage
  for (const way of Object.values(ways)) await requests(stage, way, 8, 1)
  for (const workers of [1, 64]) {
    const runs: Record<keyof Stage['ways'], Run[]> = { routed: [], floor: [], direct: [] }
    for (let round = 0; round < ROUNDS; round++) {
      runs.direct.push(await requests(stage, ways.direct, workers, length / ROUNDS))
      runs.floor.push(await requests(stage, ways.floor, workers, length / ROUNDS))
      runs.routed.push(await requests(stage, ways.routed, workers, length / ROUNDS))
    }
    const [direct, floor, routed] = [runs.direct, runs.floor, runs.routed].map(sumOf)
    if (!direct || !floor || !routed) return
    for (const [name, run] of Object.entries({ direct, floor, routed }))
      print(`small, ${workers} at once, ${name}`, {
        'requests/s': run.requests / run.seconds,
        'CPU ms each': (run.cpu / run.requests) * 1000,
        ...spreadOf(run.latencies),
      })
    const added = (q: number) => quantile(routed.latencies, q) - quantile(direct.latencies, q)
    print(`small, ${workers} at once`, {
      'p50 / floor': quantile(routed.latencies, 0.5) / quantile(floor.latencies, 0.5),
      'time / floor': routed.seconds / routed.requests / (floor.seconds / floor.requests),
      'CPU / floor': routed.cpu / routed.requests / (floor.cpu / floor.requests),
      'added p50 ms': added(0.5),
      'added p99 ms': added(0.99),
      load: load(),
    })
  }
}

const sumOf = (runs: readonly Run[]): Run => ({
  requests: runs.reduce((sum, run) => sum + run.requests, 0),
  seconds: runs.reduce((sum, run) => sum + run.seconds, 0),
  cpu: runs.reduce((sum, run) => sum + run.cpu, 0),
  latencies: runs.flatMap(({ latencies }) => latencies),
})

async function requests(stage: Stage, way: Way, workers: number, length: number): Promise<Run> {
  const latencies: number[] = []
  const spent = await cpuOf(stage)
  const began = performance.now()
  const work = async () => {
    while (since(began) < length) {
      const asked = performance.now()
      const bytes = await exchange(await way())
      if (bytes !== ANSWER_BYTES) throw new Error(`the answer had ${bytes} bytes, not ${ANSWER_BYTES}`)
      latencies.push(performance.now() - asked)
    }
  }
  await Promise.all(Array.from({ length: workers }, work))
  const took = since(began)
  return { requests: latencies.length, seconds: took, cpu: (await cpuOf(stage)) - spent, latencies }
}

async function cpuOf({ parts }: Stage): Promise<number> {
  const { user, system } = process.cpuUsage()
  const theirs = await Promise.all(parts.map((part) => part.cpu()))
  return theirs.reduce((sum, cpu) => sum + cpu, (user + system) / 1e6)
}

const LATE = 10

/**
 * Agents that connect so many seconds after a request for each of them was made, one after the other: from the moment when one
 * begins to connect until its answer is here.
 */
export async function awaited({ agent, to }: Stage, after: number): Promise<void> {
  const ids = Array.from({ length: LATE }, (_, n) => n + 2)
  const answers = ids.map((id) => to(id)().then(exchange).then(wallClock))
  await pause(systemClock, seconds(after))
  const waits: number[] = []
  for (const [at, answered] of answers.entries()) {
    const { connecting } = await agent.tell(String(ids[at]))
    waits.push((await answered) - Number(connecting))
  }
  print(`an agent that connects ${after} s later`, { ...spreadOf(waits), load: load() })
}

/** Reads this long at this pace when it is slow. Seconds, and MB in one. */
const SLOW = { length: 10, rate: 4 }

export async function stream(stage: Stage, megabytes: number): Promise<void> {
  const { ways } = stage
  const runs: Record<string, number> = {}
  for (const [name, way] of Object.entries({ direct: ways.direct, floor: ways.floor, routed: ways.routed })) {
    const spent = await cpuOf(stage)
    const [began, peak] = [performance.now(), await peakDuring(stage.parts, () => read(way, megabytes * MB))]
    runs[name] = since(began)
    const figures = { 'MB/s': megabytes / since(began), 'CPU ms per MB': (((await cpuOf(stage)) - spent) / megabytes) * 1000 }
    print(`${megabytes} MB, fast, ${name}`, { ...figures, ...peak })
  }
  print('fast', { 'time / floor': (runs.routed ?? 0) / (runs.floor ?? 1), load: load() })
  print(`${SLOW.rate} MB/s, slow, routed`, await peakDuring(stage.parts, () => readSlowly(ways.routed)))
}

async function read(way: Way, bytes: number): Promise<void> {
  const call = await way(bytes)
  call.closeSend()
  let left = bytes
  for await (const data of call.responses) left -= data.length
  if (left > 0) throw new Error(`${left} bytes are missing`)
}

async function readSlowly(way: Way): Promise<void> {
  const call = await way(2 ** 40)
  call.closeSend()
  const began = performance.now()
  let bytes = 0
  for await (const data of call.responses) {
    bytes += data.length
    if (since(began) > SLOW.length) break
    await pause(systemClock, Math.max(0, seconds(bytes / MB / SLOW.rate) - (performance.now() - began)))
  }
}
