import * as assert from 'uvu/assert'
import { annotations, DeploymentTargetClaims, DeploymentTargetClasses, DeploymentTargets } from '../../../src/api/index.ts'
import { type BindingStage, openBinding } from '../../support/binding.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { claim, target, targetClass } from '../../support/targets.ts'
import { expectObject } from '../../support/verbs.ts'

const ASKED = 'example.com/made-up'

describe('who was asked for the target of a claim', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: BindingStage

  it.before(async () => {
    stage = await openBinding(cluster, 'asked')
  })
  it.after(async () => {
    await stage.stop()
    await cluster.close()
  })

  it('is put right while it is Bound, whatever somebody makes of it', async () => {
    const { namespace } = stage
    const name = `made-${namespace.slice(-8)}`
    const ref = { name: 'dev', namespace }
    const until = (phase: string) =>
      expectObject(
        kube,
        DeploymentTargetClaims,
        ref,
        ({ metadata, status }) => status?.phase === phase && metadata.annotations?.[annotations.provisioner] === ASKED,
      )
    await kube.create(DeploymentTargetClasses, targetClass(name, { provisioner: ASKED }))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { deploymentTargetClassName: name }))
    await until('Pending')
    const spec = { deploymentTargetClassName: name, claimRef: { name: 'dev' } }
    await kube.create(DeploymentTargets, target(namespace, 'a', spec, { annotations: { [annotations.provisionedBy]: ASKED } }))
    await until('Bound')
    for (const edited of ['example.com/other', null, '']) {
      await kube.patch(DeploymentTargetClaims, ref, { metadata: { annotations: { [annotations.provisioner]: edited } } })
      await until('Bound')
    }
    assert.is((await kube.get(DeploymentTargets, { name: 'a', namespace }))?.status?.phase, 'Bound')
    await kube.delete(DeploymentTargetClasses, { name })
  })
})
