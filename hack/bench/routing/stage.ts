import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Connection, type Duplex, dial } from '../../../src/adapters/grpc/index.ts'
import { memoryOf } from '../program.ts'
import { AGENT, BYTES, FLOOR, METHOD, VIA } from './work.ts'

/** One process of the bench. */
export interface Part {
  name: string
  address: string
  facts: Record<string, string | number>
  /** Says a line to it; gives what it answers. */
  tell(line: string): Promise<Record<string, string | number>>
  /** Seconds of a processor that it has used. */
  cpu(): Promise<number>
  /** MB that it holds now. */
  rss(): number
  stop(): Promise<void>
}

/** A way from the bench to the agent. */
export type Way = (bytes?: number) => Promise<Duplex<Uint8Array, Uint8Array>>

export interface Stage {
  /** Gateway, routing kas and agent. */
  parts: readonly Part[]
  agent: Part
  ways: { routed: Way; floor: Way; direct: Way }
  /** Through both kas to the agent of this number, once it is connected. */
  to(agent: number): Way
  close(): Promise<void>
}

/** A gateway, a kas that routes, and agent 1, which is connected to the gateway only. `flags` are Node's. */
export async function setStage(flags: readonly string[]): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-bench-routing-'))
  const secret = join(folder, 'secret')
  await writeFile(secret, randomBytes(32).toString('base64'))
  const gateway = await startPart('gateway', flags, ['kas', secret])
  const routing = await startPart('routing', flags, ['kas', secret, String(gateway.facts.privateApi)])
  const agent = await startPart('agent', flags, ['agent', gateway.address])
  const parts = [gateway, routing, agent]
  const [toRouting, toAgent] = [routing, agent].map(({ address }) => dial({ address }))
  const call = (connection: Connection | undefined, method: string, key: string, value: string): Way => {
    if (!connection) throw new Error('the stage is not set')
    return (bytes) => {
      const metadata = { [key]: [value], ...(bytes === undefined ? {} : { [BYTES]: [String(bytes)] }) }
      return connection.duplexRaw(method, { metadata })
    }
  }
  const to = (id: number) => call(toRouting, METHOD, AGENT, String(id))
  await agent.tell('1')
  return {
    parts,
    agent,
    ways: {
      routed: to(1),
      floor: call(toRouting, FLOOR, VIA, `${gateway.address} ${agent.address}`),
      direct: call(toAgent, FLOOR, VIA, ''),
    },
    to,
    async close() {
      for (const connection of [toRouting, toAgent]) connection?.close()
      for (const part of parts) await part.stop()
      await rm(folder, { recursive: true })
    },
  }
}

async function startPart(name: string, flags: readonly string[], given: readonly string[]): Promise<Part> {
  const program = join(import.meta.dirname, '../routing.ts')
  const child = spawn(process.execPath, [...flags, program, '--part', ...given], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const hear = async (): Promise<Record<string, string | number>> => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`${name} has ended`)
    return JSON.parse(value)
  }
  const { pid = 0 } = child
  const facts = await hear()
  return {
    name,
    address: String(facts.address),
    facts,
    tell(line) {
      child.stdin.write(`${line}\n`)
      return hear()
    },
    cpu: () => cpuOf(pid),
    rss: () => memoryOf(pid).rss,
    stop: () => ended(child),
  }
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.stdin?.end()
  })

/** Of ticks of 10 ms, as the kernel counts them. Linux only. */
async function cpuOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
  return (Number(user) + Number(system)) / 100
}
