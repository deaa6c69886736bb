import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, ok } from 'uvu/assert'
import { anywhere, type MirrorOptions, openMirrors } from '../../../src/adapters/git/index.ts'
import { isFailure, Secret, systemClock } from '../../../src/std/index.ts'
import { portOf } from '../../support/addresses.ts'
import { type GitHost, gitHost } from '../../support/git-host.ts'
import { describe } from '../../support/suite.ts'

const CANARY = 'canary-91c2'
const never = new AbortController().signal

/** The reason with which something is refused; `undefined` if it is not. */
async function reasonOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work
    return undefined
  } catch (thrown) {
    if (isFailure(thrown)) return thrown.reason
    throw thrown
  }
}

describe('reach', (it) => {
  let host: GitHost
  let folder = ''
  let port = ''
  let commit = ''
  it.before(async () => {
    host = await gitHost()
    port = new URL(host.url).port
    folder = await mkdtemp(join(tmpdir(), 'berth-reach-'))
    commit = await (await host.repository('shop')).commit({ a: '1' })
  })
  it.after(async () => {
    await host.close()
    await rm(folder, { recursive: true })
  })

  const located = async (url: string, options: Partial<MirrorOptions> & { secret?: boolean } = {}) => {
    const { secret, ...more } = options
    const mirrors = await openMirrors({
      folder,
      environment: host.environment,
      protocols: ['http', 'https'],
      clock: systemClock,
      ...more,
    })
    const credential = secret ? { password: new Secret(CANARY) } : undefined
    return mirrors.of({ url, credential, owner: 'test' }).locate({ kind: 'default' }, never)
  }
  const at = (...addresses: string[]): Pick<MirrorOptions, 'resolve'> => ({ resolve: async () => addresses })

  it('ties git to the addresses that were checked', async () => {
    // The name is nowhere else: git could not come here by itself.
    is((await located(`http://pinned.test:${port}/shop.git`, at('127.0.0.1')))?.commit, commit)
  })

  it('asks again before each contact, so that a name that changes its mind is found out', async () => {
    const answers = [['127.0.0.1'], ['169.254.169.254']]
    const mirrors = await openMirrors({
      folder,
      environment: host.environment,
      protocols: ['http'],
      clock: systemClock,
      resolve: async () => answers.shift() ?? [],
    })
    const mirror = mirrors.of({ url: `http://rebinding.test:${port}/shop.git`, owner: 'test' })
    is((await mirror.locate({ kind: 'default' }, never))?.commit, commit)
    is(await reasonOf(mirror.fetch(commit, never)), 'AddressNotAllowed')
  })

  const REFUSED: [why: string, url: string, addresses: string[], reason: string, secret?: boolean][] = [
    ['link-local addresses', 'https://a.test/x', ['169.254.169.254'], 'AddressNotAllowed'],
    ['one bad address among good ones', 'https://a.test/x', ['8.8.8.8', 'fe80::1'], 'AddressNotAllowed'],
    ['a bad address as the host itself', 'http://169.254.169.254/latest/meta-data', [], 'AddressNotAllowed'],
    ['a bad address written as a number', 'http://2852039166/x', [], 'AddressNotAllowed'],
    ['a bad IPv6 address', 'http://[::ffff:169.254.169.254]/x', [], 'AddressNotAllowed'],
    ['credentials over plain http', 'http://a.test/x', ['10.0.0.1'], 'CredentialsNotEncrypted', true],
    [
      'credentials over plain http to some loopback',
      'http://a.test/x',
      ['127.0.0.1', '10.0.0.1'],
      'CredentialsNotEncrypted',
      true,
    ],
  ]
  for (const [why, url, addresses, reason, secret = false] of REFUSED)
    it(`refuses ${why}`, async () => is(await reasonOf(located(url, { ...at(...addresses), secret })), reason))

  it('refuses private and loopback addresses where it is told to', async () => {
    const rules = { addresses: ['public' as const], hosts: undefined }
    is(await reasonOf(located(`${host.url}/shop.git`, { rules })), 'AddressNotAllowed')
    is(await reasonOf(located('https://a.test/x', { rules, ...at('10.0.0.1') })), 'AddressNotAllowed')
  })

  it('knows the hosts it is told, and nothing like them', async () => {
    const rules = { ...anywhere, hosts: ['git.test', '*.good.test'] }
    const reason = (name: string) => reasonOf(located(`http://${name}:${port}/shop.git`, { rules, ...at('127.0.0.1') }))
    equal(await Promise.all(['git.test', 'GIT.test', 'a.good.test', 'b.a.good.test'].map(reason)), [
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    for (const name of ['good.test', 'evilgood.test', 'git.test.evil.test', 'gitxtest', 'xgit.test'])
      is(await reason(name), 'HostNotAllowed', name)
  })

  it('says that a name is not known', async () => {
    is(await reasonOf(located('https://no-such-host.invalid/x')), 'Unreachable')
  })

  it('lets the proxy look up names that are not known here', async () => {
    const asked: string[] = []
    const proxy = await listening((request) => void asked.push(request.url ?? ''))
    const environment = { ...host.environment, http_proxy: proxy.url }
    ok(await reasonOf(located('http://only-there.invalid/x', { environment })))
    match(asked[0] ?? '', 'http://only-there.invalid/x/info/refs')
    await proxy.close()
  })

  it('follows no redirect, and shows its target no credentials', async () => {
    const seen: IncomingHttpHeaders[] = []
    const target = await listening(({ headers }) => void seen.push(headers))
    const origin = await listening(
      ({ headers }) => void seen.push(headers),
      `${target.url}/shop.git/info/refs?service=git-upload-pack`,
    )
    is(await reasonOf(located(`${origin.url}/shop.git`, { secret: true })), 'RepositoryMoved')
    equal(
      seen.map(({ authorization }) => authorization !== undefined),
      [true],
    )
    await origin.close()
    await target.close()
  })
})

/** A server that answers with a redirect, or with 404. */
async function listening(
  onRequest: (request: { url?: string | undefined; headers: IncomingHttpHeaders }) => void,
  location?: string,
) {
  const server: Server = createServer((request, response) => {
    onRequest(request)
    response.writeHead(location ? 302 : 404, location ? { location } : {}).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
