import { createServer, type Server } from 'node:https'
import { equal, is, match } from 'uvu/assert'
import { createReader } from '../../../src/adapters/http/index.ts'
import { allowedUrl } from '../../../src/engines/devfiles/index.ts'
import { createDevfileFetcher } from '../../../src/kas/devfiles/index.ts'
import { Failure } from '../../../src/std/index.ts'
import { portOf } from '../../support/addresses.ts'
import { selfSigned } from '../../support/builders/certificate.ts'
import { steppedClock } from '../../support/clock.ts'
import { describe } from '../../support/suite.ts'

const HOSTS = ['registry.example.com', '*.files.example.com', 'own.example.com:8443']

const URLS: [why: string, url: string, says: RegExp | undefined][] = [
  ['a host of the list', 'https://registry.example.com/devfiles/go?x=1', undefined],
  ['one below a host of the list', 'https://a.b.files.example.com/devfile.yaml', undefined],
  ['a port of the list', 'https://own.example.com:8443/a', undefined],
  ['the usual port, written out', 'https://registry.example.com:443/a', undefined],
  ['another host', 'https://example.com/a', /devfiles of example\.com are not fetched here/],
  ['a host that only ends like one', 'https://evilregistry.example.com/a', /not fetched here/],
  ['a host that begins like one', 'https://registry.example.com.evil.org/a', /not fetched here/],
  ['the domain above', 'https://files.example.com/a', /not fetched here/],
  ['another port', 'https://registry.example.com:22/a', /not fetched here/],
  ['the usual port where another is listed', 'https://own.example.com/a', /not fetched here/],
  ['an address', 'https://169.254.169.254/latest', /not fetched here/],
  ['plain text', 'http://registry.example.com/a', /begins with http:/],
  ['a file', 'file:///etc/passwd', /begins with file:/],
  ['credentials', 'https://me:secret@registry.example.com/a', /carries credentials/],
  ['a host in the place of a user', 'https://registry.example.com@evil.org/a', /carries credentials/],
  ['what is no URL', 'registry.example.com', /not a URL/],
  ['endless', `https://registry.example.com/${'a'.repeat(3000)}`, /not a URL/],
]

const failureOf = async (work: Promise<unknown>): Promise<Failure> =>
  work.then(
    () => new Failure('internal', 'it did not fail'),
    (thrown) => Failure.from(thrown),
  )

describe('kas: devfiles from web servers', (it) => {
  const { key, cert } = selfSigned('devfiles.example.com')
  const clock = steppedClock()
  const asked: string[] = []
  let server: Server
  let port = 0
  let base = ''

  it.before(async () => {
    server = createServer({ key, cert }, ({ url = '' }, response) => {
      asked.push(url)
      const [, status, location] = /^\/(\d+)(?:\/to\/(.*))?$/.exec(url) ?? []
      if (url === '/large') response.end('x'.repeat(2000))
      else if (url === '/ring') response.writeHead(302, { location: '/ring' }).end()
      else if (status) response.writeHead(Number(status), location ? { location: decodeURIComponent(location) } : {}).end()
      else response.end(`text of ${url}`)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = portOf(server)
    base = `https://devfiles.example.com:${port}`
  })
  it.beforeEach(() => void asked.splice(0))
  it.after(() => new Promise((resolve) => server.close(resolve)))

  const fetcherFor = (allowLocal = true, resolved = '127.0.0.1') =>
    createDevfileFetcher({
      hosts: [`devfiles.example.com:${port}`],
      clock,
      read: createReader({
        allowLocal,
        most: 1000,
        ca: cert,
        lookup: (_, options, answer) =>
          options.all ? answer(null, [{ address: resolved, family: 4 }]) : answer(null, resolved, 4),
      }),
    })

  for (const [why, url, says] of URLS)
    it(`${says ? 'refuses' : 'takes'} ${why}`, async () => {
      const failure = await failureOf((async () => allowedUrl(url, HOSTS))())
      match(failure.message, says ?? /^it did not fail$/)
    })

  it('are asked for once by all who want them in the same minute', async () => {
    const fetch = fetcherFor()
    const texts = await Promise.all([fetch(`${base}/a`), fetch(`${base}/a`), fetch(`${base}/b`)])
    equal(texts, ['text of /a', 'text of /a', 'text of /b'])
    await fetch(`${base}/a`)
    equal(asked.toSorted(), ['/a', '/b'])
    await clock.step(61_000)
    await fetch(`${base}/a`)
    equal(asked.length, 3)
  })

  it('follow a redirect to a listed host, and to no other', async () => {
    is(await fetcherFor()(`${base}/302/to/${encodeURIComponent('/a')}`), 'text of /a')
    const away = await failureOf(fetcherFor()(`${base}/302/to/${encodeURIComponent('https://169.254.169.254/latest')}`))
    match(away.message, /devfiles of 169\.254\.169\.254 are not fetched here/)
    match((await failureOf(fetcherFor()(`${base}/ring`))).message, /leads on more than 3 times/)
  })

  it('are refused where they are too large, or not there', async () => {
    match((await failureOf(fetcherFor()(`${base}/large`))).message, /more than a devfile may have/)
    const missing = await failureOf(fetcherFor()(`${base}/404`))
    equal([missing.code, /answers 404/.test(missing.message)], ['invalid', true])
    equal((await failureOf(fetcherFor()(`${base}/503`))).code, 'unavailable')
    const fetch = fetcherFor()
    await failureOf(fetch(`${base}/503`))
    await failureOf(fetch(`${base}/503`))
    equal(asked.filter((url) => url === '/503').length, 3, 'what failed is not kept')
  })

  it('are not fetched where the name leads to what nobody may choose', async () => {
    match((await failureOf(fetcherFor(true, '169.254.169.254')(`${base}/a`))).message, /link-local, metadata or reserved/)
    match((await failureOf(fetcherFor(false, '10.0.0.7')(`${base}/a`))).message, /own machines or networks/)
    equal(asked, [])
  })
})
