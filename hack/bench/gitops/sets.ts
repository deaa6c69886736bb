import { type AnyObject, type GitOpsDeployment, GitOpsDeploymentSets, GitOpsDeployments } from '../../../src/api/index.ts'
import { pause, seconds, systemClock } from '../../../src/std/index.ts'
import { print } from '../figures.ts'
import { requestsIn } from '../program.ts'
import { footprintOf, until } from '../waiting.ts'
import type { Setup } from './setup.ts'
import { floorOf, makeTenants, syncOf } from './syncs.ts'

/** One set with so many GitOpsDeployments, which wait to be synchronised by hand: made, changed, and left alone. */
export async function sets(setup: Setup, count: number): Promise<void> {
  const { user, kubeconfig, caches } = setup
  const [space, floorSpace] = ['sets', 'sets-floor']
  await makeTenants(user, [space, floorSpace])
  const names = Array.from({ length: count }, (_, at) => `app-${String(at).padStart(4, '0')}`)
  await setup.publish([['apps/none/readme.txt', 'nothing']])
  const floorObjects = (path: string) =>
    names.map((name) => ({
      object: bare(syncOf(setup, { namespace: floorSpace, name, path }, { type: 'manual' })),
      namespace: floorSpace,
    }))
  const floor = await floorOf(kubeconfig, floorObjects('apps/none'))
  const floorChange = await floorOf(kubeconfig, floorObjects('apps/other'))

  const operator = await setup.startOperator()
  const [all, deployments] = [caches.of(GitOpsDeploymentSets), caches.of(GitOpsDeployments)]
  await caches.ready()
  const updated = (generation: number) =>
    [...all.all()].some(({ status }) => status?.observedGeneration === generation && status.deployments?.updated === count)
  const template = (path: string) => {
    const { spec } = syncOf(setup, { namespace: space, path }, { type: 'manual' })
    return { metadata: { name: '${name}' }, spec: { ...spec } }
  }
  const ref = { name: 'bench', namespace: space }
  let began = performance.now()
  const elements = names.map((name) => ({ name }))
  const spec = { generators: [{ list: { elements } }], template: template('apps/none') }
  await user.create(GitOpsDeploymentSets, { apiVersion: 'berth.dev/v1alpha1', kind: 'GitOpsDeploymentSet', metadata: ref, spec })
  await until(all, () => updated(1), `${count} GitOpsDeployments are made`)
  const made = performance.now() - began
  await untilSeen(deployments, space, count)
  const before = await operator.figures()
  began = performance.now()
  await user.patch(GitOpsDeploymentSets, ref, { spec: { template: template('apps/other') } })
  await until(all, () => updated(2), `${count} GitOpsDeployments are changed`)
  const changed = performance.now() - began
  await pause(systemClock, seconds(10))
  const rested = await operator.figures()
  await pause(systemClock, seconds(30))
  const later = await operator.figures()
  print(`one set x ${count}`, {
    'made s': made / 1000,
    'floor s': floor / 1000,
    ratio: made / floor,
    'changed s': changed / 1000,
    'its floor s': floorChange / 1000,
    'its ratio': changed / floorChange,
    'requests for each that is changed': (requestsIn(rested) - requestsIn(before)) / count,
    'requests in 30 s at rest': requestsIn(later) - requestsIn(rested),
    ...(await footprintOf([operator])),
  })
}

const bare = ({ apiVersion, kind, metadata, spec }: GitOpsDeployment): AnyObject => ({ apiVersion, kind, metadata, spec })

const untilSeen = (deployments: Parameters<typeof until<GitOpsDeployment>>[0], namespace: string, count: number): Promise<void> =>
  until(
    deployments,
    () =>
      deployments.in(namespace).filter(({ metadata, status }) => status?.observedGeneration === metadata.generation).length ===
      count,
    'all have been looked at',
  )
