import type { BrowserContextOptions } from 'playwright-core'
import { equal, is, match } from 'uvu/assert'
import { labels, WorkspaceClasses, Workspaces } from '../../../src/api/index.ts'
import { pause, systemClock } from '../../../src/std/index.ts'
import { letWork } from '../../dashboard/visitor.ts'
import { createProject } from '../../kas/running-kas.ts'
import { settle, ZONE } from '../../proxy/running-proxy.ts'
import { lacksChromium } from '../../support/chromium.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { workspaceClass } from '../../support/workspaces.ts'
import { focused, hindrancesOf, keepPicture, until, VIEWS } from './looks.ts'
import { type BrowserStage, DASHBOARD, setBrowserStage, visitDashboard } from './stage.ts'

const [ADA, GRACE] = ['ada@example.com', 'grace@example.com']
/** With the zones of their workspaces, of which one is the proxy's. */
const REGIONS = { far: 'far.example.com', lost: 'lost.example.com', near: ZONE }

describe(
  'the dashboard in a real browser',
  (it) => {
    let stage: BrowserStage
    it.before(async () => {
      stage = await setBrowserStage((_request, response) => response.end('the app'))
      await letWork(stage.cluster.kube, stage.namespace, ADA)
      await stage.workspace('web', { spec: { owner: ADA } })
    })
    it.after(async () => {
      for (const region of Object.keys(REGIONS))
        await stage.cluster.kube.delete(WorkspaceClasses, { name: `${region}-${stage.namespace}` })
      await stage.close()
    })

    const visit = (email: string, view?: BrowserContextOptions) => visitDashboard(stage, email, view)
    const made = async (name: string, state: 'Running' | 'Stopped' | 'Failed' | 'Starting') => {
      const workspace = await stage.workspace(name, { spec: { owner: ADA } })
      return settle(stage.cluster.kube, workspace, { state })
    }

    it('has no page that hinders anybody: at a desk, on a phone, in light and in dark', async () => {
      await made('broken', 'Failed')
      await made('asleep', 'Stopped')
      await made('coming', 'Starting')
      const workspace = `/workspaces/${stage.namespace}/web`
      const paths = ['/', '/?all', '/?q=nothing-like-it', workspace, `${workspace}/logs`, `${workspace}/events`, '/new']
      for (const { name, ...view } of VIEWS) {
        const { page, complaints, context } = await visit(ADA, view)
        for (const path of [...paths, '/deployments', '/previews', '/environments', '/claims', '/agents', '/nowhere']) {
          await page.goto(`${DASHBOARD}${path}`)
          await page.getByRole('heading', { level: 1 }).waitFor()
          await keepPicture(page, `${name} ${path.replace(stage.namespace, 'team')}`)
          equal(await hindrancesOf(page), [], `${name}: ${path}`)
          is(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `${name}: ${path} is too wide`)
        }
        // The last one of them is not found, and says so by its status.
        equal(
          complaints.filter((text) => !/status of 404/.test(text)),
          [],
          name,
        )
        await context.close()
      }
    })

    it('is worked by the keyboard alone, and tells what happens to those who listen', async () => {
      const workspace = await made('keyboard', 'Running')
      const { page, complaints } = await visit(ADA)
      await page.goto(`${DASHBOARD}/?q=keyboard`)
      await page.keyboard.press('Tab')
      is(await focused(page), 'Skip to the content')
      await page.keyboard.press('Enter')
      await until(page, 'Stop keyboard')
      await page.keyboard.press('Enter')
      await eventually(async () => {
        const now = await stage.cluster.kube.get(Workspaces, { name: 'keyboard', namespace: stage.namespace })
        return now?.spec.desiredState === 'Stopped'
      })
      await settle(stage.cluster.kube, workspace, { state: 'Stopped' })
      await page.getByRole('status').getByText('keyboard is stopped').waitFor({ state: 'attached' })
      // Whoever was on the button is on what came in its place.
      await until(page, 'Start keyboard')
      is(complaints.join('; '), '')
    })

    it('brings itself up to date, also after the line to it was lost', async () => {
      const workspace = await made('line', 'Running')
      const { page } = await visit(ADA)
      await page.goto(`${DASHBOARD}/?q=line`)
      const card = page.locator('.card')
      await card.getByText('Running').waitFor()
      stage.cutLine()
      await page.getByText('Not up to date: the connection is lost').waitFor()
      await settle(stage.cluster.kube, workspace, { state: 'Failed' })
      stage.mendLine()
      await card.getByText('Failed').waitFor()
      await page.getByText('Not up to date: the connection is lost').waitFor({ state: 'hidden' })
      await stage.cluster.kube.delete(Workspaces, { name: 'line', namespace: stage.namespace })
      await card.waitFor({ state: 'detached' })
    })

    it('offers the nearest region first, by the way there and back that it has measured', async () => {
      const { kube } = stage.cluster
      const own = (name: string) => `${name}-${stage.namespace}`
      for (const [region, dnsZone] of Object.entries(REGIONS)) {
        await kube.create(
          WorkspaceClasses,
          workspaceClass(own(region), { dnsZone }, { labels: { [labels.region]: own(region) } }),
        )
      }
      await createProject(kube, stage.namespace, 'shop', { url: 'https://git.example.com/shop.git' })
      const { page, complaints, context } = await visit(ADA)
      // The nearest one is the proxy itself, asked for real.
      await page.route(`https://ping.${REGIONS.far}/**`, async (route) => {
        await pause(systemClock, 2000)
        await route.fulfill({ headers: { 'access-control-allow-origin': '*' } })
      })
      await page.route(`https://ping.${REGIONS.lost}/**`, (route) => route.abort())
      await page.goto(`${DASHBOARD}/new?project=${stage.namespace}/shop&class=${own('far')}`)
      await page.locator(`optgroup[label^="${own('far')}, "]`).waitFor({ state: 'attached' })
      const groups = page.locator(`optgroup[label*="${stage.namespace}"]`)
      const order = (await groups.evaluateAll((all) => all.map((group) => group.getAttribute('label')))).join('; ')
      match(order.replaceAll(`-${stage.namespace}`, ''), /^near, \d+ ms away; far, \d{4} ms away; lost$/)
      is(await page.locator('#class').inputValue(), own('far'))
      equal(await hindrancesOf(page), [])
      await keepPicture(page, 'desk light regions')
      is(complaints.filter((text) => !text.includes('ERR_FAILED')).join('; '), '')
      await context.close()
    })

    it('works without scripts', async () => {
      await made('plain', 'Running')
      const { page } = await visit(ADA, { javaScriptEnabled: false })
      await page.goto(`${DASHBOARD}/?q=plain`)
      await page.getByRole('button', { name: 'Stop plain' }).click()
      await page.waitForURL(`${DASHBOARD}/**`)
      const now = await stage.cluster.kube.get(Workspaces, { name: 'plain', namespace: stage.namespace })
      is(now?.spec.desiredState, 'Stopped')
    })

    it('runs nothing that a workspace brings along', async () => {
      const text = '<img src=x onerror="document.title=1">'
      await made('hostile', 'Failed')
      const ref = { name: 'hostile', namespace: stage.namespace }
      const failure = { reason: 'Tested', message: `${text}<script>document.title=2</script>`, remedy: text }
      await stage.cluster.kube.patch(Workspaces, ref, { status: { failure } }, { subresource: 'status' })
      const { page, complaints } = await visit(ADA)
      await page.goto(`${DASHBOARD}/workspaces/${stage.namespace}/hostile`)
      await page.getByText('<img src=x').first().waitFor()
      match(await page.title(), /^hostile/)
      is(await page.locator('main img, main script').count(), 0)
      is(complaints.join('; '), '')
    })

    it('shows two thousand workspaces on a slow line: the first of them, and what is looked for', async () => {
      await letWork(stage.cluster.kube, stage.namespace, GRACE)
      const grace = stage.cluster.kube.as({ user: GRACE, groups: ['system:masters'] })
      const make = (number: number) =>
        grace.create(Workspaces, {
          apiVersion: 'berth.dev/v1alpha1',
          kind: 'Workspace',
          metadata: { name: `many-${String(number).padStart(4, '0')}`, namespace: stage.namespace },
          spec: {},
        })
      for (let from = 0; from < 2000; from += 100) await Promise.all(Array.from({ length: 100 }, (_, at) => make(from + at)))
      const { page, context } = await visit(GRACE)
      const line = await context.newCDPSession(page)
      const slow = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 20_000 }
      await line.send('Network.emulateNetworkConditions', slow)
      await page.goto(DASHBOARD)
      await page.getByText('And 1700 more').waitFor()
      is(await page.locator('.card').count(), 300)
      await page.getByLabel('Search').fill('many-1999')
      await page.getByRole('button', { name: 'Search' }).click()
      await page.getByRole('link', { name: 'many-1999', exact: true }).waitFor()
      is(await page.locator('.card').count(), 1)
      await stage.cluster.kube.delete(Workspaces, { name: 'many-1999', namespace: stage.namespace })
      await page.locator('.card').waitFor({ state: 'detached' })
    })
  },
  await lacksChromium(),
)
