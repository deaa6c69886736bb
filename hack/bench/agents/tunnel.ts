import type { IncomingMessage } from 'node:http'
import { pause, seconds, systemClock } from '../../../src/std/index.ts'
import { load, print, since } from '../figures.ts'
import { peakDuring } from '../part.ts'
import { get, type Setup } from './setup.ts'

const MIB = 2 ** 20
/** Turns of each way: what else goes on on the machine is to hit all of them. */
const ROUNDS = 3
/** MiB in a second, and how long it reads nothing at all at first, seconds. */
const SLOW = { rate: 40, rest: 3 }

/** So many MiB of a log from the cluster of an agent. The floor: the same over as many hops of plain HTTP. */
export async function tunnel(setup: Setup, mebibytes: number): Promise<void> {
  const [kas] = await setup.startKas(1)
  if (!kas) return
  const source = await setup.start('source')
  const relay = await setup.start('relay', (await setup.start('relay', source.address)).address)
  const agent = await setup.startAgent(kas, source.address)
  const logOf = (count: number) => `/api/v1/namespaces/x/pods/y/log?limitBytes=${count * MIB}`
  const ways = {
    direct: (count: number) => get(`http://${source.address}${logOf(count)}`),
    floor: (count: number) => get(`http://${relay.address}${logOf(count)}`),
    tunnel: (count: number) => setup.ask(kas, 0, logOf(count)),
  }
  for (const way of Object.values(ways)) await read(await way(16), 16)
  const took: Record<string, number> = {}
  const grown: Record<string, number> = {}
  const part = Math.ceil(mebibytes / ROUNDS)
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, way] of Object.entries(ways)) {
      const began = performance.now()
      const peak = await peakDuring([kas, agent], async () => read(await way(part), part))
      took[name] = (took[name] ?? 0) + since(began)
      if (name === 'tunnel') for (const [key, value] of Object.entries(peak)) grown[key] = Math.max(grown[key] ?? 0, value)
    }
  for (const [name, time] of Object.entries(took)) print(`${mebibytes} MiB, fast, ${name}`, { 'MiB/s': (ROUNDS * part) / time })
  print('  fast', { 'time / floor': (took.tunnel ?? 0) / (took.floor ?? 1), ...grown, load: load() })
  const slow = await peakDuring([kas, agent], async () => readSlowly(await ways.tunnel(mebibytes), mebibytes))
  print(`${mebibytes} MiB, slow, tunnel`, { 'MiB/s': SLOW.rate, ...slow, load: load() })
}

async function read(answer: IncomingMessage, mebibytes: number): Promise<void> {
  let bytes = 0
  for await (const chunk of answer) bytes += chunk.length
  check(answer, bytes, mebibytes)
}

async function readSlowly(answer: IncomingMessage, mebibytes: number): Promise<void> {
  await pause(systemClock, seconds(SLOW.rest))
  const began = performance.now()
  let bytes = 0
  for await (const chunk of answer) {
    bytes += chunk.length
    const ahead = seconds(bytes / MIB / SLOW.rate) - (performance.now() - began)
    if (ahead > 50) await pause(systemClock, ahead)
  }
  check(answer, bytes, mebibytes)
}

function check({ statusCode }: IncomingMessage, bytes: number, mebibytes: number): void {
  if (statusCode !== 200 || bytes !== mebibytes * MIB) throw new Error(`answer ${statusCode} with ${bytes} bytes`)
}
