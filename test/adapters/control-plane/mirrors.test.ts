import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTcpServer, type Server } from 'node:net'
import { platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, not, ok } from 'uvu/assert'
import { acquireTools } from '../../../src/adapters/control-plane/index.ts'
import { isFailure } from '../../../src/std/index.ts'
import { portOf } from '../../support/addresses.ts'
import { type ReleaseSite, releaseSite } from '../../support/release-site.ts'
import { describe } from '../../support/suite.ts'

const BAD_REQUEST = 'HTTP/1.1 400 Bad Request\r\n\r\n'

describe(
  'control plane programs: mirrors and proxies',
  (it) => {
    let home = ''
    let site: ReleaseSite
    const lines: string[] = []
    const report = { line: (text: string) => void lines.push(text), progress: () => undefined }
    const acquire = (others: Record<string, string> = {}) => {
      lines.splice(0)
      return acquireTools({ env: { XDG_CACHE_HOME: home, PATH: '/usr/bin:/bin', BERTH_RELEASES: site.url, ...others }, report })
    }
    const refused = (others: Record<string, string>) => acquire(others).catch((thrown: unknown) => thrown)
    /** What is said of the releases where nothing is to be had. */
    const whyNot = async (others: Record<string, string>) => {
      ok(isFailure(await refused(others), 'unavailable'))
      return lines.find((line) => line.startsWith('release binaries: ')) ?? ''
    }

    it.beforeEach(async () => {
      home = mkdtempSync(join(tmpdir(), 'berth-mirror-'))
      site = await releaseSite()
    })
    it.afterEach(async () => {
      await site.close()
      rmSync(home, { recursive: true })
    })

    it('come through the proxy that the environment names', async () => {
      const { url } = site
      const through = { BERTH_RELEASES: 'http://mirror.test/copies', HTTP_PROXY: url }
      match(await whyNot(through), /mirror\.test\/copies\/.* answers 404/)
      ok(site.asked.every(({ path }) => path.startsWith('/copies/')))
      equal((await acquire({ http_proxy: 'http://127.0.0.1:1', no_proxy: '127.0.0.1' })).missing, [])
    })

    it('come through an https_proxy without a scheme, as curl takes it, which is asked to connect', async () => {
      const asked: string[] = []
      const proxy = createServer().on('connect', ({ url = '' }, socket) => {
        asked.push(url)
        socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
      })
      const BERTH_RELEASES = 'https://mirror.test'
      const why = await whyNot({ BERTH_RELEASES, https_proxy: `me:pw@127.0.0.1:${await listeningOn(proxy)}` })
      proxy.close()
      match(why, /502/)
      equal(new Set(asked), new Set(['mirror.test:443']))
      match(
        await whyNot({ BERTH_RELEASES, HTTPS_PROXY: 'me:s3%cret@proxy' }),
        /HTTPS_PROXY is "\*\*\*@proxy"; an address like http:\/\/proxy\.example:3128 is wanted/,
      )
    })

    it('are not asked for by TLS where none is spoken', async () => {
      // A server that closes the connection too may be quicker with that.
      const plain = createTcpServer((socket) => socket.on('error', () => undefined).once('data', () => socket.write(BAD_REQUEST)))
      const host = `127.0.0.1:${await listeningOn(plain)}`
      const why = await whyNot({ BERTH_RELEASES: `https://${host}` })
      plain.close()
      match(why, `${host}, or an https:// proxy on the way to it, speaks no TLS`)
    })

    it('come from a mirror with a password, which no message has', async () => {
      const address = new URL(site.url)
      Object.assign(address, { username: 'reader', password: 's3cret' })
      site.sums.kwok = '<html>Log in</html>'
      match(await whyNot({ BERTH_RELEASES: address.href }), /api\.github\.com.* does not say what .* must be/)
      ok(site.asked.every(({ authorization }) => authorization === `Basic ${Buffer.from('reader:s3cret').toString('base64')}`))
      not.match(String(lines), 's3cret')
    })

    it('are refused with what to write where the setting is no mirror', async () => {
      for (const [setting, shown] of [
        ['ftp://mirror.test', 'ftp://mirror.test'],
        ['mirror.test', 'mirror.test'],
        ['ftp://me:s3cret@mirror.test', 'ftp://***@mirror.test'],
        ['me:s3cret@mirror.test', '***@mirror.test'],
        ['https://me:s3cret%@mirror.test', 'https://***@mirror.test'],
        ['https://mirror.test/?token=s3cret', 'https://mirror.test/?***'],
        ['https://me:s3#cret@mirror.test', '***'],
      ] as const) {
        const failure = await refused({ BERTH_RELEASES: setting })
        ok(isFailure(failure, 'invalid'))
        is(failure.message, `BERTH_RELEASES is "${shown}"`)
        match(failure.remedy ?? '', 'https:// or http:// address of a mirror without ? and #, or off')
      }
      match(await whyNot({ BERTH_RELEASES: 'Off' }), /switched off by BERTH_RELEASES/)
    })
  },
  platform() === 'linux' ? undefined : 'a whole control plane is released for Linux only',
)

async function listeningOn(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return portOf(server)
}
