import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { is, ok } from 'uvu/assert'
import { WebSocket } from 'ws'
import { type WorkspaceSpec, Workspaces } from '../../src/api/index.ts'
import { seconds } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import type { Browser } from './browser.ts'
import { hostOf } from './running-proxy.ts'
import { type Stage, setStage } from './stage.ts'

/** Far less than anything else would take that ends them, and more than a busy machine holds up one process. */
const SOON = { within: seconds(10) }

const shares: WorkspaceSpec['shares'] = [{ name: 'pair', user: 'grace@example.com', ports: ['app'] }]

describe('what is open through the proxy', (it) => {
  let stage: Stage
  it.before(async () => {
    stage = await setStage(({ url }, response) => {
      if (url !== '/events') return void response.end('a page')
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: hello\n\n')
    })
  })
  it.after(() => stage.close())

  const change = (name: string, spec: WorkspaceSpec) =>
    stage.cluster.kube.patch(Workspaces, { name, namespace: stage.namespace }, { spec })

  /** A WebSocket as the page of that workspace opens it. */
  const socketOf = async (person: Browser, name: string): Promise<WebSocket> => {
    const host = hostOf(name)
    const headers = { host, origin: `https://${host}`, cookie: person.cookies(host) }
    const socket = new WebSocket(`ws://${stage.proxy.addresses.listen}/`, [], { headers })
    socket.on('error', () => undefined)
    await once(socket, 'open')
    return socket
  }
  /** Events that never end. */
  const eventsOf = async (person: Browser, name: string): Promise<IncomingMessage> => {
    const [host, port] = stage.proxy.addresses.listen.split(':')
    const headers = { host: hostOf(name), cookie: person.cookies(hostOf(name)) }
    const request = httpRequest({ host, port, path: '/events', headers, agent: false }).end()
    const [answer]: IncomingMessage[] = await once(request, 'response')
    if (!answer) throw new TypeError('no answer')
    answer.on('error', () => undefined)
    await once(answer, 'data')
    return answer
  }
  /** Both are closed soon after that. */
  const closes = async (socket: WebSocket, events: IncomingMessage, doing: () => Promise<unknown>): Promise<void> => {
    let open = 2
    // Not by `once`: what is cut off is an error of the answer, too.
    for (const end of [socket, events]) end.once('close', () => void open--)
    await doing()
    await eventually(() => open === 0, SOON)
  }

  it('goes both ways, at once', async () => {
    await stage.workspace('talk')
    const ada = await stage.signedIn('ada@example.com', 'talk')
    const socket = await socketOf(ada, 'talk')
    const echoed = once(socket, 'message')
    socket.send('x'.repeat(100_000))
    is(String((await echoed)[0]).length, 100_000)
    const events = await eventsOf(ada, 'talk')
    socket.close()
    events.destroy()
    await eventually(async () => (await stage.appConnections()) === 0)
  })

  it('ends for whom a share is taken from, and for nobody else', async () => {
    await stage.workspace('share', { spec: { shares } })
    const [ada, grace] = [await stage.signedIn('ada@example.com', 'share'), await stage.signedIn('grace@example.com', 'share')]
    const stays = await socketOf(ada, 'share')
    await closes(await socketOf(grace, 'share'), await eventsOf(grace, 'share'), () => change('share', { shares: [] }))
    is(stays.readyState, WebSocket.OPEN)
    is((await grace.ask(`https://${hostOf('share')}/`)).status, 403)
    stays.close()
  })

  it('ends with the workspace', async () => {
    await stage.workspace('end')
    const ada = await stage.signedIn('ada@example.com', 'end')
    await closes(await socketOf(ada, 'end'), await eventsOf(ada, 'end'), () => change('end', { desiredState: 'Terminated' }))
    is((await ada.ask(`https://${hostOf('end')}/`)).status, 410)
  })

  it('ends when a share is over by the clock', async () => {
    await stage.workspace('brief', { spec: { shares } })
    const grace = await stage.signedIn('grace@example.com', 'brief')
    const [socket, events] = [await socketOf(grace, 'brief'), await eventsOf(grace, 'brief')]
    const end = Date.now() + 1500
    const expiresAt = new Date(end).toISOString()
    await closes(socket, events, () => change('brief', { shares: [{ ...shares[0], name: 'pair', expiresAt }] }))
    // Timers of Node may be a millisecond early.
    ok(Date.now() >= end - 1, 'not before its time')
  })

  it('ends with the session, which is never longer than the provider says', async () => {
    await stage.workspace('short')
    // So long that both can be opened on a busy machine.
    stage.provider.lifetime = 5
    const ada = await stage.signedIn('ada@example.com', 'short')
    stage.provider.lifetime = 3600
    await closes(await socketOf(ada, 'short'), await eventsOf(ada, 'short'), async () => undefined)
    is((await ada.ask(`https://${hostOf('short')}/`)).status, 303)
  })

  it('ends everywhere when somebody signs out, in all browsers of theirs and in none of others', async () => {
    await stage.workspace('out', { spec: { shares } })
    const [here, there] = [await stage.signedIn('ada@example.com', 'out'), await stage.signedIn('ada@example.com', 'out')]
    const grace = await stage.signedIn('grace@example.com', 'out')
    const stays = await socketOf(grace, 'out')
    const page = await here.open(`https://${hostOf('out')}/.berth/sign-out`)
    ok(/Sign out everywhere/.test(page.body), page.body)
    const press = (origin: string) => here.ask(page.url, { method: 'POST', headers: { origin } })
    is((await press(`https://${hostOf('out')}`)).status, 403)
    await closes(await socketOf(there, 'out'), await eventsOf(there, 'out'), async () => {
      is((await press(page.url.origin)).status, 200)
    })
    is((await there.ask(`https://${hostOf('out')}/`)).status, 303)
    is(stays.readyState, WebSocket.OPEN)
    stays.close()
  })
})
