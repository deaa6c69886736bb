import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { equal, is, match, ok } from 'uvu/assert'
import { WebSocket } from 'ws'
import { Workspaces } from '../../src/api/index.ts'
import type { Browser } from '../proxy/browser.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { setTunnelStage, type TunnelStage } from './tunnel-stage.ts'

const MUCH = 32 * 2 ** 20
const CHUNK = Buffer.alloc(64 * 1024, 'x')

describe('the way into a workspace through kas', (it) => {
  let at: TunnelStage
  let taken = 0
  let given = 0
  it.before(async () => {
    at = await setTunnelStage((request, response) => {
      if (request.url === '/count') {
        taken = 0
        request.on('data', (chunk: Buffer) => {
          taken += chunk.length
        })
        return void request.on('end', () => response.end(String(taken)))
      }
      if (request.url === '/pour') return pour()
      if (request.url === '/events')
        return void response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
      response.end(`page of ${request.headers.host}`)
      function pour(): void {
        for (let goesOn = true; goesOn && given < MUCH; given += CHUNK.length) goesOn = response.write(CHUNK)
        if (given < MUCH) response.once('drain', pour)
        else response.end()
      }
    })
  })
  it.after(() => at.close())

  /** A workspace that is reached, and its owner. */
  const opened = async (name: string, ...[spec]: [Parameters<TunnelStage['workspace']>[1]?]) => {
    const { workspace, token } = await at.workspace(name, spec)
    const agentw = await at.agentw(name, token)
    const ada = await at.signedIn('ada@example.com', name)
    await reached(ada, name)
    return { workspace, token, agentw, ada }
  }
  const url = (name: string) => `https://${at.host(name)}/`
  const reached = (person: Browser, name: string) => eventually(async () => (await person.ask(url(name))).status === 200)
  const begin = (person: Browser, name: string, path: string, method = 'GET') => {
    const [host, port] = at.stage.proxy.addresses.listen.split(':')
    const headers = { host: at.host(name), cookie: person.cookies(at.host(name)) }
    const request = httpRequest({ host, port, path, method, headers, agent: false })
    return request.on('error', () => undefined)
  }
  const answerTo = async (request: ReturnType<typeof begin>): Promise<IncomingMessage> => {
    const [answer]: IncomingMessage[] = await once(request, 'response')
    if (!answer) throw new TypeError('no answer')
    return answer.on('error', () => undefined)
  }
  const socketOf = async (person: Browser, name: string): Promise<WebSocket> => {
    const host = at.host(name)
    const headers = { host, origin: `https://${host}`, cookie: person.cookies(host) }
    const socket = new WebSocket(`ws://${at.stage.proxy.addresses.listen}/`, [], { headers }).on('error', () => undefined)
    await once(socket, 'open')
    return socket
  }

  it('needs no address that leads to the pod, and carries pages, sockets, events and bodies alike', async () => {
    const { ada } = await opened('web')
    equal((await ada.ask(url('web'))).body, `page of ${at.host('web')}`)
    const socket = await socketOf(ada, 'web')
    const echoed = once(socket, 'message')
    socket.send('x'.repeat(300_000))
    is(String((await echoed)[0]).length, 300_000)
    const events = await answerTo(begin(ada, 'web', '/events').end())
    is(String((await once(events, 'data'))[0]), 'data: 1\n\n')
    const upload = begin(ada, 'web', '/count', 'POST')
    for (let sent = 0; sent < MUCH; sent += CHUNK.length) if (!upload.write(CHUNK)) await once(upload, 'drain')
    const counted = await answerTo(upload.end())
    is(String((await once(counted, 'data'))[0]), String(MUCH))
    socket.close()
    events.destroy()
    // What visitors leave, the app is left by, too.
    await eventually(async () => (await at.stage.appConnections()) <= 1)
  })

  it('goes at the pace of who reads', async () => {
    const { ada } = await opened('slow')
    const answer = await answerTo(begin(ada, 'slow', '/pour').end())
    let before = -1
    await eventually(async () => {
      const isStill = given === before && given > 0
      before = given
      return isStill
    })
    ok(given < MUCH / 2, `${given} bytes were taken for nobody`)
    let read = 0
    answer.on('data', (chunk: Buffer) => {
      read += chunk.length
    })
    await once(answer, 'end')
    is(read, MUCH)
  })

  it('says what is wrong where nothing listens, and where no pod has come', async () => {
    const { token } = await at.workspace('early')
    const ada = await at.signedIn('ada@example.com', 'early')
    const waiting = ada.ask(url('early'))
    await at.agentw('early', token)
    is((await waiting).status, 200, 'a pod that is just coming is waited for')
    match((await ada.open(`https://${at.host('early', 1)}/`)).body, /Nothing listens on the port 1\./)
  })

  it('finds the pod at whichever kas it has come to, and follows it', async () => {
    const second = await at.anotherKas()
    const { token } = await at.workspace('far')
    await at.agentw('far', token, second)
    const ada = await at.signedIn('ada@example.com', 'far')
    await reached(ada, 'far')
    const socket = await socketOf(ada, 'far')
    const gone = once(socket, 'close')
    await second.stop()
    await gone
    match((await ada.ask(url('far'))).body, /no tunnel open|Nothing answers/)
    await at.agentw('far', token)
    await reached(ada, 'far')
  })

  it('closes with a share, and with the workspace', async () => {
    const shares = [{ name: 'pair', user: 'grace@example.com', ports: ['app'] }]
    const { workspace, ada, token, agentw } = await opened('shared', { shares })
    const grace = await at.signedIn('grace@example.com', 'shared')
    const [hers, own] = [await socketOf(grace, 'shared'), await socketOf(ada, 'shared')]
    const { kube } = at.stage.cluster
    const cut = once(hers, 'close')
    await kube.patch(Workspaces, workspace.metadata, { spec: { shares: [] } })
    await cut
    is(own.readyState, WebSocket.OPEN)
    const over = once(own, 'close')
    await kube.patch(Workspaces, workspace.metadata, { spec: { desiredState: 'Stopped' } })
    await eventually(() => /the token is no longer valid|there is no such workspace/.test(agentw.log()))
    await kube.delete(Workspaces, workspace.metadata)
    await over
    ok(!(agentw.log() + at.kas.log() + at.stage.proxy.log()).includes(token))
  })
})
