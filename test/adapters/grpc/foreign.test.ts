import { equal, is, ok } from 'uvu/assert'
import { offerRaw } from '../../../src/adapters/grpc/index.ts'
import { askPeer, goPeer, lacksGoPeer } from '../../support/go-peer.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { type EchoServer, echoServer } from './echo.ts'

const CHUNK = Buffer.alloc(32 * 2 ** 10, 'x')

const leaveOut = await lacksGoPeer()

const clientInGo: Parameters<typeof describe>[1] = (it) => {
  let program = ''
  let server: EchoServer
  it.before(async () => {
    program = await goPeer()
  })
  it.beforeEach(async () => {
    const pull = offerRaw(['/x.Pull/Pull'], async function* () {
      for (let sent = 0; sent < 64 * 2 ** 20; sent += CHUNK.length) yield CHUNK
    })
    server = await echoServer({ more: [pull] })
  })
  it.afterEach(() => server.stop(0))

  for (const scheme of ['grpc', 'ws']) {
    // It leaves without a goodbye, in the middle of whatever is under way: over WebSockets that may look like a breach.
    const turnedAway = () => server.turnedAway.filter((why) => scheme !== 'ws' || why !== 'protocol')

    it(`calls, compresses, sends large messages and gives up, over ${scheme}`, async () => {
      const scenarios = ['unary', 'echo', 'large', 'cancel']
      equal(await askPeer(program, `${scheme}://${server.address}`, scenarios), scenarios)
      for (const call of server.calls) is(call.metadata('authorization'), 'Bearer agent-token')
      equal(turnedAway(), [])
      await eventually(() => server.connections === 0)
    })

    it(`measures the line with pings while it reads, over ${scheme}`, async () => {
      equal(await askPeer(program, `${scheme}://${server.address}`, ['pull']), ['pull'])
      equal(turnedAway(), [])
    })

    it(`goes elsewhere with new calls when its connection is old, and ends the old ones, over ${scheme}`, async () => {
      const aging = await echoServer({ age: { goaway: 500, grace: 60_000 } })
      equal(await askPeer(program, `${scheme}://${aging.address}`, ['goaway']), ['goaway'])
      const peers = new Set(aging.calls.map(({ peer }) => peer))
      ok(peers.size > 1, `all calls came over ${[...peers].join()}`)
      await aging.stop(0)
    })
  }
}

/** gRPC for Go is what existing agents are made of. */
describe('a client in Go', clientInGo, leaveOut)
