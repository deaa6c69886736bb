import { equal, match, ok } from 'uvu/assert'
import { type WorkspaceSpec, Workspaces } from '../../src/api/index.ts'
import { seconds } from '../../src/std/index.ts'
import { accountToken, allow, tokenOf } from '../support/builders/credentials.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { lacksOpenSsh, type SshClient, sshClient } from './ssh-client.ts'
import { trustHost } from './ssh-host.ts'
import { type Stage, setStage } from './stage.ts'

const EDITOR = { ports: [{ name: 'editor-server', port: 3000 }] }
const DENIED = 'Permission denied (publickey,password)'
const IN = 'has no target yet'

describe(
  'tokens as passwords over SSH',
  (it) => {
    let stage: Stage
    let client: SshClient
    let token = ''
    let user = ''
    it.before(async () => {
      const flags = { sshListen: '127.0.0.1:0', sshTokens: true, accessReviews: true }
      stage = await setStage((_request, response) => void response.end('a page'), flags)
      client = await sshClient(stage.proxy.addresses.ssh ?? '')
      await trustHost(client, stage.cluster.kube, stage.namespace)
      user = `system:serviceaccount:${stage.namespace}:grace`
      token = await accountToken(stage.cluster.kube, stage.namespace, 'grace')
    })
    it.after(async () => {
      await client?.close()
      await stage.close()
    })
    const login = (name: string, password = token) => client.byPassword(`${name}.${stage.namespace}`, password)
    const share: WorkspaceSpec['shares'] = [{ name: 'pair', user: 'nobody', ports: ['editor-server'] }]
    const shared = () => [{ ...share[0], name: 'pair', user }]

    it('let in the owner, and whom the editor is shared with', async () => {
      await stage.workspace('own', { spec: { owner: user }, ...EDITOR })
      // Nothing runs in the name of an account of the cluster.
      match((await login('own')).stderr, 'has no owner in whose name anything could run')
      await stage.workspace('shared', { spec: { shares: shared() }, ...EDITOR })
      match((await login('shared')).stderr, IN)
      // Where there is no editor, a share is of other ports.
      await stage.workspace('bare', { spec: { shares: [{ name: 'pair', user, ports: ['app'] }] } })
      match((await login('bare')).stderr, DENIED)
    })

    it('let in nobody else, whatever is there, and no token that is none or another’s', async () => {
      await stage.workspace('others', EDITOR)
      const { kube } = stage.cluster
      const foreign = await tokenOf(kube, { namespace: stage.namespace, name: 'grace' }, ['somebody-else'])
      for (const [name, password] of [
        ['others', token],
        ['nothing', token],
        ['shared', 'no token'],
        ['shared', foreign],
        ['nothing', foreign],
      ] as const) {
        const { code, stderr } = await login(name, password)
        equal([name, code], [name, 255])
        match(stderr, DENIED)
      }
    })

    it('let in whom a role lets open it, and no longer than it does', async () => {
      const { kube } = stage.cluster
      await stage.workspace('role', EDITOR)
      match((await login('role')).stderr, DENIED)
      await allow(kube, stage.namespace, user, { group: 'berth.dev', resource: 'workspaces', name: 'role', verbs: ['open'] })
      await eventually(async () => (await login('role')).stderr.includes(IN))
    })

    it('let nobody stay from whom the share is taken', async () => {
      await stage.workspace('taken', { spec: { shares: shared() }, ...EDITOR })
      const held = client.startByPassword(`taken.${stage.namespace}`, token)
      let isOpen = true
      held.once('close', () => {
        isOpen = false
      })
      await eventually(() => stage.proxy.log().includes('"means":"token"') && stage.proxy.log().includes('/taken'))
      ok(isOpen)
      const ref = { name: 'taken', namespace: stage.namespace }
      await stage.cluster.kube.patch(Workspaces, ref, { spec: { shares: [] } })
      await eventually(() => !isOpen, { within: seconds(10) })
      match((await login('taken')).stderr, DENIED)
    })
  },
  lacksOpenSsh(),
)
