import {
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  Environments,
  GitOpsDeployments,
  Namespaces,
  Previews,
  SANDBOX_PROVISIONER,
  SANDBOX_TIER,
  SpaceTiers,
} from '../../../src/api/index.ts'
import { environment, viaClaim } from '../../../test/support/builders/environments.ts'
import { claim, targetClass } from '../../../test/support/targets.ts'
import { print, quantile } from '../figures.ts'
import { requestsIn } from '../program.ts'
import { inParallel } from '../stage.ts'
import { until, untilSilent } from '../waiting.ts'
import { fileOf, settings } from './manifests.ts'
import type { Setup } from './setup.ts'
import { AT_ONCE, isInEffect, makeTenants, syncOf } from './syncs.ts'

const HOME = 'previews'
const BY_HAND = 'previews-floor'
const CLASS = 'bench'
/** One after the other, before many at once. */
const SINGLE = 5

/**
 * Branches that are pushed, until their environments are healthy, and deleted, until their namespaces are gone; one at a time, and many at
 * once. The floor: claim, Environment and GitOpsDeployment made by hand; and the same namespaces deleted while no operator runs.
 */
export async function previews(setup: Setup, count: number): Promise<void> {
  const { user, repository } = setup
  await offerSpaces(setup)
  await makeTenants(user, [HOME, BY_HAND])
  const commit = await setup.publish([['deploy/settings.yaml', fileOf(settings('settings', 'first'))]])
  const operator = await setup.startOperator()
  const view = await viewOf(setup, commit)
  const many = Array.from({ length: count }, (_, n) => `many-${n}`)
  const single = Array.from({ length: SINGLE }, (_, n) => `single-${n}`)

  const madeSingly = await each(single, (name) => makeByHand(setup, view, [name]))
  const madeTogether = await makeByHand(setup, view, many)
  await user.create(Previews, previewOf())
  await view.untilSeen()

  const push = async (names: readonly string[]) => {
    for (const name of names) await repository.branch(`feature/${name}`, commit)
    return tell(setup, () => view.untilHealthy(HOME, names))
  }
  const remove = async (names: readonly string[]) => {
    const namespaces = view.namespaces(HOME)
    for (const name of names) await repository.removeBranch(`feature/${name}`)
    return tell(setup, () => view.untilGone(namespaces))
  }
  const singly = await each(single, async (name) => ({ pushed: await push([name]), removed: await remove([name]) }))
  await untilSilent([operator])
  const before = requestsIn(await operator.figures())
  const pushed = await push(many)
  await untilSilent([operator])
  const requests = requestsIn(await operator.figures()) - before
  const removed = await remove(many)

  await operator.stop()
  const [first, rest] = [view.namespaces(BY_HAND).slice(0, SINGLE), view.namespaces(BY_HAND).slice(SINGLE)]
  const wentSingly = await each(first, (name) => deleteNamespaces(setup, view, [name]))
  const wentTogether = await deleteNamespaces(setup, view, rest)
  const half = (values: readonly number[]) => quantile(values, 0.5) / 1000
  const [healthy, gone] = [half(singly.map((one) => one.pushed)), half(singly.map((one) => one.removed))]
  print(`one branch, ${SINGLE} times`, lines({ healthy, gone }, { made: half(madeSingly), went: half(wentSingly) }))
  print(`${count} branches at once`, {
    ...lines({ healthy: pushed / 1000, gone: removed / 1000 }, { made: madeTogether / 1000, went: wentTogether / 1000 }),
    'requests each': requests / count,
  })
}

const lines = ({ healthy, gone }: Record<'healthy' | 'gone', number>, { made, went }: Record<'made' | 'went', number>) => ({
  'pushed to healthy s': healthy,
  'floor s': made,
  ratio: healthy / made,
  'deleted to gone s': gone,
  'its floor s': went,
  'its ratio': gone / went,
})

async function each<Item, Found>(items: readonly Item[], work: (item: Item) => Promise<Found>): Promise<Found[]> {
  const found: Found[] = []
  for (const item of items) found.push(await work(item))
  return found
}

async function offerSpaces({ user }: Setup): Promise<void> {
  const tier = { apiVersion: 'berth.dev/v1alpha1', kind: 'SpaceTier', metadata: { name: SANDBOX_TIER }, spec: {} }
  await user.apply(SpaceTiers, { ...tier, spec: { quota: { pods: '20' } } }, { manager: 'bench' })
  await user.create(DeploymentTargetClasses, targetClass(CLASS, { provisioner: SANDBOX_PROVISIONER }))
}

type View = Awaited<ReturnType<typeof viewOf>>

async function viewOf({ caches }: Setup, commit: string) {
  const [deployments, targets, spaces] = [caches.of(GitOpsDeployments), caches.of(DeploymentTargets), caches.of(Namespaces)]
  const all = caches.of(Previews)
  await caches.ready()
  return {
    namespaces: (home: string) => targets.in(home).map(({ spec }) => spec.kubernetesCredentials.defaultNamespace),
    untilSeen: () => until(all, () => [...all.all()].some(({ status }) => status?.conditions), 'the Preview is seen'),
    /** The name of an environment begins with that of the Preview, and ends with a digest of the branch. */
    untilHealthy(home: string, names: readonly string[]) {
      const isHealthy = (name: string) =>
        deployments.in(home).some((one) => {
          const { name: own } = one.metadata
          return (own === name || own.includes(`-feature-${name}-`)) && isInEffect(one, commit)
        })
      return until(deployments, () => names.every(isHealthy), 'the environments are healthy')
    },
    untilGone: (names: readonly string[]) =>
      until(spaces, () => names.every((name) => !spaces.get({ name })), 'the namespaces are gone'),
  }
}

const previewOf = () => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: Previews.kind,
  metadata: { name: 'bench', namespace: HOME },
  spec: {
    branches: { project: 'bench/repository', pattern: 'feature/*' },
    deploymentTargetClassName: CLASS,
    maxEnvironments: 200,
    template: { spec: { source: { path: 'deploy' } } },
  },
})

/** Milliseconds from when kas is told of a push. */
async function tell(setup: Setup, done: () => Promise<void>): Promise<number> {
  const began = performance.now()
  // Whichever branch it names, all of them are looked at.
  await setup.webhook('refs/heads/feature/any')
  await done()
  return performance.now() - began
}

async function makeByHand(setup: Setup, view: View, names: readonly string[]): Promise<number> {
  const { user } = setup
  const began = performance.now()
  await inParallel(names.length, AT_ONCE, async (n) => {
    const name = names[n] ?? ''
    await user.create(DeploymentTargetClaims, claim(BY_HAND, name, { deploymentTargetClassName: CLASS }))
    await user.create(Environments, environment(BY_HAND, name, viaClaim(name)))
    const sync = syncOf(setup, { namespace: BY_HAND, name, path: 'deploy' }, { destination: { environment: name } })
    await user.create(GitOpsDeployments, sync)
  })
  await view.untilHealthy(BY_HAND, names)
  return performance.now() - began
}

async function deleteNamespaces({ user }: Setup, view: View, names: readonly string[]): Promise<number> {
  const began = performance.now()
  await inParallel(names.length, AT_ONCE, (n) => user.delete(Namespaces, { name: names[n] ?? '' }))
  await view.untilGone(names)
  return performance.now() - began
}
