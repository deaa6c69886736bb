import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import { ConfigMaps, RoleBindings } from '../../../src/api/index.ts'
import { keyOfId } from '../../../src/engines/apply/object-id.ts'
import {
  type Entry,
  type Inventory,
  type InventoryStore,
  OWNER_LABEL,
  removeAll,
  sync,
} from '../../../src/engines/gitops/index.ts'
import { createWants, type Wants } from '../../../src/engines/gitops/sharing/wants.ts'
import { createRenderer, type Render } from '../../../src/engines/render/index.ts'
import { Failure, seconds } from '../../../src/std/index.ts'
import { grant } from '../../support/builders/credentials.ts'
import { configMap, kubectl, snapshot } from '../../support/builders/snapshots.ts'
import { type SteppedClock, steppedClock } from '../../support/clock.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const said = (entries: readonly Entry[]) => entries.map(({ id, change }) => `${id.name} ${change}`).sort()
const reasons = (entries: readonly Entry[]) => entries.flatMap(({ failure }) => failure?.reason ?? failure?.code ?? [])

function memory(): InventoryStore {
  let last: Inventory | undefined
  return {
    load: () => Promise.resolve(last),
    save(inventory) {
      last = inventory
      return Promise.resolve()
    },
  }
}

/** Two tenants of one API server, each with a service account and a namespace of his own. */
describe('what one tenant keeps and another one wants', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let render: Render
  let clock: SteppedClock
  let wants: Wants
  let home = ''
  let away = ''

  it.before(async () => {
    render = createRenderer({ kubectl: await kubectl() })
  })
  it.beforeEach(async () => {
    clock = steppedClock()
    wants = createWants({ clock })
    home = await cluster.namespace('keeps')
    away = await cluster.namespace('wants')
    await grant(kube, home, 'default', 'admin')
    await grant(kube, away, 'default', 'admin')
  })
  it.after(() => cluster.close())

  const as = (namespace: string) => kube.as({ user: `system:serviceaccount:${namespace}:default` })
  const tenant = (namespace: string, through: Kube = as(namespace)) => {
    const owner = { id: randomUUID(), title: `Test ${namespace}` }
    const inventory = memory()
    const destination = { kube: through, namespace }
    return {
      owner,
      sync: (...objects: object[]) => {
        const files = Object.fromEntries(
          [['own', configMap('own')], ...objects.entries()].map(([n, each]) => [`${n}.yaml`, each]),
        )
        const request = { snapshot: snapshot(files), path: '.', destination, owner, inventory, wants }
        return sync(request, { render, clock })
      },
      remove: () => {
        const successorOf = ({ id }: { id: Entry['id'] }) => wants.successorOf(owner.id, kube.server, keyOfId(id))?.title
        return removeAll({ destination, owner, inventory, successorOf }, clock)
      },
    }
  }
  const web = () => configMap('web', { x: '1' }, home)
  const live = () => kube.get(ConfigMaps, { name: 'web', namespace: home })
  const mark = async () => (await live())?.metadata.labels?.[OWNER_LABEL]
  /** Rights take a moment to be in effect. */
  const mayWrite = async (namespace: string) => {
    await kube.create(RoleBindings, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'other', namespace: home },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace }],
    })
    await eventually(async () => await as(namespace).get(ConfigMaps, { name: 'web', namespace: home }))
  }

  it('is no concern of the keeper, and is deleted by him, where the other may not write it', async () => {
    const [keeper, other] = [tenant(home), tenant(away)]
    await keeper.sync(web())
    assert.equal(reasons((await other.sync(web())).entries), ['Forbidden'])
    await clock.step(seconds(4))
    assert.equal((await keeper.sync(web())).contested, [])
    assert.equal((await other.sync(web())).contested, [])
    const { entries, deletionsLater, inventory } = await keeper.sync()
    assert.equal([said(entries), deletionsLater], [['own unchanged', 'web pruned'], []])
    assert.is(inventory.held.length, 1)
    assert.is(await live(), undefined)
  })

  it('goes with the keeper where the other may not write it', async () => {
    const [keeper, other] = [tenant(home), tenant(away)]
    await keeper.sync(web())
    await other.sync(web())
    wants.leave(keeper.owner.id)
    const { entries, held } = await keeper.remove()
    assert.equal([said(entries), held], [['own pruned', 'web pruned'], []])
  })

  it('stays the keeper’s until it carries the mark of the other', async () => {
    const [keeper, other] = [tenant(home), tenant(away)]
    await keeper.sync(web())
    await mayWrite(away)
    assert.equal(reasons((await other.sync(web())).entries), ['KeptByOther'])
    const uid = (await live())?.metadata.uid
    const early = await keeper.sync()
    assert.equal([said(early.entries), early.deletionsLater.length, early.inventory.held.length], [['own unchanged'], 1, 2])
    assert.equal(said((await other.sync(web())).entries), ['own unchanged', 'web configured'])
    const late = await keeper.sync()
    assert.equal([said(late.entries), late.inventory.held.length], [['own unchanged', 'web skipped'], 1])
    assert.equal([(await live())?.metadata.uid, await mark()], [uid, other.owner.id])
  })

  it('stays the keeper’s when he leaves, until the other has it', async () => {
    const [keeper, other] = [tenant(home), tenant(away)]
    await keeper.sync(web())
    await mayWrite(away)
    await other.sync(web())
    wants.leave(keeper.owner.id)
    const first = await keeper.remove()
    assert.equal([said(first.entries), first.held.length], [['own pruned', 'web waiting'], 1])
    assert.is(await mark(), keeper.owner.id)
    await other.sync(web())
    const second = await keeper.remove()
    assert.equal([said(second.entries), second.held], [['web skipped'], []])
    assert.is(await mark(), other.owner.id)
  })

  it('is deleted by the keeper after a while when the other fails to take it', async () => {
    const refusing: Kube = {
      ...as(away),
      apply: (kind, object, how) =>
        how.force ? Promise.reject(new Failure('forbidden', 'a webhook says no')) : as(away).apply(kind, object, how),
    }
    const [keeper, other] = [tenant(home), tenant(away, refusing)]
    await keeper.sync(web())
    await mayWrite(away)
    await other.sync(web())
    assert.is((await keeper.sync()).deletionsLater.length, 1)
    assert.equal(said((await other.sync(web())).entries), ['own unchanged', 'web failed'])
    assert.equal([(await keeper.sync()).inventory.held.length, await mark()], [2, keeper.owner.id])
    await clock.step(seconds(10))
    const { entries, inventory } = await keeper.sync()
    assert.equal([said(entries), inventory.held.length], [['own unchanged', 'web pruned'], 1])
    assert.is(await live(), undefined)
  })
})
