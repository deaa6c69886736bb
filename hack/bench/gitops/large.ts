import type { Cache } from '../../../src/adapters/kube/index.ts'
import { type ConfigMap, ConfigMaps, GitOpsDeployments } from '../../../src/api/index.ts'
import { pause, seconds, systemClock } from '../../../src/std/index.ts'
import { print, spreadOf } from '../figures.ts'
import { type OperatorProgram, type Program, requestsIn } from '../program.ts'
import { inParallel } from '../stage.ts'
import { footprintOf, until, untilSilent } from '../waiting.ts'
import { fileOf, numbered, settings } from './manifests.ts'
import type { Setup } from './setup.ts'
import { AT_ONCE, createSyncs, floorOf, inEffect, makeTenants, syncOf } from './syncs.ts'

const NAMESPACE = 'large'
const INTERVAL = seconds(3)
const CHANGES = 50
const EDITS = 100

/** One sync of very many objects: the first time, at rest, after one push, and after somebody has edited a hundred of them. */
export async function large(setup: Setup, count: number): Promise<void> {
  const { user, kubeconfig, kas } = setup
  await makeTenants(user, [NAMESPACE, 'floor'])
  const objects = Array.from({ length: count }, (_, n) => settings(numbered('settings', n), 'first'))
  const commit = await setup.publish(objects.map((object) => [pathOf(object.metadata.name), fileOf(object)]))
  const floor = await floorOf(
    kubeconfig,
    objects.map((object) => ({ object, namespace: 'floor' })),
  )
  await pause(systemClock, seconds(5))

  const operator = await setup.startOperator()
  const syncs = setup.caches.of(GitOpsDeployments)
  await setup.caches.ready()
  const before = await operator.figures()
  const began = performance.now()
  await createSyncs(setup, [syncOf(setup, { namespace: NAMESPACE, path: 'deploy' }, { interval: `${INTERVAL / 1000}s` })])
  await until(syncs, () => inEffect(syncs, commit) === 1, 'the sync is Ready')
  const took = performance.now() - began
  print(`${count} ConfigMaps, first time`, {
    'wall s': took / 1000,
    'floor s': floor / 1000,
    ratio: took / floor,
    'requests per object': (requestsIn(await operator.figures()) - requestsIn(before)) / count,
    ...(await footprintOf([operator, kas])),
    'operator peak MB': (await operator.figures()).peak,
  })
  await atRest(operator)
  const settled = setup.caches.of(ConfigMaps, { namespace: NAMESPACE, labels: 'gitops.berth.dev/sync' })
  await setup.caches.ready()
  await onePush(setup, operator, settled)
  await pushes(setup, settled)
  await edits(setup, operator, settled)
  print('  at the end', await footprintOf([operator, kas]))
}

const pathOf = (name: string): string => `deploy/${name}.yaml`

async function atRest(operator: OperatorProgram): Promise<void> {
  await untilSilent([operator])
  const before = await operator.figures()
  await pause(systemClock, 10 * INTERVAL)
  const after = await operator.figures()
  print('  ten intervals without a change', {
    requests: requestsIn(after) - requestsIn(before),
    reconciles: after.reconciles - before.reconciles,
  })
}

/** Pushes one line and tells kas; milliseconds from then on until it is in the cluster. */
async function push(setup: Setup, objects: Cache<ConfigMap>, n: number, value: string): Promise<number> {
  const name = numbered('settings', n)
  await setup.repository.change([[pathOf(name), fileOf(settings(name, value))]])
  const began = performance.now()
  const told = await setup.webhook()
  if (told !== 202) print('  a webhook was answered', { status: told })
  await until(objects, () => objects.get({ namespace: NAMESPACE, name })?.data?.value === value, `${name} is ${value}`)
  return performance.now() - began
}

async function onePush(setup: Setup, operator: OperatorProgram, objects: Cache<ConfigMap>): Promise<void> {
  const programs = [operator, setup.kas]
  const asked = () => Promise.all(programs.map(async ({ figures }) => requestsIn(await figures())))
  await untilSilent(programs)
  const [before = 0, kasBefore = 0] = await asked()
  const took = await push(setup, objects, 7, 'one line')
  await untilSilent(programs)
  const [after = 0, kasAfter = 0] = await asked()
  print('  one line pushed', { 'applied after ms': took, requests: after - before, 'requests of kas': kasAfter - kasBefore })
}

async function pushes(setup: Setup, objects: Cache<ConfigMap>): Promise<void> {
  const latencies: number[] = []
  const programs = [...setup.operators, setup.kas]
  const before = await cpuOf(programs)
  for (let n = 0; n < CHANGES; n++) {
    latencies.push(await push(setup, objects, n, `push ${n}`))
    // A webhook a second is what kas takes from one project in the long run.
    await pause(systemClock, seconds(1.5))
  }
  const spent = ((await cpuOf(programs)) - before) / CHANGES
  print(`  ${CHANGES} pushes of one line, applied after`, { ...spreadOf(latencies), 'CPU ms per push': spent * 1000 })
}

async function cpuOf(programs: readonly Program[]): Promise<number> {
  const figures = await Promise.all(programs.map((program) => program.figures()))
  return figures.reduce((sum, one) => sum + one.metric('process_cpu_seconds_total'), 0)
}

/** All at once, as by a script. */
async function edits(setup: Setup, operator: OperatorProgram, objects: Cache<ConfigMap>): Promise<void> {
  const { user } = setup
  await untilSilent([operator])
  const before = requestsIn(await operator.figures())
  const edited = new Map<string, number>()
  const repaired = new Map<string, number>()
  const end = objects.onChange((now) => {
    const at = now && edited.get(now.metadata.name)
    if (now && at !== undefined && now.data?.value !== 'by hand' && !repaired.has(now.metadata.name))
      repaired.set(now.metadata.name, performance.now() - at)
  })
  const count = Math.min(EDITS, objects.size)
  await inParallel(count, AT_ONCE, async (n) => {
    const name = numbered('settings', objects.size - 1 - n)
    edited.set(name, performance.now())
    await user.patch(ConfigMaps, { namespace: NAMESPACE, name }, { data: { value: 'by hand' } })
  })
  await until(objects, () => repaired.size === count, `${count} objects are repaired`)
  end()
  await untilSilent([operator])
  const requests = requestsIn(await operator.figures()) - before
  print(`  ${count} objects edited by hand, repaired`, { ...spreadOf([...repaired.values()]), requests })
}
