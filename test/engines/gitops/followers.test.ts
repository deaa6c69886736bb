import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import { type AnyObject, CustomResourceDefinitions, type Kind } from '../../../src/api/index.ts'
import { idOf, keyOfId } from '../../../src/engines/apply/index.ts'
import { OWNER_LABEL } from '../../../src/engines/gitops/index.ts'
import { GUARDS } from '../../../src/engines/gitops/prune/guards.ts'
import { prune } from '../../../src/engines/gitops/prune/prune.ts'
import { systemClock } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { apply, eventually } from '../../support/verbs.ts'

const [group, plural] = ['fluxcd.controlplane.io', 'resourcesets']
const RESOURCE_SETS: Kind<AnyObject> = { group, version: 'v1', kind: 'ResourceSet', plural, namespaced: true }
const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind: 'ResourceSet', plural },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
  },
}

describe('a prune of what another program follows', (it) => {
  const { kube, ...cluster } = testCluster()
  it.before(async () => {
    await apply(kube, DEFINITION)
    await eventually(() => kube.resolve(`${group}/v1`, 'ResourceSet'))
  })
  it.after(async () => {
    await kube.delete(CustomResourceDefinitions, DEFINITION.metadata)
    await cluster.close()
  })

  it('judges anew what has changed since it was looked at', async () => {
    const owner = randomUUID()
    const namespace = await cluster.namespace('followers')
    const ref = { name: 'shop', namespace }
    const object = await kube.create(RESOURCE_SETS, {
      apiVersion: `${group}/v1`,
      kind: 'ResourceSet',
      metadata: { ...ref, labels: { [OWNER_LABEL]: owner } },
    })
    const held = [{ id: idOf(object), key: keyOfId(idOf(object)), version: 'v1', uid: object.metadata.uid ?? '' }]
    const finalizers = (list: string[] | null) => kube.patch(RESOURCE_SETS, ref, { metadata: { finalizers: list } })
    const deleteLater: Kube['delete'] = async (...what) => {
      await finalizers(['fluxcd.controlplane.io/finalizer'])
      return kube.delete(...what)
    }
    const pruning = { clock: systemClock, owner, held, rendered: 1, guards: GUARDS }
    const [entry] = await prune(held, { ...pruning, kube: { ...kube, delete: deleteLater } })
    assert.equal([entry?.change, entry?.failure?.reason], ['withheld', 'ProtectedKind'])
    await finalizers(null)
    const [after] = await prune(held, { ...pruning, kube })
    assert.is(after?.change, 'pruned')
  })
})
