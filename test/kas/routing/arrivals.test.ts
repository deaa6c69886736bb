import { equal, is } from 'uvu/assert'
import { createSigner } from '../../../src/adapters/auth/index.ts'
import { freePort } from '../../../src/adapters/control-plane/ports.ts'
import { dial, serveGrpc } from '../../../src/adapters/grpc/index.ts'
import { createTunnels } from '../../../src/engines/tunnel/index.ts'
import { createReverseTunnelService } from '../../../src/kas/reverse-tunnel/index.ts'
import { createRouter, type PeerRegistry } from '../../../src/kas/routing/index.ts'
import { hours, seconds, silentLog, systemClock } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { ask, connectAgent, gate, type Kas, named, openKas, secretFile, workspaceGate } from './kas-stage.ts'

/** Names of other kas, whose every look-up answers when the test lets it. */
function slowNames() {
  const questions: PromiseWithResolvers<string[]>[] = []
  const listeners = new Set<(url: string) => void>()
  let known: string[] | undefined
  const look = () => {
    if (known) return Promise.resolve(known)
    const question = Promise.withResolvers<string[]>()
    questions.push(question)
    return question.promise
  }
  const peers: Pick<PeerRegistry, 'kasToAsk' | 'isKnown' | 'follow'> = {
    kasToAsk: look,
    isKnown: async (url) => (await look()).includes(url),
    follow(_, listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  return {
    peers,
    questions,
    /** From then on it is known by its name, too. */
    arrive(url: string) {
      known = [url]
      for (const tell of listeners) tell(url)
    },
  }
}

describe('kas that come while slow names are looked up', (it) => {
  let secret: Awaited<ReturnType<typeof secretFile>>
  const closing: (() => Promise<void>)[] = []
  it.before(async () => {
    secret = await secretFile()
  })
  it.afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })
  it.after(() => secret.remove())

  const kas = async (options: Parameters<typeof openKas>[1] = {}): Promise<Kas> => {
    const one = await openKas(secret.file, options)
    closing.push(() => one.kill())
    return one
  }
  /** One without a private endpoint, that knows the others by these names. */
  const kasWith = async (peers: Pick<PeerRegistry, 'kasToAsk' | 'isKnown' | 'follow'>) => {
    const around = { clock: systemClock, log: silentLog }
    const tunnels = createTunnels(around)
    const token = createSigner({ secret: secret.secret, issuer: 'gitlab-kas', audience: 'gitlab-kas', clock: systemClock })
    const router = createRouter({
      ...{ tunnels, peers, ...around },
      dial: (address) => dial({ address, token, reconnectWithin: seconds(1) }),
      patience: seconds(20),
      onRouted: () => undefined,
      onPeerFailed: () => undefined,
    })
    const service = createReverseTunnelService({
      gate,
      workspaces: workspaceGate,
      tunnels,
      roll: { tunnel: () => () => undefined },
      maxAge: hours(1),
    })
    const server = await serveGrpc({ address: '127.0.0.1:0', services: [service], ...around })
    closing.push(async () => {
      router.stop()
      await server.stop(0)
    })
    return { router, address: server.address }
  }
  const answerOf = (questions: PromiseWithResolvers<string[]>[], n: number, urls: string[]) =>
    eventually(() => {
      questions[n]?.resolve(urls)
      return questions[n] !== undefined
    })

  it('are asked although the names, looked up before, do not stand for them', async () => {
    const names = slowNames()
    const [first, second] = [await kasWith(names.peers), await kas()]
    const asked = ask(first.router, 1n, 'x')
    await eventually(() => names.questions.length === 1)
    closing.push(connectAgent(second, 1n, named('came')))
    names.arrive(`grpc://${second.privateApi}`)
    names.questions[0]?.resolve([])
    equal(await asked, ['came', 'x'])
  })

  it('are asked although the names no longer stand for them when that is asked, while they come', async () => {
    const names = slowNames()
    const port = await freePort()
    const url = `grpc://127.0.0.1:${port}`
    const first = await kasWith(names.peers)
    const asked = ask(first.router, 1n, 'x')
    // Nobody is there yet: it is asked, fails, and the names are looked up again.
    await answerOf(names.questions, 0, [url])
    await eventually(() => names.questions.length === 2)
    const second = await kas({ privateApi: `127.0.0.1:${port}` })
    closing.push(connectAgent(second, 1n, named('came')))
    names.arrive(url)
    names.questions[1]?.resolve([])
    equal(await asked, ['came', 'x'])
  })

  it('are not needed for an agent that comes here while no name is looked up', async () => {
    const names = slowNames()
    const only = await kasWith(names.peers)
    const asked = ask(only.router, 1n, 'x')
    closing.push(connectAgent(only, 1n, named('here')))
    equal(await asked, ['here', 'x'])
    is(names.questions.length, 1)
  })
})
