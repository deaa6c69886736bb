import { equal, is, match } from 'uvu/assert'
import { Workspaces } from '../../../src/api/index.ts'
import { lacksChromium } from '../../support/chromium.ts'
import { describe } from '../../support/suite.ts'
import { addressOf, type BrowserStage, DASHBOARD, type Person, pageWithLine, setBrowserStage } from './stage.ts'

const [ADA, GRACE] = ['ada@example.com', 'grace@example.com']

describe(
  'a real browser at a proxy that ends TLS itself',
  (it) => {
    let stage: BrowserStage
    let ada: Person
    it.before(async () => {
      stage = await setBrowserStage(
        async (request, response) => {
          if (request.url !== '/count') return void response.writeHead(200, { 'content-type': 'text/html' }).end(pageWithLine())
          let bytes = 0
          for await (const chunk of request) bytes += chunk.length
          response.end(String(bytes))
        },
        { front: 'none' },
      )
      await stage.workspace('web', { spec: { owner: ADA, shares: [{ name: 'pair', user: GRACE, ports: ['app'] }] } })
      ada = await stage.person()
    })
    it.after(() => stage.close())

    const protocolsOf = ({ page }: Person) =>
      page.evaluate<string[]>('[...new Set(performance.getEntries().map((each) => each.nextHopProtocol).filter(Boolean))]')

    it('speaks HTTP/2: pages, WebSockets and uploads', async () => {
      await ada.page.goto(addressOf('web'))
      await ada.signIn(ADA)
      await ada.page.getByText('echo of hello').waitFor()
      equal(await protocolsOf(ada), ['h2'])
      const upload = "fetch('/count', { method: 'POST', body: new Uint8Array(8 * 2 ** 20) }).then((answer) => answer.text())"
      is(await ada.page.evaluate<string>(upload), String(8 * 2 ** 20))
      is(ada.complaints.join('; '), '')
    })

    it('shows the dashboard, which lives', async () => {
      const page = await ada.context.newPage()
      await page.goto(DASHBOARD)
      await page.getByRole('link', { name: 'web' }).first().waitFor()
      await stage.workspace('later', { spec: { owner: ADA } })
      await page.getByRole('link', { name: 'later' }).first().waitFor()
      equal(await protocolsOf({ ...ada, page }), ['h2'])
    })

    it('ends the socket and the page from which a share is taken, and nothing else of the connection', async () => {
      const grace = await stage.person()
      await grace.page.goto(addressOf('web'))
      await grace.signIn(GRACE)
      await grace.page.getByText('echo of hello').waitFor()
      await stage.cluster.kube.patch(Workspaces, { name: 'web', namespace: stage.namespace }, { spec: { shares: [] } })
      await grace.page.getByText('line is closed').waitFor()
      is((await grace.page.reload())?.status(), 403)
      match((await ada.page.textContent('#line')) ?? '', 'echo of hello')
    })
  },
  await lacksChromium(),
)
