import { is, match, not } from 'uvu/assert'
import { Services, Workspaces } from '../../src/api/index.ts'
import { bindUser } from '../support/builders/credentials.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import type { Browser } from './browser.ts'
import { hostOf, settle } from './running-proxy.ts'
import { type Stage, setStage } from './stage.ts'

const shares = { shares: [{ name: 'pair', user: 'grace@example.com', ports: ['app'] }] }

describe('what people meet when a workspace does not answer', (it) => {
  let stage: Stage
  it.before(async () => {
    stage = await setStage((_request, response) => response.end('the app'))
  })
  it.after(() => stage.close())

  const at = (name: string) => ({ name, namespace: stage.namespace })

  it('is what state it is in, in words, and the app once it runs', async () => {
    const workspace = await stage.workspace('web', { state: 'Stopped', spec: { desiredState: 'Stopped', ...shares } })
    const ada = await stage.signedIn('ada@example.com', 'web')
    const shows = async (words: RegExp) => {
      const answer = await eventually(async () => {
        const page = await ada.ask(`https://${hostOf('web')}/`)
        return words.test(page.body) && page
      })
      return answer.status
    }
    is(await shows(/The workspace web is stopped.*action="\/\.berth\/start"/s), 503)
    const grace = await stage.signedIn('grace@example.com', 'web')
    match((await grace.ask(`https://${hostOf('web')}/`)).body, /berth start web -n /)
    await settle(stage.cluster.kube, workspace, { state: 'Starting' })
    is(await shows(/The workspace web is starting/), 503)
    await settle(stage.cluster.kube, workspace, { state: 'Failed' })
    is(await shows(/The workspace web could not start.*berth describe web/s), 503)
    await settle(stage.cluster.kube, workspace)
    is(await shows(/the app/), 200)
  })

  it('is a button for the owner, who has to be able to start it without it', async () => {
    const workspace = await stage.workspace('asleep', { state: 'Stopped', spec: { desiredState: 'Stopped', ...shares } })
    const home = `https://${hostOf('asleep')}`
    const [ada, grace] = [await stage.signedIn('ada@example.com', 'asleep'), await stage.signedIn('grace@example.com', 'asleep')]
    const press = async (person: Browser, headers: Record<string, string> = { origin: home }, method = 'POST') =>
      (await person.ask(`${home}/.berth/start`, { method, headers })).status
    const isWanted = async () => (await stage.cluster.kube.get(Workspaces, at('asleep')))?.spec.desiredState === 'Running'
    is(await press(ada, {}), 403)
    is(await press(ada, { origin: 'https://evil.example' }), 403)
    is(await press(ada, { origin: 'null' }), 403)
    is(await press(ada, { origin: `https://${hostOf('web')}` }), 403)
    is(await press(ada, { origin: home, 'sec-fetch-site': 'same-site' }), 403)
    is(await press(ada, { origin: home }, 'GET'), 303)
    is(await press(grace), 403)
    is(await press(stage.browser()), 403)
    // She owns it, but the cluster does not let her change it.
    is(await press(ada), 403)
    is(await isWanted(), false)
    await bindUser(stage.cluster.kube, stage.namespace, 'ada@example.com', 'edit')
    await eventually(async () => (await press(ada)) === 303)
    is(await isWanted(), true)
    await eventually(async () => /The workspace asleep is starting/.test((await ada.ask(`${home}/`)).body))
    await settle(stage.cluster.kube, workspace)
    await eventually(async () => (await ada.ask(`${home}/`)).body === 'the app')
  })

  it('runs no script, is in no frame, and escapes what others have written', async () => {
    const page = await stage.browser().ask(`https://x"><script>alert(1)</script>.${hostOf('web')}/`.replace(/[<>"]/g, ''))
    not.match(page.body, '<script')
    match(
      `${page.headers['content-security-policy']}`,
      /default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; frame-ancestors 'none'/,
    )
    match(page.body, /Request [0-9a-f]{16}/)
    stage.provider.signInAs({ sub: 'x', email: '<img src=x>@example.com' })
    match((await stage.browser().open(`https://${hostOf('web')}/`)).body, /You are signed in as &lt;img src=x&gt;@example\.com/)
  })

  it('is gone with the workspace, and comes with another of its name', async () => {
    await stage.workspace('brief')
    const ada = await stage.signedIn('ada@example.com', 'brief')
    is((await ada.ask(`https://${hostOf('brief')}/`)).status, 200)
    await stage.cluster.kube.delete(Workspaces, at('brief'))
    await eventually(async () => (await ada.ask(`https://${hostOf('brief')}/`)).status === 404)
    await stage.cluster.kube.delete(Services, at('workspace-brief'))
    await stage.workspace('brief', { spec: { owner: 'grace@example.com' } })
    is((await ada.ask(`https://${hostOf('brief')}/`)).status, 403)
  })
})
