import { equal, match } from 'uvu/assert'
import { type Workspace, Workspaces } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { workspace } from '../support/workspaces.ts'

describe('the owner of a Workspace', (it) => {
  const cluster = testCluster()
  const ada = cluster.kube.as({ user: 'ada@example.com', groups: ['system:masters'] })
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('workspace')
  })
  it.after(() => cluster.close())

  const owned = (name: string, owner?: string): Workspace => workspace(namespace, name, owner === undefined ? {} : { owner })
  const change = (name: string, spec: object) => cluster.kube.patch(Workspaces, { name, namespace }, { spec })

  it('is whoever creates it', async () => {
    equal((await ada.create(Workspaces, owned('plain'))).spec.owner, 'ada@example.com')
  })
  it('is nobody else, whatever the manifest says', async () => {
    equal((await ada.create(Workspaces, owned('pretended', 'grace@example.com'))).spec.owner, 'ada@example.com')
  })
  it('is whoever applies it first, and stays so when others apply it', async () => {
    await ada.apply(Workspaces, owned('applied'), { manager: 'ada' })
    const again = await cluster.kube.apply(Workspaces, owned('applied'), { manager: 'grace' })
    equal(again.spec.owner, 'ada@example.com')
  })
  it('cannot change or be removed', async () => {
    await ada.create(Workspaces, owned('kept'))
    match(await refusalOf(change('kept', { owner: 'grace@example.com' })), /owner cannot change/)
    match(await refusalOf(change('kept', { owner: null })), /owner cannot change/)
  })
})
