import { equal, is } from 'uvu/assert'
import { createCaches } from '../../../src/adapters/kube/index.ts'
import { createMemory } from '../../../src/adapters/kube/memory.ts'
import { type RoleBinding, RoleBindings, Workspaces } from '../../../src/api/index.ts'
import type { Person } from '../../../src/engines/access/index.ts'
import { createPermissions } from '../../../src/engines/permissions/index.ts'
import { silentLog, systemClock } from '../../../src/std/index.ts'
import { letWork } from '../../dashboard/visitor.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

/** Bytes of objects that are kept of one namespace. */
const ROOM = 100_000

describe('what the roles of the cluster let people do', (it) => {
  const cluster = testCluster()
  const memory = createMemory({ all: 4 * ROOM, each: ROOM })
  const caches = createCaches({ kube: cluster.kube, clock: systemClock, log: silentLog, memory })
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

  it('takes no room for what people write into bindings, and misses none for it', async () => {
    const namespace = await cluster.namespace('hoard')
    const large: Omit<RoleBinding, 'metadata'> = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    }
    const notes = { hoard: 'x'.repeat(ROOM) }
    for (const name of ['one', 'two'])
      await cluster.kube.create(RoleBindings, { ...large, metadata: { name, namespace, annotations: notes } })
    let touched = false
    const stop = permissions.onChange((isTouched) => {
      touched ||= isTouched(namespace)
    })
    await cluster.kube.delete(RoleBindings, { name: 'two', namespace })
    await eventually(() => touched)
    stop()
    is(caches.shortage(namespace), undefined)
  })
})
