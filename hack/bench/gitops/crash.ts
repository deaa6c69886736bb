import type { Kube } from '../../../src/adapters/kube/index.ts'
import { ConfigMaps, GitOpsDeployments } from '../../../src/api/index.ts'
import { pause, seconds, systemClock } from '../../../src/std/index.ts'
import { print } from '../figures.ts'
import { appliesOf, until } from '../waiting.ts'
import { fileOf, numbered, settings } from './manifests.ts'
import type { Setup } from './setup.ts'
import { createSyncs, inEffect, makeTenants, syncOf } from './syncs.ts'

const NAMESPACE = 'crash'
const INVENTORY = 'gitops.berth.dev/inventory'

/** The operator is killed half way through a large sync and started again. Applies are counted by the API server. */
export async function crash(setup: Setup, count: number): Promise<void> {
  const { user } = setup
  await makeTenants(user, [NAMESPACE])
  const objects = Array.from({ length: count }, (_, n) => settings(numbered('settings', n), 'first'))
  const commit = await setup.publish(objects.map((object) => [`deploy/${object.metadata.name}.yaml`, fileOf(object)]))
  const syncs = setup.caches.of(GitOpsDeployments)
  const made = setup.caches.of(ConfigMaps, { namespace: NAMESPACE, labels: 'gitops.berth.dev/sync', metadataOnly: true })
  await setup.caches.ready()

  const began = performance.now()
  const first = await setup.startOperator()
  await createSyncs(setup, [syncOf(setup, { namespace: NAMESPACE, path: 'deploy' })])
  await until(made, () => made.size >= count / 2, 'half of the objects are there')
  await first.kill()
  const killed = performance.now() - began
  // What was under way when it died is still answered, and counted.
  await pause(systemClock, seconds(2))
  const appliesBefore = await appliesOf(user, 'configmaps')
  const recorded = await recordedIn(user)

  const restarted = performance.now()
  await setup.startOperator()
  await until(syncs, () => inEffect(syncs, commit) === 1, 'the sync is Ready')
  const took = performance.now() - restarted
  const applies = (await appliesOf(user, 'configmaps')) - appliesBefore
  print(`killed half way through ${count}`, {
    'killed after s': killed / 1000,
    'restarted and Ready after s': took / 1000,
    'there when killed': appliesBefore,
    'recorded as applied': recorded,
    'applies after the restart': applies,
    'applied twice': Math.max(0, appliesBefore + applies - count),
    'recorded and applied twice': Math.max(0, recorded + applies - count),
    'there at the end': made.size,
  })
}

/** Objects of which the inventory says that their content is in effect: the last part of their line is its hash. */
async function recordedIn(user: Kube): Promise<number> {
  const maps = await user.list(ConfigMaps, { namespace: NAMESPACE, labels: INVENTORY })
  const lines = maps.flatMap(({ data }) => (data?.objects ?? '').split('\n'))
  return new Set(lines.filter((line) => /\/[^/]+$/.test(line))).size
}
