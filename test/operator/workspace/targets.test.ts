import { readFileSync } from 'node:fs'
import { equal, is, match, ok } from 'uvu/assert'
import { parse } from 'yaml'
import {
  Deployments,
  DeploymentTargetClaims,
  DeploymentTargets,
  Namespaces,
  Secrets,
  WorkspaceClasses,
  Workspaces,
} from '../../../src/api/index.ts'
import { seconds, systemClock } from '../../../src/std/index.ts'
import { type BlackHole, blackHole } from '../../support/bad-line.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { sweep } from '../../support/sweep.ts'
import { claim, kubeconfigSecret, target } from '../../support/targets.ts'
import { eventually, expectGone } from '../../support/verbs.ts'
import { clusterIn, everybody, prepareNamespace, words } from './fixture.ts'

describe('workspace: targets', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  const { at, create, set, becomes, expect } = words(cluster, () => namespace)

  it.beforeEach(async () => {
    namespace = await cluster.namespace('workspace-targets')
  })
  it.afterEach(async () => {
    await operator.stop()
    for (const { metadata } of await kube.list(Workspaces, { namespace }))
      await kube.patch(Workspaces, metadata, { metadata: { finalizers: null } })
    await kube.delete(WorkspaceClasses, { name: namespace })
    await sweep(kube, namespace)
  })
  it.after(() => cluster.close())

  const open = async () => {
    operator = await startOperator({ kubeconfig: cluster.kubeconfig, namespace, controllers: everybody })
  }

  it('lie in the shared namespace of a shared claim, under one pair of watches, and leave nothing there', async () => {
    const shared = await cluster.namespace('workspace-shared')
    await prepareNamespace(cluster, namespace, { sharedNamespace: shared })
    await open()
    const names = ['one', 'two', 'three']
    await Promise.all(names.map((name) => create(name)))
    for (const name of names) is((await becomes(name, 'Running')).status?.target?.namespace, shared)
    equal((await kube.list(Deployments, { namespace: shared })).length, 3)
    equal((await kube.list(Deployments, { namespace })).length, 0)
    await set('one', { desiredState: 'Stopped' })
    await becomes('one', 'Stopped')
    is((await becomes('two', 'Running')).status?.actualState, 'Running')
    for (const name of names) await kube.delete(Workspaces, at(name))
    for (const name of names) await expectGone(kube, Workspaces, at(name))
    equal((await kube.list(Deployments, { namespace: shared })).length, 0)
  })

  it('that do not answer keep no other workspace waiting, and are gone on with when they answer again', async () => {
    await prepareNamespace(cluster, namespace)
    const { server, 'certificate-authority-data': authority } = clusterIn(cluster.kubeconfig)
    const line: BlackHole = await blackHole(server)
    await far(line, authority)
    await open()
    const there = Array.from({ length: 20 }, (_, n) => `far-${n}`)
    await Promise.all(there.map((name) => create(name, { target: { claimName: 'far' } })))
    for (const name of there) await becomes(name, 'Running')
    line.swallow()
    await Promise.all(there.map((name) => set(name, { ports: [{ name: 'more', port: 9000 }] })))
    await expect(there[0] ?? '', ({ status }) => status?.waitingFor === 'DeploymentTarget far')
    const began = systemClock.now()
    await create('near')
    await becomes('near', 'Running')
    ok(systemClock.now() - began < seconds(25), `${systemClock.now() - began} ms`)
    line.forward()
    const ports = async () => (await kube.get(Workspaces, at(there[0] ?? '')))?.status?.ports?.length === 1
    await eventually(ports)
    await becomes(there[0] ?? '', 'Running')
    await line.close()
  })

  async function far(line: BlackHole, authority: string) {
    const user = parse(readFileSync(cluster.kubeconfig, 'utf8')).users[0].user
    const kubeconfig = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'far', cluster: { server: line.url, 'certificate-authority-data': authority } }],
      users: [{ name: 'far', user }],
      contexts: [{ name: 'far', context: { cluster: 'far', user: 'far' } }],
      'current-context': 'far',
    })
    await kube.create(Secrets, kubeconfigSecret(namespace, kubeconfig, 'far'))
    const kubernetesCredentials = { defaultNamespace: namespace, apiURL: line.url, clusterCredentialsSecret: 'far' }
    await kube.create(DeploymentTargets, target(namespace, 'far', { kubernetesCredentials }))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'far', { targetName: 'far' }))
  }

  it('that are Lost are named, with what helps, and the workspace can be deleted all the same', async () => {
    await prepareNamespace(cluster, namespace)
    await open()
    await create('web')
    await becomes('web', 'Running')
    await kube.patch(DeploymentTargets, at('here'), { metadata: { finalizers: null } })
    await kube.delete(DeploymentTargets, at('here'))
    await kube.patch(DeploymentTargets, at('here'), { metadata: { finalizers: null } }).catch(() => undefined)
    const { status } = await expect('web', ({ status: now }) => now?.failure?.reason === 'ClaimLost')
    is(status?.actualState, 'Unknown')
    match(status?.failure?.remedy ?? '', /Delete the workspace and the claim/)
    await kube.delete(Workspaces, at('web'))
    await expectGone(kube, Workspaces, at('web'))
  })

  it('go with their namespace, and no finalizer holds it', async () => {
    await prepareNamespace(cluster, namespace)
    await open()
    await create('web')
    await becomes('web', 'Running')
    await kube.delete(Namespaces, { name: namespace })
    await expectGone(kube, Namespaces, { name: namespace })
  })
})
