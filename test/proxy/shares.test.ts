import { once } from 'node:events'
import { equal, is, match, not, ok } from 'uvu/assert'
import { WebSocket } from 'ws'
import { RoleBindings, Workspaces } from '../../src/api/index.ts'
import { berth } from '../cli/berth.ts'
import { allow } from '../support/builders/credentials.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import type { Browser } from './browser.ts'
import { hostOf } from './running-proxy.ts'
import { type Stage, setStage } from './stage.ts'

describe('what lets others into a workspace', (it) => {
  let stage: Stage
  it.before(async () => {
    stage = await setStage((_request, response) => response.end('the app'), { accessReviews: true })
  })
  it.after(() => stage.close())

  const home = (name: string) => `https://${hostOf(name)}/`
  const run = (...parameters: string[]) => berth([...parameters, '-n', stage.namespace, '--kubeconfig', stage.cluster.kubeconfig])
  const socketOf = async (person: Browser, name: string): Promise<WebSocket> => {
    const host = hostOf(name)
    const headers = { host, origin: `https://${host}`, cookie: person.cookies(host) }
    const socket = new WebSocket(`ws://${stage.proxy.addresses.listen}/`, [], { headers })
    socket.on('error', () => undefined)
    await once(socket, 'open')
    return socket
  }

  it('is a link, for whoever has it and has signed in, until it is taken back', async () => {
    await stage.workspace('web')
    const { stdout, code } = await run('share', 'web', '--for', '1h')
    is(code, 0)
    const [link = ''] = /https:\S+token=[\w-]{43}/.exec(stdout) ?? []
    const [, name = ''] = /--remove (link-\w+)/.exec(stdout) ?? []
    const { spec } = (await stage.cluster.kube.get(Workspaces, { name: 'web', namespace: stage.namespace })) ?? {}
    not.match(JSON.stringify(spec), link.slice(-43))
    // Somebody who has signed in and has no link.
    const eve = await stage.signedIn('eve@example.com', 'web')
    is((await eve.ask(home('web'))).status, 403)
    await eventually(async () => (await eve.ask(link)).status === 303)
    is((await eve.open(home('web'))).body, 'the app')
    // Somebody who has a link and has not signed in.
    const stranger = stage.browser()
    is((await stranger.ask(link)).headers.location, home('web'))
    is((await stranger.ask(home('web'))).status, 303)
    is((await stranger.ask(home('web'), { headers: { 'sec-fetch-mode': 'cors' } })).status, 401)
    match(
      `${(await stranger.ask(link)).headers['set-cookie']}`,
      /^__Host-berth-link=[\w-]{43}; Path=\/; Max-Age=\d+; Secure; HttpOnly/,
    )

    const socket = await socketOf(eve, 'web')
    const over = once(socket, 'close')
    is((await run('share', 'web', '--remove', name)).code, 0)
    await over
    is((await eve.ask(home('web'))).status, 403)
    is((await eve.ask(link)).status, 404)
    not.match(stage.proxy.log(), link.slice(-43))
  })

  it('is no link that is not whole, and none for another workspace', async () => {
    await stage.workspace('one')
    await stage.workspace('two')
    const [link = ''] = /https:\S+token=[\w-]{43}/.exec((await run('share', 'one')).stdout) ?? []
    const eve = await stage.signedIn('eve@example.com', 'one')
    await eventually(async () => (await eve.ask(link)).status === 303)
    for (const url of [link.slice(0, -1), `${home('one')}.berth/link`, `${home('one')}.berth/link?token=`, `${link}x`])
      is((await stage.browser().ask(url)).status, 404, url)
    is((await eve.ask(link.replace(hostOf('one'), hostOf('two')))).status, 404)
    const cookie = `${eve.cookies(hostOf('one'))}; ${(await stage.signedIn('eve@example.com', 'two')).cookies(hostOf('two'))}`
    ok([303, 400, 403].includes((await stage.browser().ask(home('two'), { headers: { cookie } })).status))
    is((await run('share', 'one', '--port', 'nothing')).code, 3)
    is((await run('share', 'one', '--remove', 'nothing')).code, 3)
    is((await run('share', 'one', '--for', 'ever')).code, 7)
  })

  it('is a share for a colleague, until its time is over', async () => {
    await stage.workspace('pair')
    const grace = await stage.signedIn('grace@example.com', 'pair')
    is((await run('share', 'pair', '--user', 'grace@example.com', '--as', 'pair')).code, 0)
    const socket = await eventually(async () => (await grace.ask(home('pair'))).status === 200 && socketOf(grace, 'pair'))
    const over = once(socket, 'close')
    is((await run('share', 'pair', '--user', 'grace@example.com', '--as', 'pair', '--for', '2s')).code, 0)
    await over
    match((await grace.ask(home('pair'))).body, /that has ended/)
  })

  it('is a role of the cluster, for as long as it is bound', async () => {
    const { kube } = stage.cluster
    const { namespace } = stage
    await stage.workspace('role')
    const grace = await stage.signedIn('grace@example.com', 'role')
    is((await grace.ask(home('role'))).status, 403)
    await allow(kube, namespace, 'grace@example.com', {
      group: 'berth.dev',
      resource: 'workspaces',
      name: 'role',
      verbs: ['open'],
    })
    await eventually(async () => (await grace.ask(home('role'))).status === 200)
    await stage.workspace('other')
    is((await (await stage.signedIn('grace@example.com', 'other')).ask(home('other'))).status, 403)
    const socket = await socketOf(grace, 'role')
    const over = once(socket, 'close')
    await kube.delete(RoleBindings, { name: 'open-workspaces-role', namespace })
    await over
    equal([(await grace.ask(home('role'))).status], [403])
  })
})
