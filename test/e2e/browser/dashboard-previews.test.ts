import type { BrowserContextOptions } from 'playwright-core'
import { equal, is, match } from 'uvu/assert'
import { hours, timestamp } from '../../../src/std/index.ts'
import { CART, counts, entry, OLD, previewsIn } from '../../cli/preview/stage.ts'
import { letWork } from '../../dashboard/visitor.ts'
import { lacksChromium } from '../../support/chromium.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { hindrancesOf, keepPicture, until, VIEWS } from './looks.ts'
import { type BrowserStage, DASHBOARD, setBrowserStage, visitDashboard } from './stage.ts'

const ADA = 'ada@example.com'
const LONG = 'feature/a-name-that-is-as-long-as-names-of-branches-get-and-has-hardly-a-place-to-break-'.repeat(2)
const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>'

describe(
  'pages about Previews in a real browser',
  (it) => {
    let stage: BrowserStage
    it.before(async () => {
      stage = await setBrowserStage((_request, response) => response.end('the app'))
      await letWork(stage.cluster.kube, stage.namespace, ADA)
    })
    it.after(() => stage.close())

    const visit = (email: string, view?: BrowserContextOptions) => visitDashboard(stage, email, view)
    const there = () => previewsIn(stage.cluster, () => stage.namespace)
    const pathOf = (name: string) => `/previews/${stage.namespace}/${name}`
    const shop = async (name: string) => {
      const expires = timestamp(Date.now() + hours(70))
      const environments = [
        entry(`${name}-cart`, 'feature/cart', { since: timestamp(Date.now() - hours(2)), expires }),
        entry(`${name}-long`, LONG, { expires, ready: false, reason: 'Degraded', message: `Deployment ${LONG}: ${HOSTILE}` }),
        entry(`${name}-html`, HOSTILE),
      ]
      const status = { environments, expired: [{ branch: 'old', commit: OLD }], counts: counts({ environments: 3, waiting: 1 }) }
      await there().preview(name, {}, status)
      await there().environment(name, `${name}-cart`, 'feature/cart')
      return status
    }

    it('hinder nobody: at a desk, on a phone, in light and in dark, with long names and hostile texts', async () => {
      await shop('shop')
      const question = `${pathOf('shop')}/delete?environment=shop-long`
      for (const { name, ...view } of VIEWS) {
        const { page, complaints, context } = await visit(ADA, view)
        for (const path of ['/previews', pathOf('shop'), question]) {
          await page.goto(`${DASHBOARD}${path}`)
          await page
            .getByText(/Preview in|waiting for room|The branch stays/)
            .first()
            .waitFor()
          await keepPicture(page, `${name} ${path.replace(stage.namespace, 'team').slice(0, 30)}`)
          equal(await hindrancesOf(page), [], `${name}: ${path}`)
          is(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `${name}: ${path} is too wide`)
          is(await page.locator('main img, main script').count(), 0)
        }
        equal(complaints, [], name)
        await context.close()
      }
    })

    it('keep an environment, and end it after a question, by the keyboard alone', async () => {
      const {
        environments: [cart, ...others],
      } = await shop('web')
      const { page, complaints } = await visit(ADA)
      await page.goto(`${DASHBOARD}${pathOf('web')}`)
      await until(page, 'Keep feature/cart')
      await page.keyboard.press('Enter')
      await eventually(async () => (await there().marksOf('web-cart'))?.['berth.dev/preview-keep'] === 'forever')
      // As the operator answers.
      await there().tell('web', { environments: [{ ...entry('web-cart', 'feature/cart'), since: cart?.since ?? '' }, ...others] })
      await page.locator('#branch-web-cart').getByText('kept as long as its branch').waitFor()
      await until(page, 'Delete… feature/cart')
      await page.keyboard.press('Enter')
      await page.getByText('The branch stays, and the next push to it makes a new environment.').waitFor()
      await until(page, 'Delete the environment')
      await page.keyboard.press('Enter')
      await page.waitForURL(`${DASHBOARD}${pathOf('web')}`)
      is((await there().marksOf('web-cart'))?.['berth.dev/preview-expire'], CART)
      await there().tell('web', { environments: others, expired: [{ branch: 'feature/cart', commit: CART }] })
      await page.locator('.card').filter({ hasText: 'feature/cart' }).getByText('Expired').waitFor()
      is(complaints.join('; '), '')
    })

    it('end one without scripts, too', async () => {
      await shop('plain')
      const { page } = await visit(ADA, { javaScriptEnabled: false })
      await page.goto(`${DASHBOARD}${pathOf('plain')}`)
      await page.getByRole('link', { name: 'Delete… feature/cart' }).click()
      await page.getByRole('button', { name: 'Delete the environment' }).click()
      match(page.url(), pathOf('plain'))
      is((await there().marksOf('plain-cart'))?.['berth.dev/preview-expire'], CART)
    })
  },
  await lacksChromium(),
)
