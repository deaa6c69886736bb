import { match } from 'uvu/assert'
import { annotations, DeploymentTargetClaims, YES } from '../../src/api/index.ts'
import { testCluster } from '../support/control-plane.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { claim } from '../support/targets.ts'

const resources = { requests: { cpu: '500m', memory: '16Gi' }, limits: { cpu: 1, memory: '32Gi' } }

describe('the policy for DeploymentTargetClaims', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('claim')
  })
  it.after(() => cluster.close())

  const bound = async (name: string, phase?: 'Bound' | 'Lost') => {
    const mark = phase ? {} : { annotations: { [annotations.bindComplete]: YES } }
    await kube.create(
      DeploymentTargetClaims,
      claim(namespace, name, { targetName: 'here', arch: 'x86–64', resources }, { name, ...mark }),
    )
    if (phase) await kube.patch(DeploymentTargetClaims, { name, namespace }, { status: { phase } }, { subresource: 'status' })
  }
  const change = (name: string, spec: object) => kube.patch(DeploymentTargetClaims, { name, namespace }, { spec })

  it('lets everything of a claim that is not bound change', async () => {
    await kube.create(DeploymentTargetClaims, claim(namespace, 'free', { targetName: 'here', resources }))
    await change('free', { deploymentTargetClassName: 'another', targetName: 'there', arch: 'arm64', resources: null })
  })
  it('refuses another class for a bound claim', async () => {
    await bound('class')
    match(await refusalOf(change('class', { deploymentTargetClassName: 'another' })), /deploymentTargetClassName of a bound/)
  })
  it('refuses another target for a bound claim, and none', async () => {
    await bound('target', 'Bound')
    match(
      await refusalOf(change('target', { targetName: 'there' })),
      /spec\.targetName of a bound DeploymentTargetClaim cannot change/,
    )
    match(await refusalOf(change('target', { targetName: null })), /delete the claim and make another one/)
  })
  it('refuses another target for a claim that lost its own', async () => {
    await bound('lost', 'Lost')
    match(
      await refusalOf(change('lost', { targetName: 'there' })),
      /spec\.targetName of a bound DeploymentTargetClaim cannot change/,
    )
  })
  it('refuses another architecture for a bound claim', async () => {
    await bound('arch')
    match(await refusalOf(change('arch', { arch: 'arm64' })), /spec\.arch of a bound/)
  })
  it('lets the resources of a bound claim grow, however they are written', async () => {
    await bound('grow')
    await change('grow', { resources: { requests: { cpu: '0.5', memory: '17179869184' }, limits: { cpu: '1000m' } } })
    await change('grow', { resources: { requests: { cpu: 1, 'nvidia.com/gpu': 1 }, limits: { cpu: 2 } } })
  })
  it('refuses less of a resource for a bound claim, and says how much it was', async () => {
    await bound('shrink')
    match(
      await refusalOf(change('shrink', { resources: { requests: { memory: '8Gi' } } })),
      /spec\.resources of a bound DeploymentTargetClaim cannot become less: requests\.memory was 16Gi/,
    )
    match(await refusalOf(change('shrink', { resources: { limits: { cpu: '900m' } } })), /limits\.cpu was 1/)
    match(await refusalOf(change('shrink', { resources: { requests: { cpu: null } } })), /requests\.cpu was 500m/)
    // Maps have no order, so the server lists them as it comes.
    const both = await refusalOf(change('shrink', { resources: null }))
    match(both, /requests\.cpu was 500m/)
    match(both, /requests\.memory was 16Gi/)
  })
  it('lets a missing target name of a bound claim be filled in', async () => {
    await kube.create(
      DeploymentTargetClaims,
      claim(namespace, 'unnamed', {}, { name: 'unnamed', annotations: { [annotations.bindComplete]: YES } }),
    )
    await change('unnamed', { targetName: 'here' })
  })
})
