import * as assert from 'uvu/assert'
import { ConfigMaps } from '../../../src/api/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { at, openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually, expectObject } from '../../support/verbs.ts'

/** It is on its way until somebody says that it is ready, in a field that no manifest has. */
const PHASES = { group: '', kind: 'ConfigMap', healthy: "object.metadata.name != 'schema' || object.data.phase == 'ready'" }
const inWave = (name: string, wave: number, x: string) => ({
  ...configMap(name, { x }),
  metadata: { name, annotations: { 'argocd.argoproj.io/sync-wave': String(wave) } },
})

describe('a commit whose objects come in waves', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage
  it.beforeEach(async () => {
    stage = await openStage(cluster)
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  it('is applied wave by wave, each woken by the health of the one before, with this commit and with the next', async () => {
    await stage.deploy({ ...at('deploy'), healthRules: [PHASES] })
    const files = (x: string) => ({
      'deploy/app.yaml': configMap('app', { x }),
      'deploy/last.yaml': inWave('last', 5, x),
      'deploy/schema.yaml': inWave('schema', -1, x),
    })
    const ref = { name: 'schema', namespace: stage.namespace }
    const first = await stage.git.push(files('1'))
    await expectObject(kube, ConfigMaps, ref, ({ data }) => data?.x === '1')
    assert.match((await stage.complains('Waiting')).message, 'schema')
    assert.equal([await stage.configMap('app'), await stage.configMap('last')], [undefined, undefined])
    await kube.patch(ConfigMaps, ref, { data: { phase: 'ready' } }, { manager: 'somebody' })
    await stage.synced(first)
    assert.is((await stage.configMap('last'))?.data?.x, '1')

    await kube.patch(ConfigMaps, ref, { data: { phase: 'on its way' } }, { manager: 'somebody' })
    const second = await stage.git.push(files('2'))
    await expectObject(kube, ConfigMaps, ref, ({ data }) => data?.x === '2')
    assert.is((await stage.configMap('app'))?.data?.x, '1')
    await kube.patch(ConfigMaps, ref, { data: { phase: 'ready' } }, { manager: 'somebody' })
    await stage.synced(second)
    assert.is((await stage.configMap('app'))?.data?.x, '2')
    assert.is((await stage.configMap('last'))?.data?.x, '2')
  })

  it('is deleted from the last wave to the first', async () => {
    await stage.deploy({ ...at('deploy'), deletionPolicy: 'Wait' })
    const last = inWave('last', 5, '1')
    const held = { ...last, metadata: { ...last.metadata, finalizers: ['example.com/held'] } }
    await stage.synced(await stage.git.push({ 'deploy/app.yaml': configMap('app'), 'deploy/last.yaml': held }))
    await stage.git.push({ 'deploy/other.yaml': configMap('other') })
    const ref = { name: 'last', namespace: stage.namespace }
    await expectObject(kube, ConfigMaps, ref, ({ metadata }) => metadata.deletionTimestamp !== undefined)
    assert.ok(await stage.configMap('app'))
    await kube.patch(ConfigMaps, ref, { metadata: { finalizers: null } }, { manager: 'somebody' })
    await eventually(async () => (await stage.configMap('app')) === undefined)
  })
})
