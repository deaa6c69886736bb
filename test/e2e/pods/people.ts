import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { freePort, NODE_ADDRESS } from '../../../src/adapters/control-plane/index.ts'
import type { InstallValues } from '../../../src/cli/install/generated/values.ts'
import { kubectl } from '../../support/builders/snapshots.ts'
import { pinOf, type RunningChromium, startChromium } from '../../support/chromium.ts'
import { fillIn, openidProvider } from '../../support/openid-provider.ts'
import { eventually } from '../../support/verbs.ts'
import { REPOSITORY } from './images.ts'
import { ISSUER, linesOf } from './outside.ts'
import { PATIENT, type Site } from './site.ts'

const run = promisify(execFile)
const SIGN_IN = 'sign-in.workspaces.example.com'
const SECRET = 'of-the-client'

/** People at computers of their own, a real provider at which they sign in, and their ways to the proxy in the cluster. */
export interface People {
  /** The proxy's part of an installation. */
  proxy: NonNullable<InstallValues['proxy']>
  /** Once the proxy is installed. */
  begin(): Promise<void>
  /** Somebody with rights of their own in the cluster: `kubectl` and `berth` act as them. */
  tools(user: string): Promise<Tools>
  /** A new page of somebody who has not signed in yet. */
  page(): Promise<Page>
  /** Types the name into the provider's page, and agrees to what that asks. */
  signIn(page: Page, email: string): Promise<void>
  close(): Promise<void>
}

export interface Tools {
  kubectl(...words: string[]): Promise<string>
  /** `home`: of the files that it writes. */
  berth(words: string[], home?: string): Promise<string>
}

export async function startPeople(site: Site): Promise<People> {
  const { 'tls.crt': cert, 'tls.key': key, 'ca.crt': oidcCa } = site.tls
  const provider = await openidProvider(`https://${SIGN_IN}/callback`, {
    tls: { cert, key },
    issuer: `https://${ISSUER}`,
    clientSecret: SECRET,
  })
  const lines = linesOf(site)
  await lines.leadToProvider(provider.port)
  const [browsers, clients] = [await freePort(), await freePort()]
  let chromium: RunningChromium | undefined
  await site.kubectl('create', 'namespace', site.namespace)
  await site.secret(site.namespace, 'berth-proxy-oidc', { 'client-secret': SECRET })
  return {
    proxy: {
      url: `https://${SIGN_IN}`,
      certificateNames: ['*.workspaces.example.com'],
      oidcIssuer: provider.issuer,
      oidcClientId: provider.clientId,
      oidcCa,
      oidcUsernameClaim: 'email',
      ssh: true,
      sshAddress: `127.0.0.1:${clients}`,
    },
    async begin() {
      await lines.leadToProxy(browsers, 443)
      await lines.leadToProxy(clients, 22)
      const shown = await site.kubectl(
        'get',
        'secret',
        '-n',
        site.namespace,
        'berth-proxy-tls',
        '-o',
        'jsonpath={.data.tls\\.crt}',
      )
      const trusted = [cert, Buffer.from(shown, 'base64').toString()].map(pinOf).join(',')
      chromium = await startChromium(`127.0.0.1:${browsers}`, trusted, { [NODE_ADDRESS]: `127.0.0.1:${provider.port}` })
    },
    async tools(user) {
      const kubeconfig = join(site.folder, `${user}.kubeconfig`)
      const text = await readFile(site.cluster().kubeconfig, 'utf8')
      await writeFile(kubeconfig, text.replace('"token":', `"as": ${JSON.stringify(user)}, "token":`))
      const program = await kubectl()
      const env = { ...process.env, PATH: `${dirname(program)}:${process.env.PATH}`, KUBECONFIG: kubeconfig }
      return {
        kubectl: async (...words) => (await run(program, words, { cwd: import.meta.dirname, env })).stdout,
        berth: async (words, home = process.env.HOME) =>
          (await run(process.execPath, ['src/cli/main.ts', ...words], { cwd: REPOSITORY, env: { ...env, HOME: home } })).stdout,
      }
    },
    async page() {
      if (!chromium) throw new TypeError('the proxy is not installed yet')
      const context = await chromium.browser.newContext()
      return context.newPage()
    },
    signIn: fillIn,
    async close() {
      await chromium?.stop()
      await lines.stop()
      await provider.stop()
    },
  }
}

/** What a terminal shows, from its beginning: the page of ttyd keeps it in xterm.js, which draws it. */
const shownIn = async (page: Page): Promise<string> =>
  String(
    await page.evaluate(`(() => {
      const buffer = window.term?.buffer.active
      if (!buffer) return ''
      const lines = Array.from({ length: buffer.length }, (_, at) => buffer.getLine(at)?.translateToString(true) ?? '')
      return lines.join('\\n').trimEnd()
    })()`),
  )

/** Gives what a terminal shows once that has such a text in it. */
export const untilShown = (page: Page, wanted: RegExp): Promise<string> =>
  eventually(async () => {
    const shown = await shownIn(page)
    return wanted.test(shown) && shown
  }, PATIENT)

/** A shell waits for a line. */
export const untilPrompt = (page: Page): Promise<string> => untilShown(page, /[$#]$/)

/** Types a line by its keys, and gives what the terminal shows once that has such a text in it. */
export async function typeLine(page: Page, line: string, shows: RegExp): Promise<string> {
  await page.keyboard.type(line)
  await page.keyboard.press('Enter')
  return untilShown(page, shows)
}
