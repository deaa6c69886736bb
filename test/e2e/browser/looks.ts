/** Looks at pages as people do, of all kinds. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { ok } from 'uvu/assert'

/** Axe as text: the policy of the pages lets nobody load it, and what is evaluated it lets pass. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const VIEWS = [
  { name: 'desk, light', viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  { name: 'desk, dark', viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  { name: 'phone, light', viewport: { width: 360, height: 740 }, colorScheme: 'light' },
  { name: 'phone, dark', viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
] as const

/** What axe-core finds, by the rules of WCAG 2.2 and its good practices: each rule with the places that break it. */
export async function hindrancesOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const { violations } = (await page.evaluate('axe.run(document)')) as AxeResults
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`)
}

export const focused = (page: Page) => page.evaluate('document.activeElement.textContent.trim().replace(/\\s+/g, " ")')

/** Goes on by the Tab key to what has these words. */
export async function until(page: Page, words: string): Promise<void> {
  for (let left = 100; left > 0; left--) {
    if ((await focused(page)) === words) return
    await page.keyboard.press('Tab')
  }
  ok(false, `no key leads to “${words}”`)
}

/** In the folder that SCREENSHOTS names, for people who want to look. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS
  if (folder) await page.screenshot({ path: join(folder, `${name.replace(/[^a-z0-9]+/gi, '-')}.png`), fullPage: true })
}
