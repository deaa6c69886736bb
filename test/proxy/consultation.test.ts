import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { equal, is, match, ok } from 'uvu/assert'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { hostOf, runProxy, SIGN_IN } from './running-proxy.ts'
import { type Stage, setStage } from './stage.ts'

const VIA_NGINX = { 'x-real-ip': '192.0.2.7', 'x-forwarded-for': '192.0.2.7', 'x-sent-from': 'nginx-ingress-controller' }
const PAGE = { accept: 'text/html', 'user-agent': 'Mozilla/5.0' }

interface Said {
  method?: string
  headers?: IncomingHttpHeaders
}

/** What each of them sends about a request, as its documentation has it. */
const INGRESSES = {
  /** The subrequest is a GET without a body, with the headers of the visitor, and these set by `proxy_set_header`. */
  nginx: (host: string, target: string, { method = 'GET', headers = {} }: Said = {}) => ({
    path: '/nginx',
    method: 'GET',
    headers: {
      ...{ ...headers, ...VIA_NGINX, host: 'proxy.berth-system.svc:8182', connection: 'close' },
      'x-original-url': `https://${host}${target}`,
      'x-original-method': method,
    },
  }),
  /** A GET with the visitor's headers, those between neighbours left out, and X-Forwarded-* written anew. */
  traefik: (host: string, target: string, { method = 'GET', headers = {} }: Said = {}) => ({
    path: '/traefik',
    method: 'GET',
    headers: {
      ...{ ...headers, host: 'proxy.berth-system.svc:8182', 'accept-encoding': 'gzip', 'x-forwarded-for': '192.0.2.7' },
      ...{ 'x-forwarded-method': method, 'x-forwarded-proto': 'https', 'x-forwarded-host': host, 'x-forwarded-uri': target },
    },
  }),
  /** Method, host and target of the request itself, the target behind `path_prefix`, of other headers those that are allowed; no body. */
  envoy: (host: string, target: string, { method = 'GET', headers = {} }: Said = {}) => ({
    path: `/envoy${target}`,
    method,
    headers: { ...headers, host, 'content-length': '0', 'x-envoy-internal': 'true' },
  }),
}
type Ingress = keyof typeof INGRESSES
const NAMES: Ingress[] = ['nginx', 'traefik', 'envoy']

describe('what an ingress is told about a request', (it) => {
  let stage: Stage
  it.before(async () => {
    stage = await setStage((_request, response) => response.end('the app'), {
      authorize: '127.0.0.1:0',
      authorizeCallers: '127.0.0.1',
    })
    await stage.workspace('web', { spec: { shares: [{ name: 'pair', user: 'grace@example.com', ports: ['app'] }] } })
  })
  it.after(() => stage.close())

  const host = hostOf('web')
  const ask = async (
    question: { path: string; method: string; headers: IncomingHttpHeaders },
    at = stage.proxy.addresses.authorize,
  ) => {
    const [name, port] = `${at}`.split(':')
    const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) =>
      httpRequest({ host: name, port, agent: false, ...question }, resolve)
        .on('error', reject)
        .end(),
    )
    return { status: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) }
  }
  const statusOf = async (name: Ingress, target: string, said: Said, at = host) =>
    (await ask(INGRESSES[name](at, target, said))).status

  it('is that the owner may, without the cookie that says so', async () => {
    const ada = await stage.signedIn('ada@example.com', 'web')
    const own = ada.cookies(host)
    for (const name of NAMES) {
      const said = { method: 'PUT', headers: { ...PAGE, cookie: `theme=dark; ${own}`, authorization: 'Bearer x' } }
      const answer = await ask(INGRESSES[name](host, '/a/b?c=d', said))
      equal([answer.status, answer.body, answer.headers.cookie], [200, '', 'theme=dark'], name)
      is(answer.headers.authorization, undefined)
      const bare = await ask(INGRESSES[name](host, '/', { headers: { cookie: own } }))
      equal([bare.status, bare.headers.cookie], [200, undefined])
      // Envoy leaves in what is not answered; the others take it out.
      is(bare.headers['x-envoy-auth-headers-to-remove'], name === 'envoy' ? 'cookie,authorization' : undefined)
    }
    const lines = () =>
      stage.proxy
        .log()
        .split('\n')
        .filter((line) => line.includes('"consultation"') && line.includes('"PUT"'))
    await eventually(() => lines().length === NAMES.length)
    for (const part of ['"path":"/a/b"', '"user":"ada@example.com"', `"host":"${host}"`])
      equal(
        lines().filter((line) => !line.includes(part)),
        [],
      )
    // Envoy passes no address on unless it is told to.
    is(lines().filter((line) => line.includes('"from":"192.0.2.7"')).length, 2)
  })

  it('is that somebody has to sign in, in words that it understands', async () => {
    is(await statusOf('nginx', '/docs', { headers: PAGE }), 401)
    for (const name of ['traefik', 'envoy'] as const) {
      const { status, headers } = await ask(INGRESSES[name](host, '/docs?a=b', { headers: PAGE }))
      is(status, 303)
      const to = new URL(`${headers.location}`)
      equal([to.host, to.searchParams.get('host'), to.searchParams.get('path')], [SIGN_IN, host, '/docs?a=b'])
      match(`${headers['set-cookie']}`, /^__Host-berth-visit=/)
      is(await statusOf(name, '/docs', { method: 'POST', headers: PAGE }), 401, 'nothing but a page can be gone away from')
    }
    // That is where nginx sends people then.
    const target = '/docs?a=b&c=%2F'
    for (const rd of [`https://${host}${target}`, encodeURIComponent(`https://${host}${target}`)]) {
      const away = await stage.browser().ask(`https://${host}/.berth/sign-in?rd=${rd}`)
      is(new URL(`${away.headers.location}`).searchParams.get('path'), target)
    }
    const astray = await stage.browser().ask(`https://${host}/.berth/sign-in?rd=https://evil.example/docs`)
    is(new URL(`${astray.headers.location}`).searchParams.get('path'), '/')
  })

  it('is no for whoever may not, and for pages of elsewhere', async () => {
    const [eve, ada] = [await stage.signedIn('eve@example.com', 'web'), await stage.signedIn('ada@example.com', 'web')]
    const socket = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13', cookie: ada.cookies(host) }
    for (const name of NAMES) {
      is(await statusOf(name, '/', { headers: { ...PAGE, cookie: eve.cookies(host) } }), 403, 'a stranger')
      is(await statusOf(name, '/', { headers: { ...socket, origin: 'https://evil.example' } }), 403, 'a socket of elsewhere')
      is(await statusOf(name, '/', { headers: socket }), 403, 'a socket of nowhere')
      is(await statusOf(name, '/', { headers: { ...socket, origin: `https://${host}` } }), 200, 'a socket of its own')
      ok([403, 404].includes(await statusOf(name, '/', { headers: PAGE }, hostOf('nowhere'))), 'a host that nobody has')
      is(
        (await statusOf(name, '/', { headers: { cookie: ada.cookies(host) } }, hostOf('web', 8080))) >= 400,
        true,
        'another port',
      )
    }
  })

  it('is only no for nginx, which leads people to the reason', async () => {
    const eve = await stage.signedIn('eve@example.com', 'web')
    const refused = await eve.ask(`https://${host}/.berth/why`)
    is(refused.status, 403)
    match(refused.body, /Ask ada@example\.com/)
    const ada = await stage.signedIn('ada@example.com', 'web')
    equal([(await ada.ask(`https://${host}/.berth/why`)).headers.location], ['/'])
  })

  it('is about what the ingress itself says, whatever the visitor has written', async () => {
    await stage.workspace('open', {
      maxVisibility: 'public',
      spec: { ports: [{ name: 'app', port: 3000, visibility: 'public' }] },
    })
    for (const name of NAMES) is(await statusOf(name, '/', {}, hostOf('open')), 200)
    const open = hostOf('open')
    const invented = {
      nginx: { 'x-forwarded-host': open, 'x-forwarded-uri': '/', 'x-original-uri': '/', x_original_url: `https://${open}/` },
      traefik: { 'x-original-url': `https://${open}/`, x_forwarded_host: open, forwarded: `host=${open}` },
      envoy: { 'x-forwarded-host': open, 'x-original-url': `https://${open}/`, 'x-envoy-original-path': '/' },
    }
    for (const name of NAMES)
      ok([401, 303].includes(await statusOf(name, '/', { headers: { ...PAGE, ...invented[name] } })), name)
  })

  it('is no for what is said twice, not at all, or could be read in two ways', async () => {
    const ada = await stage.signedIn('ada@example.com', 'web')
    const headers = { cookie: ada.cookies(host) }
    const targets = ['/a#b', '/\\evil', '//\\', 'x', '*', 'http://evil.example/', '/%zz\\', '/ä']
    for (const name of ['nginx', 'traefik'] as const)
      for (const target of targets) {
        const question = INGRESSES[name](host, encodeURI('/'), { headers })
        const header = name === 'nginx' ? 'x-original-url' : 'x-forwarded-uri'
        const value = Buffer.from(name === 'nginx' ? `https://${host}${target}` : target).toString('latin1')
        ok((await ask({ ...question, headers: { ...question.headers, [header]: value } })).status >= 400, `${name} ${target}`)
      }
    for (const target of ['/a#b', '/\\evil', '']) is(await statusOf('envoy', target, { headers }), 400, target)
    const { headers: whole } = INGRESSES.nginx(host, '/', { headers })
    const flat = Object.entries(whole).flatMap(([name, value]) => [name, `${value}`])
    const twice = [...flat, 'X-Original-URL', `https://${hostOf('open')}/`]
    const answer = await new Promise<number>((resolve, reject) => {
      const [name, port] = `${stage.proxy.addresses.authorize}`.split(':')
      httpRequest({ host: name, port, path: '/nginx', headers: twice, agent: false }, ({ statusCode = 0 }) => resolve(statusCode))
        .on('error', reject)
        .end()
    })
    is(answer, 403)
    is((await ask({ path: '/nginx', method: 'GET', headers: { ...headers, host } })).status, 403, 'nothing is said')
    is((await ask({ path: '/', method: 'GET', headers: { ...headers, host } })).status, 404)
    is((await ask({ path: '/constructor', method: 'GET', headers: { ...headers, host } })).status, 404)
  })

  it('uses up no ticket, and lets nothing below /.berth/ reach a workspace', async () => {
    const ada = await stage.signedIn('ada@example.com', 'web')
    for (const name of NAMES) {
      const status = await statusOf(name, '/.berth/arrive?ticket=x', { headers: { cookie: ada.cookies(host) } })
      ok(status >= 400, `${name} ${status}`)
    }
  })

  it('is nothing at all for others than ingresses', async () => {
    const { cluster, namespace, provider, homes } = stage
    const flags = { authorize: '127.0.0.1:0', authorizeCallers: '192.0.2.0/24' }
    const other = await runProxy({ cluster, namespace, provider, homes, flags })
    const ada = await stage.signedIn('ada@example.com', 'web')
    const { status, body } = await ask(
      INGRESSES.nginx(host, '/', { headers: { cookie: ada.cookies(host) } }),
      other.addresses.authorize,
    )
    await other.stop()
    is(status, 403)
    match(body, /--authorize-callers/)
    // And where browsers come in, nobody is asked by a path.
    const asked = await stage.browser().ask(`https://${SIGN_IN}/nginx`, { headers: { 'x-original-url': `https://${host}/` } })
    ok([303, 404].includes(asked.status))
  })
})
