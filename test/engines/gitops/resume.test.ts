import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import { ConfigMaps } from '../../../src/api/index.ts'
import { type Inventory, type InventoryStore, OWNER_LABEL, sync } from '../../../src/engines/gitops/index.ts'
import { createRenderer } from '../../../src/engines/render/index.ts'
import { Failure, systemClock } from '../../../src/std/index.ts'
import { configMap, kubectl, snapshot } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'

const OBJECTS = 300

describe('a long apply that was cut off in the middle', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  it.after(() => cluster.close())

  it('is finished by the next process, and nothing that was recorded is applied twice', async () => {
    const namespace = await cluster.namespace('resume')
    const owner = { id: randomUUID(), title: 'Test team-a/shop' }
    const render = createRenderer({ kubectl: await kubectl() })
    const commit = snapshot(
      Object.fromEntries(Array.from({ length: OBJECTS }, (_, n) => [`${n}.yaml`, configMap(`settings-${n}`)])),
    )
    let stored: Inventory | undefined
    const inventory: InventoryStore = {
      load: () => Promise.resolve(stored),
      save(next) {
        if (applied.length >= OBJECTS / 2) throw new Failure('cancelled', 'killed')
        stored = structuredClone(next)
        return Promise.resolve()
      },
    }
    const applied: string[] = []
    const dying: Kube = {
      ...kube,
      apply(kind, object, how) {
        if (applied.length >= OBJECTS / 2) return Promise.reject(new Failure('cancelled', 'killed'))
        applied.push(object.metadata.name)
        return kube.apply(kind, object, how)
      },
    }
    // Each apply takes a fifth of a second by this clock.
    const clock = { ...systemClock, now: () => applied.length * 200 }
    const request = { snapshot: commit, path: '.', owner }
    await sync({ ...request, destination: { kube: dying, namespace }, inventory }, { render, clock }).catch(() => undefined)
    const recorded = new Set((stored?.held ?? []).filter(({ hash }) => hash !== undefined).map(({ id }) => id.name))
    assert.ok(recorded.size >= OBJECTS / 4, `${recorded.size} of ${applied.length} were recorded`)

    const again: string[] = []
    const counting: Kube = {
      ...kube,
      apply(kind, object, how) {
        again.push(object.metadata.name)
        return kube.apply(kind, object, how)
      },
    }
    const heir: InventoryStore = {
      load: () => Promise.resolve(stored),
      save(next) {
        stored = next
        return Promise.resolve()
      },
    }
    await sync({ ...request, destination: { kube: counting, namespace }, inventory: heir }, { render, clock: systemClock })
    assert.equal(
      again.filter((name) => recorded.has(name)),
      [],
    )
    assert.is(again.length, OBJECTS - recorded.size)
    assert.is(
      (await kube.list(ConfigMaps, { namespace, labels: `${OWNER_LABEL}=${owner.id}`, metadataOnly: true })).length,
      OBJECTS,
    )
  })
})
