import { is, match, ok } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import { ConfigMaps, GitOpsDeployments } from '../../src/api/index.ts'
import { INVENTORY_LABEL } from '../../src/engines/gitops/index.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { LIMIT } from '../support/shipped-limit.ts'
import { describe } from '../support/suite.ts'
import { expectObject } from '../support/verbs.ts'
import { bringUp, type Installation, sourceOf } from './installation.ts'

/** With the heap that the shipped limit gives it, the operator keeps less than 70 of these. */
const MANY = 90
const LARGE = 'x'.repeat(1_000_000)

/** Mallory has `edit` in `evil`, and writes what the operator keeps of every namespace. */
describe('hostile: a namespace full of objects that programs keep', (it) => {
  let berth: Installation
  let mallory: Kube
  it.before(async () => {
    berth = await bringUp(['team-a', 'evil'])
    mallory = await berth.person('mallory', 'evil', 'edit')
    for (const namespace of ['team-a', 'evil']) {
      await follow(namespace, 'shop')
      await brought(namespace, 'shop')
    }
  })
  it.after(() => berth.stop())

  const files = (name: string) => ({ [`app/${name}.yaml`]: configMap(name) })
  const brought = (namespace: string, name: string) => expectObject(berth.kube, ConfigMaps, { name, namespace }, () => true)
  const follow = async (namespace: string, name: string) => {
    const { url } = await berth.repository(namespace, name, files(name))
    await berth.follow(namespace, name, { source: sourceOf(url, { path: 'app' }) })
  }
  const forged = (at: number) => ({
    ...configMap(`forged-${at}`, { objects: LARGE }, 'evil'),
    metadata: { name: `forged-${at}`, namespace: 'evil', labels: { [INVENTORY_LABEL]: 'none' } },
  })

  it('is left alone, and told so, while all others go on', async () => {
    for (let at = 0; at < MANY; at++) await mallory.create(ConfigMaps, forged(at))
    const message = await berth.heard('evil', 'NamespaceTooLarge')
    match(message, /^namespace evil has more objects than are kept in memory of one namespace \(\d+ MiB\)\. Delete/)
    await mallory.patch(GitOpsDeployments, { name: 'shop', namespace: 'evil' }, { spec: { interval: '5m' } })
    await berth.told('evil', 'shop', /NamespaceTooLarge/)
    await follow('evil', 'late')
    await follow('team-a', 'late')
    await brought('team-a', 'late')
    is(await berth.kube.get(ConfigMaps, { name: 'late', namespace: 'evil' }), undefined)
    ok(berth.peakOf('operator') < LIMIT)
  })

  it('is looked after again when it has less', async () => {
    for (let at = 0; at < MANY; at++) await mallory.delete(ConfigMaps, { name: `forged-${at}`, namespace: 'evil' })
    await brought('evil', 'late')
  })
})
