import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { AxeResults } from 'axe-core'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { equal, is, match, ok } from 'uvu/assert'
import { Workspaces } from '../../../src/api/index.ts'
import { letWork } from '../../dashboard/visitor.ts'
import { settle } from '../../proxy/running-proxy.ts'
import { lacksChromium } from '../../support/chromium.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { type BrowserStage, DASHBOARD, type Person, setBrowserStage } from './stage.ts'

const [ADA, GRACE] = ['ada@example.com', 'grace@example.com']
/** Axe as text: the policy of the pages lets nobody load it, and what is evaluated it lets pass. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const VIEWS = [
  { name: 'desk, light', viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  { name: 'desk, dark', viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  { name: 'phone, light', viewport: { width: 360, height: 740 }, colorScheme: 'light' },
  { name: 'phone, dark', viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
] as const

describe(
  'the dashboard in a real browser',
  (it) => {
    let stage: BrowserStage
    it.before(async () => {
      stage = await setBrowserStage((_request, response) => response.end('the app'))
      await letWork(stage.cluster.kube, stage.namespace, ADA)
      await stage.workspace('web', { spec: { owner: ADA } })
    })
    it.after(() => stage.close())

    /** Somebody at the dashboard. */
    const visit = async (email: string, view: BrowserContextOptions = {}): Promise<Person> => {
      const person = await stage.person({ viewport: { width: 1280, height: 800 }, ...view })
      await person.page.goto(DASHBOARD)
      await person.signIn(email)
      return person
    }
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
        for (const path of [...paths, '/deployments', '/environments', '/claims', '/nowhere']) {
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

/** What axe-core finds, by the rules of WCAG 2.2 and its good practices: each rule with the places that break it. */
async function hindrancesOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const { violations } = (await page.evaluate('axe.run(document)')) as AxeResults
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`)
}

const focused = (page: Page) => page.evaluate('document.activeElement.textContent.trim().replace(/\\s+/g, " ")')

/** Goes on by the Tab key to what has these words. */
async function until(page: Page, words: string): Promise<void> {
  for (let left = 100; left > 0; left--) {
    if ((await focused(page)) === words) return
    await page.keyboard.press('Tab')
  }
  ok(false, `no key leads to “${words}”`)
}

/** In the folder that SCREENSHOTS names, for people who want to look. */
async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS
  if (folder) await page.screenshot({ path: join(folder, `${name.replace(/[^a-z0-9]+/gi, '-')}.png`), fullPage: true })
}
