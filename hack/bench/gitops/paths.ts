import { GitOpsDeployments } from '../../../src/api/index.ts'
import { print } from '../figures.ts'
import { requestsIn } from '../program.ts'
import { footprintOf, until, untilSilent } from '../waiting.ts'
import { fileOf, numbered, settings } from './manifests.ts'
import type { Setup } from './setup.ts'
import { createSyncs, inEffect, isInEffect, makeTenants, syncOf } from './syncs.ts'

const FILES = 50_000
const NAMESPACE = 'paths'

/** Many syncs on as many paths of one large repository, and a commit that touches one of the paths. */
export async function paths(setup: Setup, count: number): Promise<void> {
  const { user, kas } = setup
  await makeTenants(user, [NAMESPACE])
  const perPath = Math.floor(FILES / count)
  const first = await setup.publish(filesOf(count, perPath))
  const operator = await setup.startOperator()
  const programs = [operator, kas]
  const syncs = setup.caches.of(GitOpsDeployments)
  await setup.caches.ready()
  const began = performance.now()
  const all = Array.from({ length: count }, (_, n) => syncOf(setup, { namespace: NAMESPACE, name: nameOf(n), path: pathOf(n) }))
  await createSyncs(setup, all)
  await until(syncs, () => inEffect(syncs, first) === count, `${count} syncs are Ready`)
  print(`${count} paths of ${count * perPath} files`, {
    'Ready after s': (performance.now() - began) / 1000,
    fetches: (await kas.figures()).metric('berth_kas_fetches_total'),
    ...(await footprintOf(programs)),
  })
  await untilSilent(programs)
  await touchOne(setup, count)
}

async function touchOne(setup: Setup, count: number): Promise<void> {
  const { repository, kas } = setup
  const programs = [...setup.operators, kas]
  const syncs = setup.caches.of(GitOpsDeployments)
  const touched = Math.floor(count / 2)
  const [kasBefore, before] = [await kas.figures(), await sumOfRequests(programs)]
  const commit = await repository.change([[`${pathOf(touched)}/settings.yaml`, fileOf(settings(nameOf(touched), 'touched'))]])
  const began = performance.now()
  await setup.webhook()
  const isTold = () => {
    const sync = syncs.get({ namespace: NAMESPACE, name: nameOf(touched) })
    return sync !== undefined && isInEffect(sync, commit)
  }
  await until(syncs, isTold, 'the commit is in effect where it changed something')
  const took = performance.now() - began
  await until(syncs, () => inEffect(syncs, commit) === count, 'every sync tells the new revision')
  const allTook = performance.now() - began
  await untilSilent(programs)
  const kasAfter = await kas.figures()
  const counted = (name: string) => kasAfter.metric(name) - kasBefore.metric(name)
  print('  a commit that touches one of them', {
    'in effect after ms': took,
    'told by all after ms': allTook,
    fetches: counted('berth_kas_fetches_total'),
    'KB fetched': counted('berth_kas_fetched_bytes_total') / 1024,
    'renders (paths delivered anew)': counted('berth_kas_batches_total'),
    'paths told unchanged': counted('berth_kas_unchanged_total'),
    requests: (await sumOfRequests(programs)) - before,
  })
}

const sumOfRequests = async (programs: Setup['operators']): Promise<number> => {
  const all = await Promise.all(programs.map(({ figures }) => figures()))
  return all.reduce((sum, figures) => sum + requestsIn(figures), 0)
}

const nameOf = (n: number): string => numbered('path', n)
const pathOf = (n: number): string => `teams/${nameOf(n)}`

/** Of each path's files two are manifests; a repository of this size is not made of manifests only. */
function* filesOf(count: number, perPath: number): Iterable<[string, string]> {
  for (let n = 0; n < count; n++) {
    yield [`${pathOf(n)}/settings.yaml`, fileOf(settings(nameOf(n), 'first'))]
    yield [`${pathOf(n)}/more.yaml`, fileOf(settings(`${nameOf(n)}-more`, 'first'))]
    for (let other = 2; other < perPath; other++) yield [`${pathOf(n)}/docs/${other}.md`, `# Page ${other} of ${nameOf(n)}\n`]
  }
}
