import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createServer } from 'node:tls'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import type { KeyAndCertificate } from '../../../src/adapters/certificates/index.ts'
import { keysOfZone, tlsFlags } from '../../proxy/keys-of-zone.ts'
import { hostOf, SIGN_IN, ZONE } from '../../proxy/running-proxy.ts'
import { type App, type Stage, setStage } from '../../proxy/stage.ts'
import { portOf } from '../../support/addresses.ts'
import { pinOf, startChromium } from '../../support/chromium.ts'
import { fillIn, openidProvider } from '../../support/openid-provider.ts'

export const DASHBOARD = `https://${SIGN_IN}`

/** A stage of the proxy with a real browser and a real provider; what ends TLS before the proxy is a server of the test. */
export interface BrowserStage extends Stage {
  /** Of the real provider. */
  issuer: string
  /** Somebody at a computer of their own. What they see that is wrong, the scripts' errors and what the policy of a page refused, is told. */
  person(options?: BrowserContextOptions): Promise<Person>
  /** Nothing gets through to the proxy, and what is open ends, until it is mended. */
  cutLine(): void
  mendLine(): void
}

export interface Person {
  context: BrowserContext
  page: Page
  /** Types the name into the provider's page, and agrees to what that asks. */
  signIn(email: string, page?: Page): Promise<void>
  /** What scripts and policies complained of. */
  complaints: string[]
}

export const addressOf = (name: string): string => `https://${hostOf(name)}/`

/** What an app answers that has a line to its server, as editors have one, and that says what it was asked with. */
export const pageWithLine = (
  what = '',
) => `<!doctype html><html lang="en"><title>The app</title><p id="line">no line</p><pre>${what}</pre><script>
const line = new WebSocket('wss://' + location.host + '/line')
const tell = (text) => { document.querySelector('#line').textContent = text }
line.onopen = () => line.send('hello')
line.onmessage = async ({ data }) => tell('echo of ' + (data.text ? await data.text() : data))
line.onclose = () => tell('line is closed')
</script>`

/** Between browsers and the proxy, where it can be cut. */
interface Line {
  cut(): void
  mend(): void
}

/** What lies before the proxy and ends TLS. */
export interface Front {
  /** `host:port` */
  address: string
  stop(): Promise<unknown>
}

interface BrowserStageOptions {
  /** Of the proxy. */
  flags?: Record<string, string>
  /** With a certificate for the whole zone; without one the proxy ends TLS itself. */
  front?: 'none' | ((stage: Stage, keys: KeyAndCertificate) => Promise<Front>)
}

export async function setBrowserStage(app: App, { flags, front: begin }: BrowserStageOptions = {}): Promise<BrowserStage> {
  const provider = await openidProvider(`${DASHBOARD}/callback`)
  const keys = await keysOfZone()
  const ofProvider = { oidcIssuer: provider.issuer, oidcClientId: provider.clientId }
  const stage = await setStage(app, { ...ofProvider, ...(begin === 'none' && (await tlsFlags(keys))), ...flags })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  provider.onLogout = async (body) =>
    (await stage.browser().ask(`${DASHBOARD}/backchannel-logout`, { method: 'POST', headers: form, body })).status
  const line: Line = { cut: () => undefined, mend: () => undefined }
  const { listen } = stage.proxy.addresses
  const none = { address: listen, stop: async () => undefined }
  const front = begin === 'none' ? none : begin ? await begin(stage, keys) : await serveFront(listen, keys, line)
  const chromium = await startChromium(front.address, pinOf(keys.certificate))
  const contexts = new Set<BrowserContext>()
  return {
    ...stage,
    issuer: provider.issuer,
    cutLine: () => line.cut(),
    mendLine: () => line.mend(),
    async person(options = {}) {
      const context = await chromium.browser.newContext(options)
      contexts.add(context)
      const complaints: string[] = []
      context.on('weberror', (error) => complaints.push(error.error().message))
      context.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text())
      })
      const first = await context.newPage()
      return { context, page: first, complaints, signIn: (email, page = first) => signIn(page, email) }
    },
    async close() {
      for (const context of contexts) await context.close()
      await chromium.stop()
      await front.stop()
      await stage.close()
      await provider.stop()
    },
  }
}

/** Somebody who has signed in at the dashboard, at a desk unless the view says otherwise. */
export async function visitDashboard(stage: BrowserStage, email: string, view: BrowserContextOptions = {}): Promise<Person> {
  const person = await stage.person({ viewport: { width: 1280, height: 800 }, ...view })
  await person.page.goto(DASHBOARD)
  await person.signIn(email)
  return person
}

async function signIn(page: Page, email: string): Promise<void> {
  await fillIn(page, email)
  await page.waitForURL(`https://*.${ZONE}/**`)
}

/** Ends TLS for all hosts of the zone, as a load balancer does, and can be cut. */
async function serveFront(proxy: string, { certificate, key }: KeyAndCertificate, line: Line) {
  const [host, port] = proxy.split(':')
  const open = new Set<Socket>()
  let isCut = false
  const server = createServer({ cert: certificate, key }, (client) => {
    const onward = connect(Number(port), host)
    for (const [one, other] of [
      [client, onward],
      [onward, client],
    ] as const) {
      open.add(one)
      one.on('error', () => undefined)
      one.once('close', () => {
        open.delete(one)
        other.destroy()
      })
    }
    if (isCut) client.destroy()
    else client.pipe(onward).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const hangUp = () => {
    for (const socket of open) socket.destroy()
  }
  line.cut = () => {
    isCut = true
    hangUp()
  }
  line.mend = () => {
    isCut = false
  }
  return {
    address: `127.0.0.1:${portOf(server)}`,
    async stop() {
      hangUp()
      server.close()
      await once(server, 'close')
    },
  }
}
