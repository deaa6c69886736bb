import { create } from '@bufbuild/protobuf'
import { equal, is } from 'uvu/assert'
import { createSigner } from '../../../src/adapters/auth/index.ts'
import { freePort } from '../../../src/adapters/control-plane/ports.ts'
import { dial } from '../../../src/adapters/grpc/index.ts'
import { AgentTracker, ConnectedAgentInfoSchema } from '../../../src/rpc/index.ts'
import { Secret, systemClock } from '../../../src/std/index.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { type Kas, openKas, secretFile } from './kas-stage.ts'

const never = new AbortController().signal
const wanted = { request: { case: 'agentId', value: 1n } } as const

describe('who is connected to several kas', (it) => {
  let secret: Awaited<ReturnType<typeof secretFile>>
  let all: Kas[] = []
  /** How often each was asked. */
  const asked = [0, 0, 0]
  /** Connections that each has; the second is at two of them. */
  const CONNECTIONS = [[1n, 2n], [2n, 3n], [4n]]

  const open = async (n: number, ports: readonly number[], more: string[] = []) =>
    openKas(secret.file, {
      privateApi: `127.0.0.1:${ports[n]}`,
      peers: [...ports.map((port) => `grpc://127.0.0.1:${port}`), ...more],
      connected({ request }) {
        asked[n] = (asked[n] ?? 0) + 1
        const pods = (CONNECTIONS[n] ?? []).map((connectionId) => create(ConnectedAgentInfoSchema, { agentId: 1n, connectionId }))
        return request.case === 'agentId' && request.value === 1n ? pods : []
      },
    })
  it.before(async () => {
    secret = await secretFile()
    const ports = [await freePort(), await freePort(), await freePort()]
    all = [await open(0, ports), await open(1, ports, ['grpc://nowhere.invalid:8155']), await open(2, ports)]
  })
  it.after(async () => {
    for (const kas of all) await kas.kill()
    await secret.remove()
  })
  const kas = (n: number): Kas => {
    const one = all[n]
    if (!one) throw new RangeError(`there is no kas ${n}`)
    return one
  }
  const ask = async (n: number) => {
    const { agents, silent } = await kas(n).census(wanted, never)
    return { connections: agents.map(({ connectionId }) => connectionId).sort(), silent }
  }

  it('is told by each of them for all, every connection once, and every kas is asked once', async () => {
    equal(await ask(0), { connections: [1n, 2n, 3n, 4n], silent: [] })
    equal(asked, [1, 1, 1])
    equal((await ask(2)).connections, [1n, 2n, 3n, 4n])
    equal((await kas(0).census({ request: { case: 'agentId', value: 2n } }, never)).agents, [])
  })

  it('is told to other kas by each for itself, and to nobody who is none', async () => {
    const token = createSigner({ secret: secret.secret, issuer: 'gitlab-kas', audience: 'gitlab-kas', clock: systemClock })
    const { method } = AgentTracker
    for (const [shown, works] of [
      [token, true],
      [async () => new Secret('a.b.c'), false],
    ] as const) {
      const connection = dial({ address: kas(0).privateApi, token: shown })
      const request = () => connection.unary(method.getConnectedAgents, create(method.getConnectedAgents.input, wanted))
      if (works)
        equal(
          (await request()).agents.map(({ connectionId }) => connectionId),
          [1n, 2n],
        )
      else is((await failureOf(request)).reason, 'TokenInvalid')
      connection.close()
    }
  })

  it('names those that do not answer, and names that cannot be looked up', async () => {
    const { privateApi } = kas(2)
    await kas(2).kill()
    equal(await ask(0), { connections: [1n, 2n, 3n], silent: [`grpc://${privateApi}`] })
    equal((await ask(1)).silent, [`grpc://${privateApi}`, 'grpc://nowhere.invalid:8155'])
  })
})
