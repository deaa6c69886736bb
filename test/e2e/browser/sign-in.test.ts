import { equal, is, match, not, ok } from 'uvu/assert'
import { Workspaces } from '../../../src/api/index.ts'
import { lacksChromium } from '../../support/chromium.ts'
import { describe } from '../../support/suite.ts'
import { addressOf, type BrowserStage, DASHBOARD, pageWithLine, setBrowserStage } from './stage.ts'

const [ADA, GRACE] = ['ada@example.com', 'grace@example.com']

describe(
  'a real browser, with a real provider,',
  (it) => {
    let stage: BrowserStage
    it.before(async () => {
      stage = await setBrowserStage(({ url, headers }, response) => {
        if (url === '/cookie') return void response.end(headers.cookie ?? 'none')
        response.writeHead(200, { 'content-type': 'text/html' }).end(pageWithLine())
      })
      const shares = [{ name: 'pair', user: GRACE, ports: ['app'] }]
      await stage.workspace('web', { spec: { owner: ADA, shares } })
      await stage.workspace('other', { spec: { owner: ADA } })
    })
    it.after(() => stage.close())

    it('signs in once, for all workspaces, and gets what the app has, sockets too', async () => {
      const { page, context, signIn, complaints } = await stage.person()
      await page.goto(addressOf('web'))
      match(page.url(), '/interaction/')
      await signIn(ADA)
      is(page.url(), addressOf('web'))
      await page.getByText('echo of hello').waitFor()
      await page.goto(addressOf('other'))
      await page.getByText('echo of hello').waitFor()
      const cookies = await context.cookies([addressOf('web'), addressOf('other'), DASHBOARD])
      ok(cookies.length >= 3)
      for (const { name, httpOnly, secure, path } of cookies) {
        match(name, /^__Host-/)
        equal({ httpOnly, secure, path }, { httpOnly: true, secure: true, path: '/' }, name)
      }
      is(await page.evaluate('document.cookie'), '')
      await page.goto(`${addressOf('web')}cookie`)
      is(await page.textContent('body'), 'none')
      is(complaints.join('; '), '')
    })

    it('shows a colleague what is shared, and tells another whom to ask', async () => {
      const grace = await stage.person()
      await grace.page.goto(addressOf('web'))
      await grace.signIn(GRACE)
      await grace.page.getByText('echo of hello').waitFor()
      await grace.page.goto(addressOf('other'))
      match((await grace.page.textContent('body')) ?? '', ADA)
      not.match((await grace.page.textContent('body')) ?? '', 'line')
    })

    it('loses its socket and its page when the share is taken away', async () => {
      const grace = await stage.person()
      await grace.page.goto(addressOf('web'))
      await grace.signIn(GRACE)
      await grace.page.getByText('echo of hello').waitFor()
      await stage.cluster.kube.patch(Workspaces, { name: 'web', namespace: stage.namespace }, { spec: { shares: [] } })
      await grace.page.getByText('line is closed').waitFor()
      const again = await grace.page.reload()
      is(again?.status(), 403)
    })

    it('is signed out where somebody signs out at the provider', async () => {
      const { page, context, signIn, complaints } = await stage.person()
      await page.goto(addressOf('other'))
      await signIn(ADA)
      await page.getByText('echo of hello').waitFor()
      const there = await context.newPage()
      await there.goto(`${stage.issuer}/session/end`)
      await there.getByRole('button', { name: /yes/i }).click()
      await page.getByText('line is closed').waitFor()
      await page.goto(addressOf('other'))
      match(page.url(), '/interaction/')
      is(complaints.join('; '), '')
    })

    it('signs out everywhere at once', async () => {
      const { page, context, signIn } = await stage.person()
      await page.goto(addressOf('other'))
      await signIn(ADA)
      await page.getByText('echo of hello').waitFor()
      const elsewhere = await context.newPage()
      await elsewhere.goto(`${DASHBOARD}/sign-out`)
      const button = elsewhere.getByRole('button', { name: /sign out/i })
      if (await button.isVisible()) await button.click()
      await page.getByText('line is closed').waitFor()
      // The provider knows them still, and asks nothing; but it is asked.
      const asked = page.waitForRequest((request) => request.url().startsWith(`${stage.issuer}/auth`))
      await page.goto(addressOf('other'))
      await asked
    })

    it('lets a page of elsewhere read and do nothing', async () => {
      const { page, context, signIn } = await stage.person()
      await page.goto(addressOf('other'))
      await signIn(ADA)
      const stranger = await context.newPage()
      await stranger.route('https://evil.example.org/', (route) =>
        route.fulfill({ contentType: 'text/html', body: '<p>evil</p>' }),
      )
      await stranger.goto('https://evil.example.org/')
      const tries = await stranger.evaluate(`(async () => {
        const to = ${JSON.stringify(addressOf('other'))}
        const plain = await fetch(to, { credentials: 'include' }).then((answer) => answer.text(), (thrown) => thrown.name)
        const posted = await fetch(to, { method: 'POST', mode: 'no-cors', credentials: 'include', body: 'x' }).then(({ type }) => type, () => 'failed')
        const socket = await new Promise((resolve) => {
          const line = new WebSocket(to.replace('https', 'wss') + 'line')
          line.onopen = () => resolve('open')
          line.onerror = () => resolve('refused')
        })
        const frame = document.createElement('iframe')
        frame.src = to
        document.body.append(frame)
        await new Promise((resolve) => { frame.onload = resolve })
        let framed
        try { framed = frame.contentDocument.body.textContent } catch (thrown) { framed = thrown.name }
        return { plain, socket, framed, posted }
      })()`)
      const { plain, socket, framed } = tries as Record<string, string | null>
      is(plain, 'TypeError')
      is(socket, 'refused')
      ok(framed === null || framed === 'TypeError' || !`${framed}`.includes('line'), `${framed}`)
    })
  },
  await lacksChromium(),
)
