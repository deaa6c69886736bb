import { equal, is } from 'uvu/assert'
import { createCaches } from '../../../src/adapters/kube/index.ts'
import { RoleBindings, Workspaces } from '../../../src/api/index.ts'
import type { Person } from '../../../src/engines/access/index.ts'
import { createPermissions } from '../../../src/engines/permissions/index.ts'
import { silentLog, systemClock } from '../../../src/std/index.ts'
import { letWork } from '../../dashboard/visitor.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

describe('what the roles of the cluster let people do', (it) => {
  const cluster = testCluster()
  const caches = createCaches({ kube: cluster.kube, clock: systemClock, log: silentLog })
  const permissions = createPermissions({ kube: cluster.kube, caches, clock: systemClock })
  it.after(async () => {
    permissions.stop()
    await caches.stop()
    await cluster.close()
  })
  const list = { verb: 'list', kind: Workspaces }

  it('is nothing for whoever has no name, whatever groups they show', async () => {
    for (const user of ['', ' '])
      is(await permissions.may({ user, groups: ['system:masters'] }, { ...list, namespace: '' }), false)
  })

  it('depends on the person, the groups, the verb and the place', async () => {
    const namespace = await cluster.namespace('rights')
    await letWork(cluster.kube, namespace, 'ada', 'view')
    const ada: Person = { user: 'ada', groups: [] }
    const may = (person: Person, verb = 'list', place = namespace) =>
      permissions.may(person, { verb, kind: Workspaces, namespace: place })
    await eventually(async () => await may(ada))
    equal(
      await Promise.all([
        may(ada, 'patch'),
        may(ada, 'list', 'default'),
        may({ user: 'eve', groups: ['ada'] }),
        may({ user: 'Ada', groups: [] }),
      ]),
      [false, false, false, false],
    )
    equal([...(await permissions.where(ada, list, [namespace, 'default']))], [namespace])
    await cluster.kube.delete(RoleBindings, { name: 'view-ada', namespace })
    await eventually(async () => !(await may(ada)))
  })
})
