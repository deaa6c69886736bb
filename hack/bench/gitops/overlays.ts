import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type AnyObject, GitOpsDeployments } from '../../../src/api/index.ts'
import { pause, seconds, systemClock } from '../../../src/std/index.ts'
import { documents } from '../../../test/support/verbs.ts'
import { print } from '../figures.ts'
import { inParallel } from '../stage.ts'
import { footprintOf, until, untilSilent } from '../waiting.ts'
import { fileOf, numbered, settings } from './manifests.ts'
import type { Setup } from './setup.ts'
import { createSyncs, type FloorWrite, floorOf, inEffect, makeTenants, syncOf } from './syncs.ts'

const NAMESPACE = 'overlays'
/** Overlays of one base. */
const SHARING = 10
/** As many as the operator runs. */
const RUNS_AT_ONCE = 2

/** Many small kustomize overlays at once; then a commit that touches the base of ten of them. */
export async function overlays(setup: Setup, count: number): Promise<void> {
  const { user, kubeconfig, kas } = setup
  await makeTenants(user, [NAMESPACE, 'floor'])
  const files = filesOf(count)
  const first = await setup.publish(files)
  const { bare, writes } = await bareRuns(setup, files, count)
  const floor = await floorOf(kubeconfig, writes)
  await pause(systemClock, seconds(5))

  const operator = await setup.startOperator()
  const syncs = setup.caches.of(GitOpsDeployments)
  await setup.caches.ready()
  const began = performance.now()
  const all = Array.from({ length: count }, (_, n) => syncOf(setup, { namespace: NAMESPACE, name: nameOf(n), path: pathOf(n) }))
  await createSyncs(setup, all)
  await until(syncs, () => inEffect(syncs, first) === count, `${count} syncs are Ready`)
  const took = performance.now() - began
  print(`${count} kustomize overlays`, {
    'wall s': took / 1000,
    'bare kustomize s': bare / 1000,
    'floor s': floor / 1000,
    ratio: took / (bare + floor),
    renders: await setup.kubectl.runs(),
    ...(await footprintOf([operator, kas])),
  })
  await untilSilent([operator])
  await touchBase(setup, count)
}

async function touchBase(setup: Setup, count: number): Promise<void> {
  const { repository, kubectl } = setup
  const syncs = setup.caches.of(GitOpsDeployments)
  const before = await kubectl.runs()
  const base = Math.floor(count / SHARING / 2)
  const commit = await repository.change([[`bases/${base}/settings.yaml`, fileOf(settings('settings', 'touched'))]])
  const began = performance.now()
  await setup.webhook()
  await until(syncs, () => inEffect(syncs, commit) === count, 'every sync tells the new revision')
  const took = performance.now() - began
  await untilSilent(setup.operators)
  print(`  a commit that touches the base of ${Math.min(SHARING, count)}`, {
    'in effect everywhere after ms': took,
    renders: (await kubectl.runs()) - before,
  })
}

const nameOf = (n: number): string => numbered('overlay', n)
const pathOf = (n: number): string => `overlays/${nameOf(n)}`

function filesOf(count: number): [string, string][] {
  const files: [string, string][] = []
  for (let base = 0; base < Math.ceil(count / SHARING); base++) {
    files.push([`bases/${base}/kustomization.yaml`, 'resources: [settings.yaml]\n'])
    files.push([`bases/${base}/settings.yaml`, fileOf(settings('settings', 'first'))])
  }
  for (let n = 0; n < count; n++) {
    const overlay = {
      resources: [`../../bases/${Math.floor(n / SHARING)}`],
      namePrefix: `${nameOf(n)}-`,
      labels: [{ pairs: { overlay: nameOf(n) } }],
      patches: [{ target: { kind: 'ConfigMap' }, patch: JSON.stringify([ADDED]) }],
    }
    files.push([`${pathOf(n)}/kustomization.yaml`, `${JSON.stringify(overlay)}\n`])
  }
  return files
}

const ADDED = { op: 'add', path: '/data/colour', value: 'green' }

/** The same program on the same files, without anything around it; and what it wrote, for the floor. */
async function bareRuns(
  { kubectl }: Setup,
  files: readonly [string, string][],
  count: number,
): Promise<{ bare: number; writes: FloorWrite[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-bench-overlays-'))
  try {
    for (const [path, content] of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), content)
    }
    const texts: string[] = []
    const began = performance.now()
    await inParallel(count, RUNS_AT_ONCE, async (n) => {
      const { stdout } = await promisify(execFile)(kubectl.plain, ['kustomize', join(folder, pathOf(n))])
      texts.push(stdout)
    })
    const bare = performance.now() - began
    const objects: AnyObject[] = texts.flatMap((text) => documents(text).map((object) => ({ ...object })))
    return { bare, writes: objects.map((object) => ({ object, namespace: 'floor' })) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
