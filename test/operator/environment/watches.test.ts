import * as assert from 'uvu/assert'
import { createCaches } from '../../../src/adapters/kube/index.ts'
import {
  DeploymentTargetClaims,
  DeploymentTargets,
  Environments,
  type KubeObject,
  labels,
  type Ref,
  Secrets,
} from '../../../src/api/index.ts'
import type { Watch } from '../../../src/engines/controller/index.ts'
import { openCaches } from '../../../src/operator/environment/caches.ts'
import { watchesOf } from '../../../src/operator/environment/watches.ts'
import { silentLog, systemClock } from '../../../src/std/index.ts'
import { environment, managedEnvironment, managedSecret, viaClaim, viaCredentials } from '../../support/builders/environments.ts'
import { testCluster } from '../../support/control-plane.ts'
import { describe } from '../../support/suite.ts'
import { claim, credentialsSecret, target } from '../../support/targets.ts'

describe('what wakes an Environment', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let watches: Watch[] = []
  let namespace = ''
  let close: () => Promise<void> = async () => undefined

  it.before(async () => {
    namespace = await cluster.namespace('watches')
    for (const name of ['one', 'two']) await kube.create(Environments, environment(namespace, name, viaClaim('dev')))
    await kube.create(Environments, environment(namespace, 'reserved', viaClaim('held')))
    await kube.create(Environments, environment(namespace, 'own', viaCredentials({ clusterCredentialsSecret: 'own' })))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { targetName: 'first' }))
    await kube.create(DeploymentTargets, target(namespace, 'first'))
    const caches = createCaches({ kube, clock: systemClock, log: silentLog, scope: namespace })
    watches = watchesOf(openCaches(caches))
    await caches.ready()
    close = () => caches.stop()
  })
  it.after(async () => {
    await close()
    await cluster.close()
  })

  const wakes = (object: KubeObject): string[] => {
    const refs: Ref[] = watches.filter(({ kind }) => kind.kind === object.kind).flatMap((watch) => watch.wakes(object))
    return [...new Set(refs.map(({ name }) => name))].sort()
  }
  const owned = (kind: string) => ({ ownerReferences: [{ apiVersion: 'x/v1', kind, name: 'one', uid: 'u' }] })

  it('E22-E24: a claim wakes the Environments that name it, and no others', () => {
    assert.equal(wakes(claim(namespace, 'dev')), ['one', 'two'])
    assert.equal(wakes(claim(namespace, 'other')), [])
    assert.equal(wakes(claim('elsewhere', 'dev')), [])
  })

  it('E25-E27: a target wakes the Environments of the claim that names it, or that it names', () => {
    assert.equal(wakes(target(namespace, 'first')), ['one', 'two'])
    assert.equal(wakes(target(namespace, 'second', { claimRef: { name: 'held' } })), ['reserved'])
    assert.equal(wakes(target(namespace, 'third')), [])
  })

  it('E28-E32: a Secret wakes those whose target or credentials name it, and the one it is a copy for', () => {
    assert.equal(wakes(credentialsSecret(namespace)), ['one', 'two'])
    assert.equal(wakes(managedSecret(namespace, 'own')), ['own'])
    const copy = managedSecret(namespace, 'any')
    copy.metadata.labels = { [labels.environmentSecret]: 'two' }
    assert.equal(wakes(copy), ['two'])
    assert.equal(wakes(managedSecret(namespace, 'managed-environment-secret-one')), ['one'])
    assert.equal(wakes(credentialsSecret(namespace, 'unrelated')), [])
  })

  it('E32: Secrets of other types are not even watched', () => {
    const secrets = watches.filter(({ kind }) => kind === Secrets).map(({ fields }) => fields)
    assert.equal(secrets, ['type=Opaque', 'type=managed-gitops.redhat.com/managed-environment'])
  })

  it('E37-E39: a managed environment wakes the Environment that owns it, by whatever group', () => {
    assert.equal(wakes(managedEnvironment(namespace, 'x', {}, owned('Environment'))), ['one'])
    assert.equal(wakes(managedEnvironment(namespace, 'x', {}, owned('Deployment'))), [])
    assert.equal(wakes(managedEnvironment(namespace, 'x')), [])
    assert.equal(wakes(managedEnvironment(namespace, 'managed-environment-two')), ['two'])
  })
})
