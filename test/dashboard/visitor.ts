import { request as httpRequest, type IncomingMessage } from 'node:http'
import { is } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import { RoleBindings } from '../../src/api/index.ts'
import type { Answer, Browser } from '../proxy/browser.ts'
import { SIGN_IN } from '../proxy/running-proxy.ts'
import type { Stage } from '../proxy/stage.ts'
import { untilMay } from '../support/builders/credentials.ts'
import { type Element, elementsIn, faultsOf, parseHtml, wordsIn } from './markup.ts'

export const HOME = `https://${SIGN_IN}`

/** Somebody at the dashboard, in a browser without script. */
export interface Visitor {
  browser: Browser
  /** A page that is well, as it is written. */
  page(path: string): Promise<Answer>
  /** Presses the button with these words on that page: what a browser sends then, and where it leads. */
  press(path: string, button: string, fields?: Record<string, string>): Promise<Answer>
  /** What the page is kept up to date by. */
  follow(path: string): Promise<Following>
}

export interface Following {
  /** Names and data of what has come since the last call. */
  events(): { name: string; data: Record<string, unknown> }[]
  /** Everything that has come, as it came. */
  text(): string
  isOpen(): boolean
  close(): void
}

export async function visitor(stage: Stage, email: string, groups: string[] = []): Promise<Visitor> {
  stage.provider.signInAs({ sub: email, email, groups })
  const browser = stage.browser()
  await browser.open(`${HOME}/`)
  const page = async (path: string) => {
    const answer = await browser.open(`${HOME}${path}`)
    is(faultsOf(answer.body).join('; '), '', path)
    return answer
  }
  return {
    browser,
    page,
    async press(path, button, fields = {}) {
      const { body, url, headers } = await page(path)
      const form = formWith(parseHtml(body), button)
      const given = elementsIn(form).filter(
        (element) => element.attributes.has('name') && (element.name !== 'button' || wordsIn(element) === button),
      )
      const values = given.map((element): [string, string] => [element.attributes.get('name') ?? '', valueIn(element)])
      const action = new URL(form.attributes.get('action') ?? '', url)
      if (form.attributes.get('method') !== 'post') {
        for (const [name, value] of Object.entries({ ...Object.fromEntries(values), ...fields }))
          action.searchParams.set(name, value)
        return browser.open(action)
      }
      const sent = new URLSearchParams({ ...Object.fromEntries(values), ...fields })
      // https://fetch.spec.whatwg.org/#append-a-request-origin-header
      const origin = headers['referrer-policy'] === 'no-referrer' ? 'null' : url.origin
      const answer = await browser.ask(action, {
        method: 'POST',
        headers: { origin, 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' },
        body: `${sent}`,
      })
      return answer.headers.location === undefined ? answer : browser.open(new URL(answer.headers.location, action))
    },
    follow: (path) => follow(stage, browser, path),
  }
}

/** Of a list of choices, the one that is chosen, or the first. */
function valueIn(element: Element): string {
  const options = elementsIn(element).filter(({ name }) => name === 'option')
  const chosen = options.find((option) => option.attributes.has('selected')) ?? options[0]
  const from = element.name === 'select' && chosen ? chosen : element
  return from.attributes.get('value') ?? ''
}

function formWith(page: Element, button: string): Element {
  const forms = elementsIn(page).filter(({ name }) => name === 'form')
  const found = forms.find((form) => elementsIn(form).some((element) => element.name === 'button' && wordsIn(element) === button))
  if (!found) throw new TypeError(`no button “${button}”; there are ${forms.map(wordsIn).join(', ')}`)
  return found
}

async function follow(stage: Stage, browser: Browser, path: string): Promise<Following> {
  const [host, port] = stage.proxy.addresses.listen.split(':')
  const { answer, request } = await new Promise<{ answer: IncomingMessage; request: { destroy(): void } }>((resolve, reject) => {
    const asked = httpRequest({
      ...{ host, port, agent: false, path: `/live?page=${encodeURIComponent(path)}` },
      headers: { host: SIGN_IN, cookie: browser.cookies(SIGN_IN), accept: 'text/event-stream' },
    })
    asked.on('error', reject)
    asked.once('response', (given) => resolve({ answer: given, request: asked }))
    asked.end()
  })
  is(answer.statusCode, 200)
  let text = ''
  let read = 0
  const state = { isOpen: true }
  answer.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  answer.on('error', () => undefined)
  answer.on('close', () => {
    state.isOpen = false
  })
  return {
    events() {
      const end = text.lastIndexOf('\n\n') + 2
      const fresh = text.slice(read, end)
      read = Math.max(read, end)
      return fresh.split('\n\n').flatMap((block) => {
        const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? []
        return name && data ? [{ name, data: JSON.parse(data) }] : []
      })
    },
    text: () => text,
    isOpen: () => state.isOpen,
    close: () => request.destroy(),
  }
}

/** Lets somebody work in a namespace, and waits until the API server has heard of it. */
export async function letWork(kube: Kube, namespace: string, user: string, role = 'edit'): Promise<void> {
  await kube.create(RoleBindings, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: `${role}-${user.replace(/[^a-z0-9]/g, '-')}`, namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
  })
  await untilMay(kube, namespace, user, { verb: 'list', group: 'berth.dev', resource: 'workspaces' })
}
