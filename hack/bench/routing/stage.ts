import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Duplex, dial, type GrpcConnection } from '../../../src/adapters/grpc/index.ts'
import { type Part, startPart } from '../part.ts'
import { AGENT, BYTES, FLOOR, METHOD, VIA } from './work.ts'

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

const PROGRAM = join(import.meta.dirname, '../routing.ts')

/** A gateway, a kas that routes, and agent 1, which is connected to the gateway only. `flags` are Node's. */
export async function setStage(flags: readonly string[]): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-bench-routing-'))
  const secret = join(folder, 'secret')
  await writeFile(secret, randomBytes(32).toString('base64'))
  const start = (name: string, given: readonly string[]) => startPart(PROGRAM, name, given, flags)
  const gateway = await start('gateway', ['kas', secret])
  const routing = await start('routing', ['kas', secret, String(gateway.facts.privateApi)])
  const agent = await start('agent', ['agent', gateway.address])
  const parts = [gateway, routing, agent]
  const [toRouting, toAgent] = [routing, agent].map(({ address }) => dial({ address }))
  const call = (connection: GrpcConnection | undefined, method: string, key: string, value: string): Way => {
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
