import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, not, ok } from 'uvu/assert'
import { tokenOfPerson } from '../../src/adapters/kube/index.ts'
import { createKeyPair, type KeyPair, signCertificate } from '../../src/adapters/ssh/index.ts'
import { ConfigMaps } from '../../src/api/index.ts'
import { hours } from '../../src/std/index.ts'
import { allow, deployer } from '../support/builders/credentials.ts'
import { testCluster } from '../support/control-plane.ts'
import { failureOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { berth } from './berth.ts'

const { line } = createKeyPair()
/** Nobody listens there. */
const NOBODY = { host: '127.0.0.1', port: '1', hostKey: line, certificateHours: '4' }

describe('berth ssh-cert', (it) => {
  const cluster = testCluster()
  let namespace = ''
  let home = ''
  let kubeconfig = ''
  it.before(async () => {
    namespace = await cluster.namespace('ssh-cert')
    home = await mkdtemp(join(tmpdir(), 'berth-ssh-cert-'))
    kubeconfig = join(home, 'kubeconfig')
    await writeFile(kubeconfig, (await deployer(cluster.kube, namespace)).kubeconfig)
  })
  it.after(async () => {
    await cluster.close()
    await rm(home, { recursive: true })
  })
  const tell = async (data: Record<string, string>) => {
    const metadata = { name: 'berth-proxy-ssh', namespace }
    await cluster.kube.delete(ConfigMaps, metadata).catch(() => undefined)
    await cluster.kube.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
  }
  const run = async (...words: string[]) => {
    const place = words.includes('--kubeconfig') ? [] : ['--kubeconfig', kubeconfig]
    const { stderr, ...ended } = await berth(['ssh-cert', '--berth-namespace', namespace, ...place, ...words], {
      env: { HOME: home },
      cwd: home,
    })
    return { ...ended, stderr: stderr.replaceAll(/\s+/g, ' ') }
  }
  const files = () => readdir(join(home, '.ssh', 'berth')).catch(() => [])

  it('says whom to ask where the way in may not be looked at', async () => {
    const { code, stderr } = await run()
    is(code, 4)
    match(stderr, 'berth-proxy-ssh')
    const right = { group: '', resource: 'configmaps', name: 'berth-proxy-ssh' }
    await allow(cluster.kube, namespace, `system:serviceaccount:${namespace}:deployer`, { ...right, verbs: ['get'] })
  })

  it('says that nothing takes SSH there, or gives no certificates, before it shows or makes anything', async () => {
    const none = await run()
    equal([none.code, none.stdout], [3, ''])
    match(none.stderr, 'it is not there: no proxy takes SSH. The proxy takes SSH with proxy.ssh')
    await tell({ hostKey: line })
    match((await run()).stderr, 'the proxy says no address for SSH there')
    const { certificateHours: _, ...off } = NOBODY
    await tell(off)
    const { code, stderr } = await run()
    is(code, 3)
    match(stderr, 'the proxy at 127.0.0.1 gives no certificates. It does with proxy.sshCertificatesFor among the values')
    equal(await files(), [])
  })

  it('takes no way in that is written otherwise', async () => {
    for (const odd of [
      { port: '0' },
      { port: 'x' },
      { port: '70000' },
      { host: '-oProxyCommand=id' },
      { host: 'a b' },
      { hostKey: 'ssh-rsa AAAA' },
      { hostKey: `${line}\n${line}` },
      { certificateHours: '-1' },
      { certificateHours: 'many' },
    ]) {
      await tell({ ...NOBODY, ...odd })
      const { code, stderr } = await run()
      equal([odd, code], [odd, 7])
      match(stderr, 'as the proxy does. Restart the proxy', JSON.stringify(odd))
    }
    equal(await files(), [])
  })

  it('asks for no more than there is, and knows lengths of time', async () => {
    await tell(NOBODY)
    const { code, stderr } = await run('--for', '4h1s')
    is(code, 7)
    match(stderr, 'certificates count for 4 h at most at 127.0.0.1. Write --for 4h, or less.')
    match((await run('--for', 'soon')).stderr, '--for is "soon", which is no length of time. Write it like 8h or 30m.')
  })

  it('wants a token in the kubeconfig', async () => {
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'x',
      clusters: [{ name: 'x', cluster: { server: cluster.kube.server } }],
      users: [{ name: 'x', user: { 'client-certificate-data': 'eA==', 'client-key-data': 'eA==' } }],
      contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    }
    await writeFile(join(home, 'by-certificate'), JSON.stringify(config))
    const { code, message, remedy } = await failureOf(() => tokenOfPerson({ kubeconfig: join(home, 'by-certificate') }))
    equal([code, message], ['unauthorized', 'the current context logs in without a token'])
    match(remedy ?? '', 'Name a context that has a token or an exec plugin with --context')
  })

  it('says that nobody answers, and leaves no certificate', async () => {
    const { code, stdout, stderr } = await run()
    equal([code, stdout], [5, ''])
    match(stderr, `Shows the token of the kubeconfig to 127.0.0.1:1, as ConfigMap ${namespace}/berth-proxy-ssh says.`)
    ok(stderr.indexOf('Shows the token') < stderr.indexOf('127.0.0.1:1 is not reached'), stderr)
    equal((await files()).toSorted(), ['id_ed25519', 'id_ed25519.pub'])
  })

  it('certifies public keys of ed25519, and shows no other file to anybody', async () => {
    const { secret } = createKeyPair()
    await writeFile(join(home, 'private'), secret.reveal())
    await writeFile(join(home, 'private.pub'), secret.reveal())
    await writeFile(join(home, 'rsa.pub'), 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ ada\n')
    await writeFile(join(home, 'no-end'), `${line} ada\n`)
    for (const file of ['private', 'private.pub', 'rsa.pub', 'no-end']) {
      const { code, stderr } = await run('--key', file)
      equal([file, code], [file, 7])
      match(stderr, `--key: ${file} is no public key of ed25519. Name the file that ends in .pub`)
      not.match(stderr, 'BEGIN')
    }
    is((await run('--key', 'nothing.pub')).code, 3)
  })

  it('leaves a certificate alone that another authority gave, or that is for another key', async () => {
    const [own, other, authority] = [createKeyPair(), createKeyPair(), createKeyPair()]
    await writeFile(join(home, 'mine.pub'), `${own.line}\n`)
    const file = join(home, 'mine-cert.pub')
    const certificateFor = ({ line: text }: KeyPair, extensions: Map<string, string>) => {
      const key = { type: 'ssh-ed25519', blob: text.split(' ')[1] ?? '' }
      const times = { since: Date.now() - hours(2), until: Date.now() - hours(1) }
      return `ssh-ed25519-cert-v01@openssh.com ${signCertificate(authority, { key, keyId: 'ada', principals: ['ada'], ...times, extensions }).text} berth\n`
    }
    const ours = new Map([['groups@berth.dev', '[]']])
    for (const there of [
      certificateFor(own, new Map([['permit-pty', '']])),
      certificateFor(other, ours),
      'ssh-rsa-cert-v01@openssh.com AAAA',
      'notes',
    ]) {
      await writeFile(file, there)
      const { code, stderr } = await run('--key', 'mine.pub')
      is(code, 1)
      match(stderr, 'mine-cert.pub is no certificate for this key by Berth, and left alone. Move it away, or leave --key out')
      is(await readFile(file, 'utf8'), there)
    }
    await writeFile(file, certificateFor(own, ours))
    match((await run('--key', 'mine.pub')).stderr, '127.0.0.1:1 is not reached')
  })

  it('makes its key once, and leaves alone what is none, and links', async () => {
    const key = join(home, '.ssh', 'berth', 'id_ed25519')
    const before = await readFile(key, 'utf8')
    await run()
    is(await readFile(key, 'utf8'), before)
    await writeFile(key, 'something else')
    const { code, stderr } = await run()
    is(code, 7)
    match(stderr, 'is no private key of ed25519 without a passphrase. Name its public half with --key')
    await rm(join(home, '.ssh'), { recursive: true })
    await mkdir(join(home, 'elsewhere'))
    await symlink(join(home, 'elsewhere'), join(home, '.ssh'))
    match((await run()).stderr, 'is a symbolic link, which is left alone')
    equal(await readdir(join(home, 'elsewhere')), [])
  })
})
