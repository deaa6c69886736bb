import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { equal, is, match } from 'uvu/assert'
import { WebSocket } from 'ws'
import { Workspaces } from '../../src/api/index.ts'
import { listen } from '../../src/std/listen.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import type { Browser } from './browser.ts'
import { hostOf, publish, runProxy, SIGN_IN } from './running-proxy.ts'
import { type Stage, setStage } from './stage.ts'

const MOST = 200

describe('the proxy when many come at once', (it) => {
  let stage: Stage
  const seen: string[] = []
  it.before(async () => {
    stage = await setStage(
      (request, response) => {
        seen.push(`${request.url}`)
        if (request.url === '/slow') response.write('a beginning')
        else response.end('the app')
      },
      { maxConnections: String(MOST) },
    )
    await stage.workspace('web')
  })
  it.after(() => stage.close())

  const host = hostOf('web')
  const placeOf = (address: string) => ({ host: address.split(':')[0], port: Number(address.split(':')[1]) })
  const ask = async (address: string, path: string, headers: Record<string, string> = {}): Promise<string> => {
    const request = httpRequest({ ...placeOf(address), path, headers, agent: false }).end()
    const [answer] = await once(request, 'response')
    return text(answer)
  }
  const openStreams = async () => {
    const [, count] = /^berth_proxy_open_streams (\d+)$/m.exec(await ask(stage.proxy.addresses.operations, '/metrics')) ?? []
    return Number(count)
  }
  const socketOf = async (person: Browser, name: string, at = stage.proxy.addresses.listen): Promise<WebSocket> => {
    const headers = { host: hostOf(name), origin: `https://${hostOf(name)}`, cookie: person.cookies(hostOf(name)) }
    const socket = new WebSocket(`ws://${at}/`, [], { headers })
    socket.on('error', () => undefined)
    await once(socket, 'open')
    return socket
  }
  const echoes = async (socket: WebSocket) => {
    const echoed = once(socket, 'message')
    socket.send('are you there')
    is(String((await echoed)[0]), 'are you there')
  }
  const upgrade = (name: string, cookie: string) =>
    [
      ...['GET / HTTP/1.1', `Host: ${name}`, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
      ...['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', `Cookie: ${cookie}`, `Origin: https://${name}`, '', ''],
    ].join('\r\n')
  const reach = async (): Promise<Socket> => {
    const { host: name, port } = placeOf(stage.proxy.addresses.listen)
    const socket = connect(port, name)
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }

  it('asks no app about those who have not signed in, and remembers none of them', async () => {
    seen.length = 0
    const strangers = Array.from({ length: 100 }, () => stage.browser())
    const statuses = await Promise.all(strangers.map(async (stranger) => (await stranger.ask(`https://${host}/`)).status))
    equal([...new Set(statuses)], [303])
    const [one = stage.browser()] = strangers
    for (let n = 0; n < 30; n++) await one.ask(`${(await one.ask(`https://${host}/`)).headers.location}`)
    // What a sign-in has to remember is in the browser, and not without end.
    const attempts = [...one.jar(SIGN_IN).keys()].filter((name) => name.startsWith('__Host-berth-sign-in-'))
    is(attempts.length, 8)
    equal(seen, [])
  })

  it('hangs up on more connections than it may have, and serves again when some are gone', async () => {
    const ada = await stage.signedIn('ada@example.com', 'web')
    const sockets = await Promise.all(Array.from({ length: MOST + 30 }, reach))
    await eventually(() => sockets.filter((socket) => socket.destroyed || socket.readableEnded || socket.closed).length >= 30)
    for (const socket of sockets) socket.destroy()
    await eventually(async () => (await ada.ask(`https://${host}/`).catch(() => undefined))?.status === 200)
  })

  it('leaves nothing behind of upgrades that were given up, also where nobody listens any more', async () => {
    const [ada, server] = [await stage.signedIn('ada@example.com', 'web'), createServer()]
    const port = await listen(server, '127.0.0.1', 0)
    server.close()
    stage.homes.set('workspace-dead:3000', { host: '127.0.0.1', port })
    const published = await publish(stage.cluster.kube, stage.namespace, 'dead')
    await eventually(() => stage.proxy.leadsTo(published))
    await eventually(async () => (await ada.ask(`https://${hostOf('dead')}/`)).status === 303)
    const dead = await stage.signedIn('ada@example.com', 'dead')
    is((await dead.ask(`https://${hostOf('dead')}/`)).status, 502)
    for (const [name, person] of [
      ['web', ada],
      ['dead', dead],
    ] as const)
      for (let round = 0; round < 4; round++) {
        const sockets = await Promise.all(Array.from({ length: 40 }, reach))
        for (const socket of sockets) socket.write(upgrade(hostOf(name), person.cookies(hostOf(name))))
        for (const socket of sockets) socket.destroy()
      }
    await eventually(async () => (await openStreams()) === 0 && (await stage.appConnections()) < 5)
  })

  it('changes routes without a touch on what is open', async () => {
    const ada = await stage.signedIn('ada@example.com', 'web')
    const socket = await socketOf(ada, 'web')
    for (const name of ['brief', 'short']) {
      await stage.workspace(name)
      await stage.cluster.kube.delete(Workspaces, { name, namespace: stage.namespace })
      await eventually(async () => (await ada.ask(`https://${hostOf(name)}/`)).status === 404)
      await echoes(socket)
    }
    socket.close()
  })

  it('lets what is open go on when it stops, takes nothing new, and ends with the last of it', async () => {
    const { cluster, namespace, provider, homes } = stage
    const proxy = await runProxy({ cluster, namespace, provider, homes, flags: { sessionGrace: '600' } })
    const ada = await stage.signedIn('ada@example.com', 'web')
    const socket = await socketOf(ada, 'web', proxy.addresses.listen)
    const place = placeOf(proxy.addresses.listen)
    const request = httpRequest({ ...place, path: '/slow', headers: { host, cookie: ada.cookies(host) }, agent: false }).end()
    const [answer] = await once(request, 'response')
    const stopped = proxy.stop()
    await eventually(async () => /stopping/.test(await ask(proxy.addresses.operations, '/readyz').catch(() => '')))
    await eventually(() =>
      ask(proxy.addresses.listen, '/').then(
        () => false,
        () => true,
      ),
    )
    await echoes(socket)
    is(answer.destroyed, false)
    answer.on('error', () => undefined)
    answer.destroy()
    socket.close()
    await stopped
    match(proxy.log(), /proxy stopped/)
  })
})
