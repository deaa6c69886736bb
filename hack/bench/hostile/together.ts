import { ConfigMaps, GitOpsDeployments } from '../../../src/api/index.ts'
import { Failure, pause, seconds, systemClock } from '../../../src/std/index.ts'
import { LIMIT } from '../../../test/support/shipped-limit.ts'
import { load, print, spreadOf } from '../figures.ts'
import { fileOf, settings } from '../gitops/manifests.ts'
import type { Setup } from '../gitops/setup.ts'
import { createSyncs, inEffect, makeTenants, syncOf } from '../gitops/syncs.ts'
import type { Program } from '../program.ts'
import { footprintOf, regularly, serverCpu, until, untilSilent } from '../waiting.ts'
import { EVIL, FLAPPING, prepare } from './attacks.ts'
import type { Containers } from './containers.ts'
import { weigh } from './memory.ts'

const TEAM = 'team-a'
/** Between two pushes: kas lets those that follow each other sooner share a look at the repository. */
const INTERVAL = seconds(3)
const CALM_PUSHES = 20
/** 99 of 100 pushes are live before that, milliseconds. */
const PATIENCE = seconds(2)

/** Pushes of a tenant who means no harm, calm ones first. */
export async function together(setup: Setup, containers: Containers | undefined, count: number): Promise<void> {
  const { user, kas } = setup
  await makeTenants(user, [TEAM, EVIL])
  const first = await setup.publish(fileWith('first'))
  const attacks = await prepare(user)
  const operator = await setup.startOperator()
  const programs: [string, Program][] = [
    ['operator', operator],
    ['kas', kas],
  ]
  const failures: Failure[] = []
  const scales = programs.map(([name, program]) => weigh(name, program, (failure) => failures.push(failure)))
  try {
    const syncs = setup.caches.of(GitOpsDeployments)
    const objects = setup.caches.of(ConfigMaps, { namespace: TEAM, labels: 'gitops.berth.dev/sync' })
    await setup.caches.ready()
    await createSyncs(setup, [syncOf(setup, { namespace: TEAM, path: 'deploy' })])
    const flapping = () => syncs.get({ name: 'flapping', namespace: EVIL })?.status?.sync?.status === 'Synced'
    await until(syncs, () => inEffect(syncs, first) === 1 && flapping(), 'all is in its place')
    await untilSilent([operator])
    const live = (value: string) => until(objects, () => objects.get(WHERE)?.data?.value === value, `${value} is live`)
    const push = (value: string) => pushed(setup, value, live)
    print('calm', { pushes: CALM_PUSHES, ...spreadOf(await pushes('calm', CALM_PUSHES, push)), load: load() })

    const before = await serverCpu(user)
    const attack = await attacks.begin()
    const probes = startProbing(programs)
    const began = performance.now()
    const took = await Promise.race([pushes('beside', count, push), probes.broken])
    const lasted = (performance.now() - began) / 1000
    print('one tenant misbehaves', { pushes: count, ...spreadOf(took), load: load() })
    print('  what that is', {
      [`edits of ${FLAPPING} objects`]: attack.flaps,
      s: lasted,
      'CPU s of the API server': (await serverCpu(user)) - before,
    })
    await attack.stop()
    print('  the programs', { ...(await footprintOf([operator, kas])), ...probes.stop() })
    for (const { name, most, ended } of containers?.counted() ?? []) {
      print(`  the container of ${name}`, { 'most MiB, with files': most, 'processes ended': ended })
      if (ended !== 0) failures.push(new Failure('too-large', `${ended} processes of ${name} had no room in its container`))
    }
    const { 'p99 ms': p99 = 0 } = spreadOf(took)
    if (p99 >= PATIENCE) failures.push(new Failure('timeout', `a push was live after ${Math.round(p99)} ms only`))
    for (const { message } of failures.slice(0, 1)) print('  NOT WITHIN THE LIMITS', { because: message })
    if (failures.length > 0) process.exitCode = 1
  } finally {
    for (const [at, [name]] of programs.entries())
      print(`  ${name} with all it started`, {
        'most MiB': scales[at]?.top.most ?? 0,
        'its own': scales[at]?.top.own ?? 0,
        'processes beside': scales[at]?.top.started ?? 0,
        'of MiB': LIMIT,
      })
    for (const scale of scales) scale.stop()
    await attacks.close()
  }
}

const WHERE = { name: 'settings', namespace: TEAM }
const fileWith = (value: string): [string, string][] => [['deploy/settings.yaml', fileOf(settings('settings', value))]]

async function pushes(name: string, count: number, push: (value: string) => Promise<number>): Promise<number[]> {
  const took: number[] = []
  for (let n = 1; n <= count; n++) {
    took.push(await push(`${name} ${n}`))
    await pause(systemClock, INTERVAL)
  }
  return took
}

/** Milliseconds from the push until it is live. */
async function pushed(setup: Setup, value: string, live: (value: string) => Promise<void>): Promise<number> {
  await setup.repository.change(fileWith(value))
  const began = performance.now()
  await setup.webhook()
  await live(value)
  return performance.now() - began
}

interface Probes {
  /** Fails when a program has ended, with the last that it said. */
  readonly broken: Promise<never>
  stop(): Record<string, number>
}

/** Asks as a kubelet does, which gives an answer one second and ends what misses three. */
function startProbing(programs: readonly [string, Program][]): Probes {
  const slowest: Record<string, number> = {}
  const { promise: broken, reject } = Promise.withResolvers<never>()
  const ask = async ([name, { facts, figures }]: [string, Program]) => {
    const began = performance.now()
    const answer = await fetch(`http://${facts.operations}/livez`).catch(() => undefined)
    if (!answer) return void (await figures().catch(reject))
    await answer.text()
    const key = `${name} alive after ms`
    slowest[key] = Math.max(slowest[key] ?? 0, performance.now() - began)
  }
  const stop = regularly(seconds(1), () => void Promise.all(programs.map(ask)).catch(reject))
  return {
    broken,
    stop() {
      stop()
      return slowest
    },
  }
}
