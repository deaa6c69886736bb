import { equal, is, match } from 'uvu/assert'
import { Secrets } from '../../../src/api/index.ts'
import { obtainHostKey } from '../../../src/proxy/ssh/host-key.ts'
import { knownHost } from '../../../src/proxy/ssh/known-host.ts'
import { hours, silentLog } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { refusalOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'

describe('the host key for SSH', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  it('is one, whichever of several proxies is first', async () => {
    const namespace = await cluster.namespace('host-key')
    const all = await Promise.all(Array.from({ length: 4 }, () => obtainHostKey(cluster.kube, namespace, silentLog)))
    is(new Set(all.map(({ line }) => line)).size, 1)
    match(all[0]?.line ?? '', /^ssh-ed25519 AAAA\S+$/)
    is((await obtainHostKey(cluster.kube, namespace, silentLog)).line, all[0]?.line)
  })

  it('is not made anew where somebody has written another thing in its place', async () => {
    const namespace = await cluster.namespace('host-key')
    const metadata = { name: 'berth-proxy-ssh', namespace }
    const data = { ssh_host_ed25519_key: Buffer.from('no key').toString('base64') }
    await cluster.kube.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data })
    const words = await refusalOf(obtainHostKey(cluster.kube, namespace, silentLog))
    match(words, 'its ssh_host_ed25519_key is no private key of ed25519')
  })

  it('is told as known_hosts has it', async () => {
    const key = await obtainHostKey(cluster.kube, await cluster.namespace('host-key'), silentLog)
    is(knownHost(key, { host: 'ssh.example.com', port: 22 }).known_hosts, `ssh.example.com ${key.line}\n`)
    is(knownHost(key, { host: 'ssh.example.com', port: 2222 }).known_hosts, `[ssh.example.com]:2222 ${key.line}\n`)
    const nothing = { host: null, port: null, known_hosts: null, certificateHours: null }
    equal(knownHost(key, undefined, hours(8)), { hostKey: key.line, ...nothing })
    const address = { host: 'ssh.example.com', port: 22 }
    equal(
      [knownHost(key, address, hours(8)), knownHost(key, address)].map((each) => each.certificateHours),
      ['8', null],
    )
  })
})
