import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { connect, createCaches } from '../../src/adapters/kube/index.ts'
import { type ConfigMap, ConfigMaps, DeploymentTargetClaims, DeploymentTargets, Secrets } from '../../src/api/index.ts'
import { targetLifecycle } from '../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../src/operator/deployment-target-claim/binding/index.ts'
import { createLog, seconds, systemClock } from '../../src/std/index.ts'
import { type BlackHole, blackHole, slowLine, type Trouble } from '../support/bad-line.ts'
import { testCluster } from '../support/control-plane.ts'
import { startOperator } from '../support/operator.ts'
import { describe } from '../support/suite.ts'
import { claim, credentialsSecret, target } from '../support/targets.ts'
import { eventually, expectGone, expectObject } from '../support/verbs.ts'

describe('an operator on a bad line', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const closing: (() => Promise<unknown>)[] = []
  let namespace = ''
  let dir = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('line')
    dir = await mkdtemp(join(tmpdir(), 'berth-line-'))
  })
  it.afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
    await rm(dir, { recursive: true })
  })
  it.after(() => cluster.close())

  const configured = async () => parse(await readFile(cluster.kubeconfig, 'utf8'))
  const authority = async (): Promise<string> => {
    const { clusters } = await configured()
    return Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64').toString()
  }
  /** The same server and the same rights, but over another line. */
  const kubeconfigVia = async (url: string): Promise<string> => {
    const config = await configured()
    const { name, cluster: way } = config.clusters[0]
    const other = url.startsWith('http:') ? { 'insecure-skip-tls-verify': true } : way
    const file = join(dir, 'kubeconfig')
    await writeFile(file, JSON.stringify({ ...config, clusters: [{ name, cluster: { ...other, server: url } }] }))
    return file
  }
  const badLine = async (): Promise<BlackHole> => {
    const line = await blackHole(kube.server)
    closing.push(() => line.close())
    return line
  }
  const configMap = (name: string): ConfigMap => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } })

  it('notices that a watch is dead by its silence, and hears afterwards of what was deleted meanwhile', async () => {
    const line = await badLine()
    const said: string[] = []
    const log = createLog('debug', { write: (text) => said.push(text) })
    const via = connect({ kubeconfig: await kubeconfigVia(line.url) })
    const caches = createCaches({ kube: via, clock: systemClock, log, scope: namespace, stall: seconds(2) })
    closing.push(() => caches.stop().then(() => via.close()))
    const cache = caches.of(ConfigMaps)
    const gone: string[] = []
    cache.onChange((now, before) => {
      if (!now && before) gone.push(before.metadata.name)
    })
    for (const name of ['a', 'b']) await kube.create(ConfigMaps, configMap(name))
    await caches.ready()
    await eventually(() => cache.get({ name: 'b', namespace }))

    line.swallow()
    await eventually(() => line.stuck > 0)
    await kube.delete(ConfigMaps, { name: 'a', namespace })
    await kube.create(ConfigMaps, configMap('c'))
    said.splice(0)
    await eventually(() => said.some((text) => text.includes('the watch of configmaps was silent for 2 s')))
    // Over the dead line nothing can have come.
    assert.equal([gone.length, cache.get({ name: 'c', namespace })], [0, undefined])

    line.forward()
    await kube.delete(ConfigMaps, { name: 'b', namespace })
    await eventually(() => gone.length === 2 && cache.get({ name: 'c', namespace }))
    assert.equal(gone.sort(), ['a', 'b'])
  })

  it('binds a claim, and releases its target, over an API that takes seconds and refuses every third request', async () => {
    const statuses = [429, 500, 504]
    const troubles: number[] = []
    let asked = 0
    const of = (): Trouble => {
      asked++
      const status = asked % 3 === 0 ? statuses[troubles.length % statuses.length] : undefined
      if (status === undefined) return { delay: seconds(2 + (asked % 4)) }
      troubles.push(status)
      return { delay: seconds(2), status, ...(status === 429 && { headers: { 'retry-after': '1' } }) }
    }
    const line = await slowLine(kube.server, { ca: await authority(), of })
    closing.push(() => line.close())
    await kube.create(Secrets, credentialsSecret(namespace))
    await kube.create(DeploymentTargets, target(namespace, 'one'))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'one'))
    const operator = await startOperator({
      kubeconfig: await kubeconfigVia(line.url),
      namespace,
      controllers: (context) => [claimBinding(context), targetLifecycle(context)],
    })
    closing.push(() => operator.stop())
    const one = { name: 'one', namespace }
    await expectObject(kube, DeploymentTargetClaims, one, ({ status }) => status?.phase === 'Bound')
    await kube.delete(DeploymentTargetClaims, one)
    await expectGone(kube, DeploymentTargetClaims, one)
    await expectObject(kube, DeploymentTargets, one, ({ status }) => status?.phase === 'Released')
    assert.is(operator.caches.waitingFor().length, 0)
    assert.equal([...new Set(troubles)].sort(), statuses)
  })
})
