import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { equal, is, match } from 'uvu/assert'
import { type GitAccess, type Mirrors, openMirrors, remoteUrl } from '../../../src/adapters/git/index.ts'
import { Failure, Secret, systemClock } from '../../../src/std/index.ts'
import { portOf } from '../../support/addresses.ts'
import { selfSigned } from '../../support/builders/certificate.ts'
import { type GitHost, gitHost } from '../../support/git-host.ts'
import { goPeer, goSshHost, lacksGoPeer, type SshHost } from '../../support/go-peer.ts'
import { describe } from '../../support/suite.ts'

const never = new AbortController().signal
const run = promisify(execFile)

/** The code and reason with which it fails. */
async function refusal(work: Promise<unknown>): Promise<string[]> {
  try {
    await work
  } catch (thrown) {
    const { code, reason = '', message } = Failure.from(thrown)
    return [code, reason, message]
  }
  return ['succeeded']
}

describe(
  'git over SSH',
  (it) => {
    let host: GitHost
    let ssh: SshHost
    let folder = ''
    let mirrors: Mirrors
    let commit = ''
    let key = ''

    it.before(async () => {
      host = await gitHost()
      folder = await mkdtemp(join(tmpdir(), "berth keys 100%'"))
      for (const name of ['key', 'other']) await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)])
      key = await readFile(join(folder, 'key'), 'utf8')
      ssh = await goSshHost(await goPeer(), host.folder, join(folder, 'key.pub'))
      commit = await (await host.repository('shop')).commit({ 'deploy/a.yaml': 'a: 1' })
      mirrors = await openMirrors({
        folder: join(folder, 'data'),
        environment: host.environment,
        protocols: ['ssh'],
        clock: systemClock,
      })
    })
    it.after(async () => {
      await ssh.stop()
      await host.close()
      await rm(folder, { recursive: true })
    })

    const urlOf = (path: string) => remoteUrl(`ssh://git@${ssh.address}/${path}`, ['ssh'])
    const access = ({ privateKey = key, knownHosts = ssh.knownHosts } = {}): GitAccess => ({
      ssh: { privateKey: new Secret(privateKey), knownHosts },
    })
    const mirrorOf = (as: GitAccess = access(), path = 'shop.git') => mirrors.of({ url: urlOf(path), owner: 'test', ...as })
    const locate = (as?: GitAccess, path?: string) => mirrorOf(as, path).locate({ kind: 'default' }, never)

    it('finds commits and fetches them, and leaves no key behind', async () => {
      const mirror = mirrorOf()
      equal(await mirror.locate({ kind: 'default' }, never), { commit, refName: 'refs/heads/main' })
      await mirror.fetch(commit, never)
      const files = await mirror.files(commit, never)
      equal(
        files.map(({ path }) => path),
        ['deploy/a.yaml'],
      )
      equal(await readdir(join(folder, 'data', 'home')), [])
    })

    it('reads a key as editors of other systems leave it', async () => {
      is((await locate(access({ privateKey: key.trimEnd().replaceAll('\n', '\r\n') })))?.commit, commit)
    })

    it('believes no host but those in known_hosts', async () => {
      const [, of] = ssh.knownHosts.split(' ssh-')
      const stranger = ssh.knownHosts.replace(/\S{8}$/, 'AAAAAAAA')
      for (const knownHosts of ['', stranger, `elsewhere.example ssh-${of}`]) {
        const [code, reason] = await refusal(locate(access({ knownHosts })))
        equal([code, reason], ['unauthorized', 'HostKeyUnknown'], knownHosts)
      }
    })

    it('says whether it is the key that is wrong, or the repository', async () => {
      const other = await readFile(join(folder, 'other'), 'utf8')
      for (const privateKey of [other, 'no key at all']) {
        const [code, reason, message = ''] = await refusal(locate(access({ privateKey })))
        equal([code, reason], ['unauthorized', 'AuthenticationFailed'])
        match(message, /did not accept the key/)
      }
      equal((await refusal(locate(undefined, 'nowhere.git'))).slice(0, 2), ['not-found', 'RepositoryNotFound'])
      equal((await refusal(locate({}))).slice(0, 2), ['invalid', 'KeyMissing'])
    })

    it('goes only to the address that was checked', async () => {
      const [, port = ''] = ssh.address.split(':')
      const named = await openMirrors({
        folder: join(folder, 'pinned'),
        environment: host.environment,
        protocols: ['ssh'],
        clock: systemClock,
        resolve: async (name) => (name === 'git.test' ? ['127.0.0.1'] : ['169.254.169.254']),
      })
      const at = (name: string) =>
        named
          .of({
            url: `ssh://git@${name}:${port}/shop.git`,
            owner: 'test',
            ...access({ knownHosts: ssh.knownHosts.replace('127.0.0.1', name) }),
          })
          .locate({ kind: 'default' }, never)
      is((await at('git.test'))?.commit, commit)
      equal((await refusal(at('metadata.test'))).slice(0, 2), ['invalid', 'AddressNotAllowed'])
    })
  },
  await lacksGoPeer(),
)

describe('git over https with an authority of its own', (it) => {
  let host: GitHost
  let folder = ''
  let server: Server
  let url = ''
  const { key, cert } = selfSigned('127.0.0.1')

  it.before(async () => {
    host = await gitHost()
    folder = await mkdtemp(join(tmpdir(), 'berth-authorities-'))
    await (await host.repository('shop')).commit({ a: '1' })
    server = createServer({ key, cert }, (asked, answer) => {
      const onward = request(`${host.url}${asked.url}`, { method: asked.method ?? 'GET', headers: asked.headers }, (answered) => {
        answer.writeHead(answered.statusCode ?? 502, answered.headers)
        answered.pipe(answer)
      })
      asked.pipe(onward)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    url = `https://127.0.0.1:${portOf(server)}/shop.git`
  })
  it.after(async () => {
    server.closeAllConnections()
    server.close()
    await host.close()
    await rm(folder, { recursive: true })
  })

  it('is believed with it, and not without', async () => {
    const { environment } = host
    const mirrors = await openMirrors({ folder, environment, protocols: ['https'], clock: systemClock })
    const locate = (authorities?: string) => mirrors.of({ url, owner: 'test', authorities }).locate({ kind: 'default' }, never)
    is((await locate(cert))?.refName, 'refs/heads/main')
    equal((await refusal(locate())).slice(0, 2), ['unavailable', 'CertificateInvalid'])
    equal((await refusal(locate('no certificate'))).slice(0, 2), ['unavailable', 'CertificateInvalid'])
    equal(await readdir(join(folder, 'home')), [])
  })
})
