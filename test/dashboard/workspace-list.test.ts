import { equal, is, match, not, ok } from 'uvu/assert'
import { RoleBindings, Workspaces } from '../../src/api/index.ts'
import { settle } from '../proxy/running-proxy.ts'
import { type Stage, setStage } from '../proxy/stage.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { HOME, letWork, visitor } from './visitor.ts'

const [ADA, EVE] = ['ada@example.com', 'eve@example.com']

describe('the list of workspaces', (it) => {
  let stage: Stage
  it.before(async () => {
    stage = await setStage((_request, response) => response.end('the app'))
    await letWork(stage.cluster.kube, stage.namespace, ADA)
  })
  it.after(() => stage.close())
  const read = (name: string) => stage.cluster.kube.get(Workspaces, { name, namespace: stage.namespace })

  it('asks people to sign in, and shows them what is theirs', async () => {
    const stranger = stage.browser()
    const sent = await stranger.ask(`${HOME}/?q=web`)
    is(sent.headers.location, `${HOME}/sign-in?path=%2F%3Fq%3Dweb`)
    is((await stranger.ask(`${HOME}/`, { method: 'POST' })).status, 401)
    is((await stranger.ask(`${HOME}/live?page=/`, { headers: { accept: 'text/event-stream' } })).status, 401)
    await stage.workspace('web')
    await stage.workspace('other', { spec: { owner: 'grace@example.com' } })
    const ada = await visitor(stage, ADA)
    const mine = await eventually(async () => {
      const page = await ada.page('/')
      return page.body.includes('Running') && page
    })
    not.match(mine.body, /other/)
    match((await ada.page('/?all')).body, /of grace@example\.com/)
    match((await ada.page('/?all&q=grace')).body, /grace@example\.com/)
    match((await ada.page('/?q=nothing-like-it')).body, /Nothing here is called/)
    match((await ada.page('/nowhere')).body, /There is nothing here/)
  })

  it('starts and stops by a button, in the name of whoever presses it, and shows it to whoever looks', async () => {
    const workspace = await stage.workspace('button')
    const ada = await visitor(stage, ADA)
    const looking = await ada.follow('/')
    await eventually(() => /workspace-[^"]*"[^\n]*button/.test(looking.text()))
    looking.events()
    is((await ada.press('/', 'Stop button')).url.href, `${HOME}/`)
    is((await read('button'))?.spec.desiredState, 'Stopped')
    await settle(stage.cluster.kube, workspace, { state: 'Stopped' })
    const told = await eventually(() => looking.events().find(({ data }) => data.say === 'button is stopped'))
    match(`${told.data.html}`, /Start<span/)
    await ada.press('/', 'Start button')
    is((await read('button'))?.spec.desiredState, 'Running')
    await stage.cluster.kube.delete(Workspaces, { name: 'button', namespace: stage.namespace })
    await eventually(() =>
      looking.events().some(({ name, data }) => name === 'gone' && data.id === `workspace-${workspace.metadata.uid}`),
    )
    looking.close()
  })

  it('shows people what is theirs, and nothing else that the roles of the cluster do not', async () => {
    const path = (name: string) => `/workspaces/${stage.namespace}/${name}`
    await stage.workspace('eves', { spec: { owner: EVE } })
    await stage.workspace('adas', { spec: { owner: ADA } })
    const eve = await visitor(stage, EVE)
    match((await eve.page('/')).body, /eves/)
    const all = (await eve.page('/?all')).body
    match(all, /eves/)
    not.match(all, /adas/)
    const own = (await eve.page(path('eves'))).body
    match(own, /Running/)
    not.match(own, /Logs|<form/)
    is((await eve.browser.open(`${HOME}${path('adas')}`)).status, 404)
    const looking = await eve.follow('/?all')
    await letWork(stage.cluster.kube, stage.namespace, EVE, 'view')
    await eventually(() => looking.events().some(({ data }) => `${data.html}`.includes('adas')))
    match((await eve.page(path('eves'))).body, /Logs/)
    // Who may only look has no buttons, and is refused who makes some.
    not.match((await eve.page('/')).body, /<button class="(main|quiet)" id=/)
    const uid = (await read('eves'))?.metadata.uid ?? ''
    const forged = await eve.browser.ask(`${HOME}/workspaces/${stage.namespace}/eves/stop`, {
      method: 'POST',
      headers: { origin: HOME, 'content-type': 'application/x-www-form-urlencoded' },
      body: `uid=${uid}`,
    })
    is(forged.status, 403)
    match(forged.body, /cannot patch/)
    await stage.cluster.kube.delete(RoleBindings, { name: 'view-eve-example-com', namespace: stage.namespace })
    await eventually(() => looking.events().some(({ name }) => name === 'gone'))
    looking.close()
  })

  it('does nothing that another page asks for, or for another workspace of that name', async () => {
    const { metadata } = await stage.workspace('safe')
    const ada = await visitor(stage, ADA)
    const ask = (headers: Record<string, string>, uid = metadata.uid) =>
      ada.browser.ask(`${HOME}/workspaces/${stage.namespace}/safe/stop`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: `uid=${uid}`,
      })
    const refused = await Promise.all(
      [
        {},
        { origin: 'null' },
        { origin: 'https://3000-web.ws.example.com' },
        { origin: HOME, 'sec-fetch-site': 'same-site' },
        { origin: `${HOME}.evil.example` },
      ].map((headers) => ask(headers)),
    )
    equal(
      refused.map(({ status }) => status),
      [403, 403, 403, 403, 403],
    )
    is((await ask({ origin: HOME }, '')).status, 422)
    is((await ask({ origin: HOME }, '00000000-0000-0000-0000-000000000000')).status, 409)
    is((await ask({ origin: HOME, 'content-type': 'text/plain' })).status, 422)
    is((await read('safe'))?.spec.desiredState, 'Running')
    const loads = { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }
    is((await ada.browser.ask(`${HOME}/live?page=/`, { headers: loads })).status, 403)
    is((await ada.browser.ask(`${HOME}/`, { headers: { ...loads, 'sec-fetch-mode': 'navigate' } })).status, 200)
  })

  it('takes texts of strangers for texts, and is in no frame', async () => {
    const workspace = await stage.workspace('hostile')
    const message = '</p><script>alert(1)</script><img src=x onerror="alert(2)">\u202Egnp.exe'
    const failure = { reason: 'Bad"><svg onload=alert(3)>', message }
    const status = { actualState: 'Failed', failure, url: 'javascript:alert(4)' }
    await stage.cluster.kube.patch(Workspaces, workspace.metadata, { status }, { subresource: 'status' })
    const ada = await visitor(stage, ADA)
    const { body, headers } = await eventually(async () => {
      const page = await ada.page('/')
      return page.body.includes('alert(1)') && page
    })
    match(body, /&lt;script&gt;alert\(1\)/)
    match(body, '\\u202egnp')
    not.match(body, /javascript:|<svg|<img/)
    equal([headers['x-frame-options'], headers['cache-control'], headers['referrer-policy']], ['DENY', 'no-store', 'same-origin'])
    match(
      `${headers['content-security-policy']}`,
      /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/,
    )
    not.match(`${headers['content-security-policy']}`, /unsafe|\*/)
    const looking = await ada.follow('/')
    await eventually(() => looking.text().includes('alert(1)'))
    not.match(looking.text(), /<script|<svg|<img/)
    looking.close()
  })

  it('ends what is kept up to date when somebody signs out', async () => {
    const ada = await visitor(stage, ADA)
    const looking = await ada.follow('/')
    is((await ada.browser.ask(`${HOME}/sign-out`, { method: 'POST', headers: { origin: HOME } })).status, 200)
    await eventually(() => !looking.isOpen())
    ok(looking.events().some(({ name }) => name === 'over'))
  })

  it('serves what pages load as files that may be kept', async () => {
    const ada = await visitor(stage, ADA)
    const { body } = await ada.page('/')
    for (const [, path = ''] of body.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)) {
      const file = await ada.browser.ask(`${HOME}${path}`)
      is(file.status, 200)
      match(`${file.headers['content-type']}`, /^text\/(css|javascript); charset=utf-8$/)
      match(`${file.headers['cache-control']}`, /immutable/)
    }
    is((await ada.browser.ask(`${HOME}/assets/../package.json`)).status, 404)
  })
})
