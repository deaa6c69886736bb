import { ConfigMaps, GitOpsDeployments } from '../../../src/api/index.ts'
import { print } from '../figures.ts'
import { requestsIn } from '../program.ts'
import { until, untilSilent } from '../waiting.ts'
import { fileOf, settings } from './manifests.ts'
import type { Setup } from './setup.ts'
import { createSyncs, inEffect, makeTenants, syncOf } from './syncs.ts'

const NAMESPACE = 'commits'

/** Many commits as fast as they can be made, kas told of each: the last one must be in effect, and not each on the way there. */
export async function commits(setup: Setup, count: number): Promise<void> {
  const { user, repository } = setup
  await makeTenants(user, [NAMESPACE])
  const fileWith = (value: string): [string, string][] => [['deploy/settings.yaml', fileOf(settings('settings', value))]]
  const first = await setup.publish(fileWith('first'))
  const operator = await setup.startOperator()
  const syncs = setup.caches.of(GitOpsDeployments)
  const objects = setup.caches.of(ConfigMaps, { namespace: NAMESPACE, labels: 'gitops.berth.dev/sync' })
  await setup.caches.ready()
  await createSyncs(setup, [syncOf(setup, { namespace: NAMESPACE, path: 'deploy' })])
  await until(syncs, () => inEffect(syncs, first) === 1, 'the sync is Ready')
  await untilSilent([operator])

  const seen = new Set<string | undefined>()
  const end = objects.onChange((now) => seen.add(now?.data?.value))
  const before = requestsIn(await operator.figures())
  const began = performance.now()
  const refused: number[] = []
  let last = first
  for (let n = 1; n <= count; n++) {
    last = await repository.change(fileWith(`commit ${n}`))
    const status = await setup.webhook()
    if (status !== 202) refused.push(status)
  }
  const pushed = performance.now()
  await until(objects, () => seen.has(`commit ${count}`), 'the last commit is applied')
  const applied = performance.now() - pushed
  await until(syncs, () => inEffect(syncs, last) === 1, 'the last commit is in effect')
  const ready = performance.now() - pushed
  await untilSilent([operator])
  end()
  print(`${count} commits in quick succession`, {
    'pushed in s': (pushed - began) / 1000,
    applies: seen.size,
    'last one applied after ms': applied,
    'told after ms': ready,
    requests: requestsIn(await operator.figures()) - before,
    'webhooks refused': refused.length,
  })
}
