import { GitOpsDeployments } from '../../../src/api/index.ts'
import { pause, seconds, systemClock } from '../../../src/std/index.ts'
import { print } from '../figures.ts'
import { type Figures, requestsIn } from '../program.ts'
import { footprintOf, serverCpu, until } from '../waiting.ts'
import { fileOf, numbered, serviceObjects } from './manifests.ts'
import type { Setup } from './setup.ts'
import { createSyncs, floorOf, inEffect, makeTenants, syncOf } from './syncs.ts'

/** Many syncs of four objects, each as another tenant, created at once until all are Ready. */
export async function many(setup: Setup, count: number): Promise<void> {
  const { user, kubeconfig, kas } = setup
  const spaces = Array.from({ length: count }, (_, n) => numbered('many', n))
  const floors = Array.from({ length: count }, (_, n) => numbered('floor', n))
  await makeTenants(user, [...spaces, ...floors])
  const files = spaces.flatMap((name) =>
    serviceObjects().map((object): [string, string] => [`apps/${name}/${object.kind.toLowerCase()}.yaml`, fileOf(object)]),
  )
  const commit = await setup.publish(files)
  // The server's caches of namespaces and roles are warm for the one and the other; its controllers have come to rest.
  await pause(systemClock, seconds(5))
  const beforeFloor = await serverCpu(user)
  const floor = await floorOf(
    kubeconfig,
    floors.flatMap((namespace) => serviceObjects().map((object) => ({ object, namespace }))),
  )
  await pause(systemClock, seconds(5))
  const afterFloor = await serverCpu(user)

  const operator = await setup.startOperator()
  const syncs = setup.caches.of(GitOpsDeployments)
  await setup.caches.ready()
  const before = await operator.figures()
  const beforeServer = await serverCpu(user)
  const began = performance.now()
  await createSyncs(
    setup,
    spaces.map((namespace) => syncOf(setup, { namespace, path: `apps/${namespace}` })),
  )
  await until(syncs, () => inEffect(syncs, commit) === count, `${count} syncs are Ready`)
  const took = performance.now() - began
  const done = await operator.figures()
  const server = (await serverCpu(user)) - beforeServer
  print(`${count} syncs x 4 objects`, {
    'wall s': took / 1000,
    'floor s': floor / 1000,
    ratio: took / floor,
    'requests per sync': askedSince(before, done) / count,
    'CPU s of the API server': server,
    'for the floor': afterFloor - beforeFloor,
    ...(await footprintOf([operator, kas])),
  })
  await pause(systemClock, seconds(30))
  const later = await operator.figures()
  print('  30 s later', {
    'requests per sync': askedSince(before, later) / count,
    'watches per sync': (later.requests.watch ?? 0) / count,
    'of them': said(later),
    ...(await footprintOf([operator, kas])),
  })
}

/** Without watches, which are told apart. */
const askedSince = (before: Figures, after: Figures): number =>
  requestsIn(after) - (after.requests.watch ?? 0) - requestsIn(before) + (before.requests.watch ?? 0)

const said = ({ requests }: Figures): string =>
  Object.entries(requests)
    .map(([verb, number]) => `${verb} ${number}`)
    .join(', ')
