import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { is, match, ok } from 'uvu/assert'
import type { KeyAndCertificate } from '../../../src/adapters/certificates/index.ts'
import { freePort } from '../../../src/adapters/control-plane/ports.ts'
import { Workspaces } from '../../../src/api/index.ts'
import { SIGN_IN, ZONE } from '../../proxy/running-proxy.ts'
import type { Stage } from '../../proxy/stage.ts'
import { lacksChromium } from '../../support/chromium.ts'
import { lacksNginx, type RunningNginx, startNginx } from '../../support/nginx.ts'
import { describe } from '../../support/suite.ts'
import { addressOf, type BrowserStage, pageWithLine, setBrowserStage } from './stage.ts'

const [ADA, GRACE, EVE] = ['ada@example.com', 'grace@example.com', 'eve@example.com']
const PAGE = join(import.meta.dirname, '../../../docs/proxy-ingress.md')

/** The settings as docs/proxy-ingress.md has them, with the addresses of the stage. */
async function serveNginx({ proxy, appPort }: Stage, { certificate, key }: KeyAndCertificate) {
  const [, documented = ''] = /```nginx\n(.*?)```/s.exec(await readFile(PAGE, 'utf8')) ?? []
  const { listen, authorize } = proxy.addresses
  const locations = documented
    .replace('http://proxy-authorize.berth-system.svc:8182', `http://${authorize}`)
    .replace('https://proxy.berth-system.svc', `http://${listen}`)
  const port = await freePort()
  const server = (name: string, content: string) => `server {
  listen 127.0.0.1:${port} ssl;
  server_name ${name};
  ssl_certificate tls.crt;
  ssl_certificate_key tls.key;
  ${content}
}`
  const http = `map $http_upgrade $connection_upgrade { default upgrade; '' close; }
upstream workspace { server 127.0.0.1:${appPort}; }
${server(SIGN_IN, `location / { proxy_set_header Host $http_host; proxy_pass http://${listen}; }`)}
${server(`*.${ZONE}`, locations)}`
  const nginx = await startNginx(http, port, { 'tls.crt': certificate, 'tls.key': key })
  return { address: `127.0.0.1:${port}`, nginx, stop: () => nginx.stop() }
}

describe(
  'a real nginx with the settings of the docs',
  (it) => {
    let stage: BrowserStage
    let nginx: RunningNginx
    it.before(async () => {
      stage = await setBrowserStage(
        ({ headers }, response) => {
          const { cookie = 'no cookie', authorization = 'no authorization' } = headers
          response.writeHead(200, { 'content-type': 'text/html' }).end(pageWithLine(`${cookie}, ${authorization}`))
        },
        {
          flags: { authorize: '127.0.0.1:0', authorizeCallers: '127.0.0.1' },
          front: async (set, keys) => {
            const front = await serveNginx(set, keys)
            nginx = front.nginx
            return front
          },
        },
      )
      await stage.workspace('web', { spec: { owner: ADA, shares: [{ name: 'pair', user: GRACE, ports: ['app'] }] } })
    })
    it.after(() => stage.close())

    it('has people sign in, and passes on what they may reach, without their cookies', async () => {
      const { page, signIn, complaints } = await stage.person({ extraHTTPHeaders: { authorization: 'Bearer secret' } })
      await page.goto(`${addressOf('web')}deep/page?a=b&c=%2F`)
      await signIn(ADA)
      is(page.url(), `${addressOf('web')}deep/page?a=b&c=%2F`)
      await page.getByText('echo of hello').waitFor()
      is(await page.textContent('pre'), 'no cookie, no authorization')
      await page.evaluate(`document.cookie = 'theme=dark; secure'`)
      await page.reload()
      is(await page.textContent('pre'), 'theme=dark, no authorization')
      is(complaints.join('; '), '')
    })

    it('keeps out whoever may not, and says why where it leads to the reason', async () => {
      const { page, signIn } = await stage.person()
      await page.goto(addressOf('web'))
      await signIn(EVE)
      const refused = await page.goto(addressOf('web'))
      is(refused?.status(), 403)
      ok(!((await page.textContent('body')) ?? '').includes('line'))
      await page.goto(`${addressOf('web')}.berth/why`)
      match((await page.textContent('body')) ?? '', ADA)
    })

    it('lets nobody in any more whose share has gone', async () => {
      const { page, signIn } = await stage.person()
      await page.goto(addressOf('web'))
      await signIn(GRACE)
      await page.getByText('echo of hello').waitFor()
      await stage.cluster.kube.patch(Workspaces, { name: 'web', namespace: stage.namespace }, { spec: { shares: [] } })
      await page.waitForFunction('fetch(location.href).then(({ status }) => status === 403)')
      is(await nginx.complaints(), '')
    })
  },
  (await lacksChromium()) ?? (await lacksNginx()),
)
