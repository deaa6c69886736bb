import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import * as assert from 'uvu/assert'
import { type KubeConnection, openConnection } from '../../../src/adapters/kube/connection.ts'
import { minutes } from '../../../src/std/index.ts'
import { portOf } from '../../support/addresses.ts'
import { selfSigned } from '../../support/builders/certificate.ts'
import { type SteppedClock, steppedClock } from '../../support/clock.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

/** The bytes of a certificate authority matter only to TLS, which is not spoken here: what counts is that they change. */
const PEM = (n: number) =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(`authority ${n}`).toString('base64')}\n-----END CERTIFICATE-----\n`

describe('the credentials of a connection', (it) => {
  const sockets = new Set<Socket>()
  const held: { end(): void }[] = []
  let http: Server
  let url = ''
  let dir = ''
  let authority = ''
  let clock: SteppedClock
  let connection: KubeConnection

  it.beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'berth-credentials-'))
    authority = join(dir, 'ca.crt')
    await writeFile(authority, PEM(1))
    http = createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      if (!request.url?.includes('watch')) return response.end('{}')
      held.push(response)
      return response.write('"began"\n')
    })
    // It never hangs up on an idle connection: whoever does is the client.
    http.keepAliveTimeout = 0
    http.on('connection', (socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    })
    await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', () => resolve()))
    url = `http://127.0.0.1:${portOf(http)}`
    clock = steppedClock(Date.now())
    const config = new KubeConfig()
    config.loadFromClusterAndUser({ name: 'c', server: url, skipTLSVerify: true, caFile: authority }, { name: 'u', token: 't' })
    connection = openConnection(config, { clock })
  })
  it.afterEach(async () => {
    await connection.close()
    held.splice(0)
    http.closeAllConnections()
    await new Promise((resolve) => void http.close(resolve))
    await rm(dir, { recursive: true })
  })

  const ask = (over = connection) => over.json({ method: 'GET', path: '/version', about: '/version' })
  const rotate = async (n: number) => {
    await writeFile(authority, PEM(n))
    await clock.step(minutes(1))
  }

  it('keep one connection while they stay the same', async () => {
    for (let n = 0; n < 5; n++) {
      await ask()
      await clock.step(minutes(1))
    }
    assert.is(sockets.size, 1)
  })

  it('close the connections that were made with older TLS material', async () => {
    await ask()
    const [first] = sockets
    for (let n = 2; n < 12; n++) {
      await rotate(n)
      await ask()
    }
    await eventually(() => sockets.size === 1)
    assert.is(first && sockets.has(first), false)
  })

  it('let a watch go on that began before they changed, and hang up when it ends', async () => {
    const lines = (await connection.lines({ method: 'GET', path: '/watch', about: 'watch' }))[Symbol.asyncIterator]()
    assert.is((await lines.next()).value, '"began"')
    await rotate(2)
    await ask()
    assert.is(sockets.size, 2)
    held[0]?.end()
    assert.is((await lines.next()).done, true)
    await eventually(() => sockets.size === 1)
  })

  it('are tried again at once when they could not be read', async () => {
    await rm(authority)
    const failure = await failureOf(() => ask())
    assert.is(failure.code, 'unavailable')
    assert.match(failure.message, /^the credentials of the kubeconfig cannot be read: .*ENOENT/)
    await writeFile(authority, PEM(1))
    await ask()
  })

  it('are named where they are no certificate, and work again when they are what they were', async () => {
    const { cert, key } = selfSigned()
    const certFile = join(dir, 'tls.crt')
    const keyFile = join(dir, 'tls.key')
    await writeFile(keyFile, key)
    await writeFile(certFile, cert)
    const config = new KubeConfig()
    config.loadFromClusterAndUser({ name: 'c', server: url, skipTLSVerify: true }, { name: 'u', certFile, keyFile })
    const own = openConnection(config, { clock })
    await ask(own)
    await writeFile(certFile, PEM(1))
    await clock.step(minutes(1))
    const failure = await failureOf(() => ask(own))
    assert.is(failure.code, 'unavailable')
    assert.match(failure.message, /^the credentials of the kubeconfig cannot be read: /)
    await writeFile(certFile, cert)
    await ask(own)
    await own.close()
  })

  it('are not used any more when the connection was closed while they were being read', async () => {
    const asked = failureOf(() => ask())
    await connection.close()
    assert.is((await asked).code, 'unavailable')
    assert.is(sockets.size, 0)
  })
})
