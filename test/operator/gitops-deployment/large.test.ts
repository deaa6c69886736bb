import * as assert from 'uvu/assert'
import { ConfigMaps } from '../../../src/api/index.ts'
import { configMap } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { openStage, type Stage } from '../../support/deployments.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

const MANY = 700
const nameOf = (index: number) => `cm-${String(index).padStart(3, '0')}`

describe('a deployment of very many objects', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage

  it.beforeEach(async () => {
    stage = await openStage(cluster)
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const files = (changed = '') =>
    Object.fromEntries(
      Array.from({ length: MANY }, (_, index) => [
        `deploy/${nameOf(index)}.json`,
        configMap(nameOf(index), { x: index === 7 ? changed : 'same' }),
      ]),
    )
  const since = (before: Record<string, number>) =>
    Object.entries(stage.operator.requests)
      .filter(([verb]) => verb !== 'watch')
      .reduce((sum, [verb, count]) => sum + count - (before[verb] ?? 0), 0)

  it('lists what is not well first, changes one in a handful of requests, and costs nothing at rest', async () => {
    await stage.deploy({ drift: 'Detect', interval: '10s' })
    const first = await stage.git.push(files())
    const { conditions, inventory } = await stage.synced(first, 'shop', { within: 90_000 })
    assert.match(conditions?.find(({ type }) => type === 'Ready')?.message ?? '', /Of 700 objects, 500 are listed/)
    assert.is(inventory?.count, MANY)

    // The last one, which would not be among the first five hundred.
    await kube.patch(ConfigMaps, { name: nameOf(MANY - 1), namespace: stage.namespace }, { data: { x: 'edited' } })
    await stage.complains('Drifted')
    const { resources = [] } = await stage.status()
    assert.equal([resources.length, resources[0]?.name, resources[0]?.drift], [500, nameOf(MANY - 1), ['/data/x']])
    await kube.patch(ConfigMaps, { name: nameOf(MANY - 1), namespace: stage.namespace }, { data: { x: 'same' } })
    await stage.synced(first)

    await stage.operator.quiet()
    const before = { ...stage.operator.requests }
    await stage.synced(await stage.git.push(files('changed')))
    await stage.operator.quiet()
    assert.ok(since(before) <= 6, `${since(before)} requests: inventory twice, the object, the status, an Event`)
    await eventually(async () => (await stage.configMap(nameOf(7)))?.data?.x === 'changed')
  })
})

describe('deployments of one namespace', (it) => {
  const cluster = testCluster()
  let stage: Stage

  it.beforeEach(async () => {
    stage = await openStage(cluster, { settings: { mostObjects: 3 } })
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  it('have so many objects together, and one that has no room waits until there is', async () => {
    const file = (path: string, name: string) => ({ [`${path}/${name}.json`]: configMap(name) })
    await stage.deploy()
    const first = await stage.git.push({
      ...file('deploy', 'a'),
      ...file('deploy', 'b'),
      ...file('other', 'c'),
      ...file('other', 'd'),
    })
    await stage.synced(first)
    await stage.deploy({ source: { repoURL: 'https://git.example.com/team-a/shop', path: 'other' } }, 'other')
    const { message } = await stage.complains('TooManyObjects', 'other')
    assert.match(message, /describes 2 objects, and all GitOpsDeployments of namespace \S+ may have 3 together/)
    assert.is(await stage.configMap('c'), undefined)
    await stage.synced(first)
    const second = await stage.git.push({ ...file('deploy', 'a'), ...file('other', 'c'), ...file('other', 'd') })
    await stage.synced(second, 'other', { within: 60_000 })
    await eventually(async () => (await stage.configMap('d')) !== undefined)
  })
})
