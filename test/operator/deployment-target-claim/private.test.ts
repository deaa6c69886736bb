import * as assert from 'uvu/assert'
import {
  annotations,
  CREDENTIALS_NAMESPACE,
  conditionOf,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  labels,
  SANDBOX_PROVISIONER,
  Secrets,
} from '../../../src/api/index.ts'
import { type BindingStage, openBinding } from '../../support/binding.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { API_URL, claim, credentialsSecret, target, targetClass } from '../../support/targets.ts'
import { eventually, expectObject } from '../../support/verbs.ts'

const PRIVATE = { annotations: { [annotations.privateTo]: '' } }

describe('binding of private claims', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: BindingStage
  let namespace = ''
  it.beforeEach(async () => {
    stage = await openBinding(cluster, 'private-binding')
    namespace = stage.namespace
  })
  it.afterEach(async () => {
    await stage.stop()
    const left = await kube.list(Secrets, { namespace: CREDENTIALS_NAMESPACE, labels: `${labels.spaceRequestUid}=${namespace}` })
    for (const { metadata } of left) await kube.delete(Secrets, metadata)
  })
  it.after(() => cluster.close())

  /** With a Secret of its own where those of private targets are. */
  const inSpace = async (name: string, claimUid: string) => {
    const { metadata, ...secret } = credentialsSecret(CREDENTIALS_NAMESPACE, `${name}-${namespace}`)
    const marks = { [labels.spaceRequestUid]: namespace, [labels.claimUid]: claimUid }
    await kube.create(Secrets, { ...secret, metadata: { ...metadata, labels: marks } })
    const clusterCredentialsSecret = metadata.name
    return { kubernetesCredentials: { defaultNamespace: namespace, apiURL: API_URL, clusterCredentialsSecret } }
  }
  const make = async (name: string, spec: object, metadata: object = {}) => {
    await kube.create(DeploymentTargets, target(namespace, name, spec, metadata))
    await eventually(() => stage.operator.caches.of(DeploymentTargets).get({ name, namespace })?.status?.phase === 'Available')
  }
  const claimed = async (name: string, spec: object = {}, metadata: object = {}) => {
    const made = await kube.create(DeploymentTargetClaims, claim(namespace, name, spec, metadata))
    return made.metadata.uid ?? ''
  }
  const ready = (name: string, reason: string) =>
    expectObject(
      kube,
      DeploymentTargetClaims,
      { name, namespace },
      ({ status }) => conditionOf(status?.conditions, 'Ready')?.reason === reason,
    )
  const messageOf = ({ status }: Awaited<ReturnType<typeof ready>>) => conditionOf(status?.conditions, 'Ready')?.message ?? ''

  it('they take no target that somebody made: not a free one, nor one that names them or that they name', async () => {
    await make('free', {})
    await make('reserved', { claimRef: 'dev' })
    const kubernetesCredentials = { defaultNamespace: namespace, apiURL: API_URL, clusterCredentialsSecret: 'nowhere' }
    await kube.create(DeploymentTargets, target(namespace, 'trap', { claimRef: 'dev', kubernetesCredentials }))
    await eventually(
      () => stage.operator.caches.of(DeploymentTargets).get({ name: 'trap', namespace })?.status?.phase === 'Pending',
    )
    await claimed('dev', {}, PRIVATE)
    const dev = await ready('dev', 'ClassNotFound')
    assert.is(dev.status?.phase, 'Pending')
    await claimed('other', { targetName: 'free' }, PRIVATE)
    const other = await ready('other', 'TargetDoesNotMatch')
    assert.match(messageOf(other), 'the claim is private, and the other is not')
  })

  it('they take none that bears their uid and is not private, but the one that was made for them', async () => {
    const uid = await claimed('dev', {}, PRIVATE)
    await ready('dev', 'ClassNotFound')
    const claimRef = { name: 'dev', uid }
    await kube.create(DeploymentTargets, target(namespace, 'forged', { claimRef }))
    const spec = { claimRef, ...(await inSpace('made', uid)) }
    await kube.create(DeploymentTargets, target(namespace, 'made', spec, PRIVATE))
    const dev = await ready('dev', 'Bound')
    assert.is(dev.status?.target?.name, 'made')
  })

  it('what was made for one of them is on offer to no other claim', async () => {
    await make('used', await inSpace('used', ''), PRIVATE)
    await claimed('shared')
    await claimed('secret', {}, PRIVATE)
    await ready('secret', 'ClassNotFound')
    const shared = await ready('shared', 'ClassNotFound')
    assert.is(shared.status?.phase, 'Pending')
  })

  it('claims of people become so where their class says Private, before anything is made for them', async () => {
    const className = `private-${namespace.slice(-8)}`
    const spec = { provisioner: SANDBOX_PROVISIONER, parameters: { credentials: 'Private' } }
    await kube.create(DeploymentTargetClasses, targetClass(className, spec))
    await claimed('vault', { deploymentTargetClassName: className })
    const vault = await ready('vault', 'Provisioning')
    assert.is(vault.metadata.annotations?.[annotations.privateTo], '')
    await kube.delete(DeploymentTargetClasses, { name: className })
  })
})
