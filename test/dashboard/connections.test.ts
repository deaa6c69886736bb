import { once } from 'node:events'
import { is, match, not } from 'uvu/assert'
import { WebSocket } from 'ws'
import { ConfigMaps, RoleBindings, Roles } from '../../src/api/index.ts'
import { hostOf } from '../proxy/running-proxy.ts'
import { type Stage, setStage } from '../proxy/stage.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { visitor } from './visitor.ts'

const [ADA, OPS] = ['ada@example.com', 'ops@example.com']
const RBAC = 'rbac.authorization.k8s.io'

describe('who is connected', (it) => {
  let stage: Stage
  it.before(async () => {
    stage = await setStage((_request, response) => response.end('the app'))
    const { cluster, namespace } = stage
    const metadata = { name: 'engineers', namespace }
    await cluster.kube.create(Roles, {
      ...{ apiVersion: `${RBAC}/v1`, kind: 'Role', metadata },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'patch', 'create'] }],
    })
    await cluster.kube.create(RoleBindings, {
      ...{ apiVersion: `${RBAC}/v1`, kind: 'RoleBinding', metadata },
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'engineers' },
      subjects: [{ kind: 'Group', apiGroup: RBAC, name: 'engineers' }],
    })
  })
  it.after(() => stage.close())

  it('is seen by engineers, by kubectl and on a page, and can be cut by them', async () => {
    const { cluster, namespace } = stage
    await stage.workspace('web')
    const ada = await stage.signedIn(ADA, 'web')
    const host = hostOf('web')
    const headers = { host, origin: `https://${host}`, cookie: ada.cookies(host) }
    const socket = new WebSocket(`ws://${stage.proxy.addresses.listen}/`, [], { headers })
    socket.on('error', () => undefined)
    await once(socket, 'open')
    const closed = once(socket, 'close')
    const told = await eventually(async () => {
      const map = await cluster.kube.get(ConfigMaps, { name: 'berth-proxy-connections', namespace })
      return Object.values(map?.data ?? {}).find((text) => text.includes(ADA))
    })
    match(told, new RegExp(`^# \\S+\n{"user":"${ADA}","workspace":"${namespace}/web","port":3000,"since":"\\S+"}\n$`))
    const ops = await visitor(stage, OPS, ['engineers'])
    await eventually(async () => (await ops.page('/connections')).body.includes(ADA))
    match((await ops.page('/')).body, /href="\/connections"/)
    // A name that somebody wrote there by hand is a text.
    const data = { other: `# ${new Date().toISOString()}\n{"user":"<script>x</script>","workspace":3}\nno json\n` }
    await cluster.kube.patch(ConfigMaps, { name: 'berth-proxy-connections', namespace }, { data })
    await eventually(async () => (await ops.page('/connections')).body.includes('&lt;script&gt;x'))
    is((await ops.press('/connections', `Sign out everywhere: ${ADA}`)).status, 200)
    await closed
    await eventually(async () => !(await ops.page('/connections')).body.includes(ADA))
  })

  it('is nobody else’s business', async () => {
    const eve = await visitor(stage, 'eve@example.com')
    not.match((await eve.page('/')).body, /href="\/connections"/)
    match((await eve.page('/connections')).body, /There is nothing here/)
    const { origin } = new URL((await eve.page('/')).url)
    const form = { origin, 'content-type': 'application/x-www-form-urlencoded' }
    const tried = await eve.browser.ask(`${origin}/connections/sign-out`, { method: 'POST', headers: form, body: `user=${OPS}` })
    is(tried.status, 403)
  })
})
