import { equal, match } from 'uvu/assert'
import { DeploymentTargetClasses } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { targetClass } from '../support/targets.ts'

describe('DeploymentTargetClasses', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let name = ''
  it.before(async () => {
    name = await cluster.namespace('class')
    await kube.create(DeploymentTargetClasses, targetClass(name, { parameters: { numOfNodes: 3, deep: { er: ['x'] } } }))
  })
  it.after(async () => {
    await kube.delete(DeploymentTargetClasses, { name })
    await cluster.close()
  })
  const change = (spec: object) => kube.patch(DeploymentTargetClasses, { name }, { spec })

  it('keep free-form parameters as they are written', async () => {
    const stored = await kube.get(DeploymentTargetClasses, { name })
    equal(stored?.spec.parameters, { numOfNodes: 3, deep: { er: ['x'] } })
  })
  it('bind at once and do not grow, unless they say so', async () => {
    const { spec } = (await kube.get(DeploymentTargetClasses, { name })) ?? targetClass(name)
    equal([spec.bindingMode, spec.allowTargetResourceExpansion], ['Immediate', false])
  })
  for (const spec of [
    { provisioner: 'example.com/other' },
    { reclaimPolicy: 'Retain' },
    { allowTargetResourceExpansion: true },
    { bindingMode: 'WaitForFirstConsumer' },
    { parameters: { numOfNodes: 6 } },
    { parameters: null },
  ])
    it(`refuse the change ${JSON.stringify(spec)}`, async () => {
      match(await refusalOf(change(spec)), /a DeploymentTargetClass is immutable; make a class of another name/)
    })
  it('take empty parameters and none for the same', async () => {
    const bare = targetClass(`${name}-bare`)
    await kube.create(DeploymentTargetClasses, bare)
    await kube.apply(
      DeploymentTargetClasses,
      { ...bare, spec: { ...bare.spec, parameters: {} } },
      { manager: 'adr', force: true },
    )
    await kube.delete(DeploymentTargetClasses, { name: bare.metadata.name })
  })
  it('let labels change', () => kube.patch(DeploymentTargetClasses, { name }, { metadata: { labels: { tier: 'gold' } } }))
  it('refuse a reclaim policy that nobody knows', async () => {
    const object = targetClass(`${name}-recycle`)
    const spec = { ...object.spec, reclaimPolicy: 'Recycle' }
    match(await refusalOf(kube.create(DeploymentTargetClasses, { ...object, spec })), /reclaimPolicy.*Delete.*Retain/s)
  })
})
