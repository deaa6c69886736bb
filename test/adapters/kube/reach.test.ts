import { createServer } from 'node:http'
import type { LookupFunction } from 'node:net'
import { KubeConfig } from '@kubernetes/client-node'
import * as assert from 'uvu/assert'
import { openConnection } from '../../../src/adapters/kube/connection.ts'
import { kubeFromSecret } from '../../../src/adapters/kube/index.ts'
import { createConnectionGate, type Reach } from '../../../src/adapters/kube/reach.ts'
import { type Failure, isFailure, Secret, systemClock } from '../../../src/std/index.ts'
import { portOf } from '../../support/addresses.ts'
import { describe } from '../../support/suite.ts'
import { kubeconfigFor } from '../../support/targets.ts'

const REFUSE: Reach = { refuseLocal: true }
const SUBJECT = { object: 'DeploymentTarget team-a/dev', field: 'spec.kubernetesCredentials.apiURL' }

const refused: { why: string; host: string }[] = [
  { why: 'loopback', host: '127.0.0.1' },
  { why: 'all of 127.0.0.0/8 is loopback', host: '127.8.9.10' },
  { why: 'loopback as one decimal number', host: '2130706433' },
  { why: 'loopback in octal', host: '0177.0.0.1' },
  { why: 'loopback as one octal number', host: '017700000001' },
  { why: 'loopback in hexadecimal', host: '0x7f.0x1' },
  { why: 'loopback with parts left out', host: '127.1' },
  { why: 'loopback with a dot at its end', host: '127.0.0.1.' },
  { why: 'loopback in wide digits', host: '１２７.0.0.1' },
  { why: 'unspecified means this host', host: '0.0.0.0' },
  { why: 'and so does zero', host: '0' },
  { why: 'loopback of IPv6', host: '[::1]' },
  { why: 'loopback of IPv6 at length', host: '[0:0:0:0:0:0:0:1]' },
  { why: 'unspecified of IPv6', host: '[::]' },
  { why: 'IPv4 mapped into IPv6', host: '[::ffff:127.0.0.1]' },
  { why: 'metadata mapped into IPv6, in hexadecimal', host: '[::ffff:a9fe:a9fe]' },
  { why: 'IPv4-compatible IPv6', host: '[::127.0.0.1]' },
  { why: 'NAT64 of a metadata service', host: '[64:ff9b::169.254.169.254]' },
  { why: 'metadata service', host: '169.254.169.254' },
  { why: 'metadata service as one number', host: '2852039166' },
  { why: 'metadata service of IPv6', host: '[fd00:ec2::254]' },
  { why: 'metadata service in a carrier network', host: '100.100.100.200' },
  { why: 'metadata service in the protocol assignments', host: '192.0.0.192' },
  { why: 'link-local of IPv6', host: '[fe80::1]' },
  { why: 'unique local', host: '[fc00::1]' },
  { why: 'unique local', host: '[fdff:ffff::1]' },
  { why: 'private: services of the own cluster', host: '10.96.0.1' },
  { why: 'private', host: '172.16.0.1' },
  { why: 'private, at the end of the range', host: '172.31.255.255' },
  { why: 'private', host: '192.168.1.1' },
  { why: 'broadcast', host: '255.255.255.255' },
  { why: 'multicast', host: '[ff02::1]' },
]
const allowed = [
  '8.8.8.8',
  '172.32.0.1',
  '172.15.255.255',
  '100.128.0.1',
  '[2606:4700::1111]',
  '[::ffff:8.8.8.8]',
  '[64:ff9b::8.8.8.8]',
]

const failureOf = (work: () => unknown): Failure | undefined => {
  try {
    work()
  } catch (thrown) {
    if (isFailure(thrown)) return thrown
    throw thrown
  }
  return undefined
}

const withConfig = (server: string): KubeConfig => {
  const config = new KubeConfig()
  config.loadFromClusterAndUser({ name: 'c', server, skipTLSVerify: true }, { name: 'u', token: 'canary-token' })
  return config
}

/** The name servers of whoever wrote the URL: each answer is the next of these, and the last one stays. */
const resolving =
  (...answers: string[][]): LookupFunction =>
  (_hostname, options, answer) => {
    const addresses = (answers.length > 1 ? answers.shift() : answers[0]) ?? []
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    if (options.all) answer(null, found)
    else answer(null, found[0]?.address ?? '', found[0]?.family)
  }

describe('where a client of a stranger may lead', (it) => {
  const closing: (() => Promise<unknown>)[] = []
  it.afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  const server = async (answer: { status: number; headers?: Record<string, string> } = { status: 200 }) => {
    const seen: string[] = []
    const http = createServer((request, response) => {
      seen.push(request.url ?? '')
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end('{}')
    })
    let connections = 0
    http.on('connection', () => connections++)
    await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', () => resolve()))
    closing.push(() => {
      http.closeAllConnections()
      return new Promise((resolve) => void http.close(resolve))
    })
    return { port: portOf(http), seen, connections: () => connections }
  }
  const open = (url: string, reach: Reach, lookup?: LookupFunction) => {
    const connection = openConnection(withConfig(url), { clock: systemClock, gate: createConnectionGate(reach, SUBJECT, lookup) })
    closing.push(() => connection.close())
    return connection
  }
  const ask = (connection: ReturnType<typeof open>): Promise<Failure | undefined> =>
    connection.json({ method: 'GET', path: '/version', about: '/version' }).then(
      () => undefined,
      (thrown: unknown) => {
        if (isFailure(thrown)) return thrown
        throw thrown
      },
    )

  for (const [n, { why, host }] of refused.entries()) {
    it(`${n + 1}. refuses ${host}: ${why}`, () => {
      const url = `https://${host}:6443`
      assert.is(failureOf(() => open(url, REFUSE))?.reason, 'UnsupportedAPIURL')
      const kubeconfig = new Secret(kubeconfigFor(url))
      assert.is(failureOf(() => kubeFromSecret(kubeconfig, { server: url, reach: REFUSE }))?.reason, 'UnsupportedAPIURL')
      // What the kubeconfig says is judged as well, whoever asks for it.
      assert.is(failureOf(() => kubeFromSecret(kubeconfig, { reach: REFUSE }))?.reason, 'UnsupportedAPIURL')
    })
  }

  it('refuses metadata, link-local and reserved addresses also where local ones are allowed', async () => {
    for (const host of ['169.254.169.254', '2852039166', '[::ffff:a9fe:a9fe]', '[fd00:ec2::254]', '100.100.100.200', '0']) {
      const url = `https://${host}:6443`
      const failure = failureOf(() => kubeFromSecret(new Secret(kubeconfigFor(url)), { server: url, reach: undefined }))
      assert.is(failure?.reason, 'UnsupportedAPIURL', host)
      assert.match(failure?.message ?? '', /leads to a link-local, metadata or reserved address/)
      assert.is(failure?.remedy, 'Use an address that the cluster has for others')
    }
    const behind = open('https://api.target.example:6443', { refuseLocal: false }, resolving(['10.1.2.3', '169.254.169.254']))
    assert.is((await ask(behind))?.reason, 'UnsupportedAPIURL')
  })

  it('judges what a name resolves to by the same table', async () => {
    for (const { host } of refused) {
      const address = new URL(`https://${host}`).hostname.replace(/[[\]]/g, '')
      const failure = await ask(open('https://api.target.example:6443', REFUSE, resolving(['8.8.8.8', address])))
      assert.is(failure?.reason, 'UnsupportedAPIURL', `${host} (${address}): ${failure?.message}`)
    }
  })

  it('takes addresses of the internet', () => {
    for (const host of allowed)
      assert.is(
        failureOf(() => open(`https://${host}:6443`, REFUSE)),
        undefined,
        host,
      )
  })

  it('names the object, the field, the URL and what to do, but not the address behind the name', async () => {
    const failure = await ask(open('http://api.target.example:6443', REFUSE, resolving(['10.1.2.3'])))
    assert.is(failure?.code, 'invalid')
    assert.is(
      failure?.message,
      'DeploymentTarget team-a/dev: spec.kubernetesCredentials.apiURL "http://api.target.example:6443" leads to an address of this installation\'s own machines or networks',
    )
    assert.match(failure?.remedy ?? '', /address that the cluster has for others/)
    assert.not.match(`${failure?.message} ${failure?.cause}`, /10\.1\.2\.3/)
  })

  it('makes no connection through a name that resolves to loopback, and does where that is allowed', async () => {
    const { port, connections } = await server()
    for (const name of ['api.target.example', 'localhost.', 'localhost']) {
      const url = `http://${name}:${port}`
      assert.is((await ask(open(url, REFUSE, resolving(['127.0.0.1']))))?.reason, 'UnsupportedAPIURL')
    }
    assert.is((await ask(open(`http://localhost:${port}`, REFUSE)))?.reason, 'UnsupportedAPIURL')
    assert.is(connections(), 0)
    assert.is(await ask(open(`http://localhost:${port}`, { refuseLocal: false })), undefined)
    assert.is(connections(), 1)
  })

  it('judges each connection, not the first: a name may change its mind', async () => {
    const { port, connections } = await server()
    // Nobody listens at the documentation's address; what matters is that the second answer is judged as well.
    const names = resolving(['203.0.113.1'], ['127.0.0.1'])
    const leaving = new AbortController()
    const rebinding: LookupFunction = (...asked) => {
      names(...asked)
      leaving.abort()
    }
    const connection = openConnection(withConfig(`http://api.target.example:${port}`), {
      clock: systemClock,
      gate: createConnectionGate(REFUSE, SUBJECT, rebinding),
    })
    closing.push(() => connection.close())
    const first = connection.json({ method: 'GET', path: '/', about: 'first', signal: leaving.signal })
    assert.is(
      (
        await first.then(
          () => undefined,
          (thrown: unknown) => (isFailure(thrown) ? thrown : undefined),
        )
      )?.code === 'invalid',
      false,
    )
    const again = openConnection(withConfig(`http://api.target.example:${port}`), {
      clock: systemClock,
      gate: createConnectionGate(REFUSE, SUBJECT, rebinding),
    })
    closing.push(() => again.close())
    assert.is((await ask(again))?.reason, 'UnsupportedAPIURL')
    assert.is(connections(), 0)
  })

  it("leaves this installation's own API alone, wherever it is, and nothing else on its machine", async () => {
    const { port } = await server()
    const own = `http://127.0.0.1:${port}`
    assert.is(await ask(open(own, { ...REFUSE, own: `${own}/` })), undefined)
    assert.is(await ask(open(own, { ...REFUSE, own: ['https://kas.example.com', own] })), undefined)
    assert.is(failureOf(() => open('http://127.0.0.1:1', { ...REFUSE, own }))?.reason, 'UnsupportedAPIURL')
  })

  it('follows no redirect', async () => {
    const inside = await server()
    for (const status of [301, 302, 307, 308]) {
      const outside = await server({ status, headers: { location: `http://127.0.0.1:${inside.port}/latest/meta-data` } })
      const failure = await ask(open(`http://127.0.0.1:${outside.port}`, { refuseLocal: false }))
      assert.is(failure?.code, 'unavailable')
      assert.match(failure?.message ?? '', new RegExp(`redirect \\(HTTP ${status}\\), which is not followed`))
      assert.equal(outside.seen, ['/version'])
    }
    assert.equal(inside.seen, [])
  })
})
