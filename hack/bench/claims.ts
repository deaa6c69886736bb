/**
 * Claims: `node hack/bench/claims.ts [scene …] [--count N]`. Scenes: by-hand, sandbox, one, idle. Each prints its figures and
 * beside them the floor, measured in the same run: the same writes by a bare loop with the same client and concurrency.
 */
import type { Kube } from '../../src/adapters/kube/index.ts'
import {
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  Namespaces,
  SANDBOX_PROVISIONER,
  SANDBOX_TIER,
  Secrets,
  SpaceTiers,
} from '../../src/api/index.ts'
import { pause, systemClock } from '../../src/std/index.ts'
import { claim, credentialsSecret, target, targetClass } from '../../test/support/targets.ts'
import { startOperator } from './program.ts'
import { inParallel, type LocalOperator, type Stage, setStage, startLocalOperator, totalOf } from './stage.ts'
import { recording, replayer, type Trace } from './trace.ts'

/** As many as the operator's own loops have under way, roughly. */
const WORKERS = 32
const now = () => performance.now()

async function waitFor(what: () => boolean): Promise<void> {
  while (!what()) await pause(systemClock, 25)
}

const boundIn = ({ caches }: LocalOperator, namespace: string) =>
  caches
    .of(DeploymentTargetClaims)
    .in(namespace)
    .filter(({ status }) => status?.phase === 'Bound').length
const phaseIn = ({ caches }: LocalOperator, namespace: string, phase: string) =>
  caches
    .of(DeploymentTargets)
    .in(namespace)
    .filter(({ status }) => status?.phase === phase).length

interface Scene {
  className: string
  /** What must be there before the claims. */
  prepare: (user: Kube, namespace: string, count: number) => Promise<void>
  free: (operator: LocalOperator, namespace: string, count: number) => boolean
}

const BY_HAND: Scene = {
  className: 'by-hand',
  async prepare(user, namespace, count) {
    await user.create(Secrets, credentialsSecret(namespace))
    await inParallel(count, WORKERS, (n) => user.create(DeploymentTargets, target(namespace, `target-${n}`)))
  },
  free: (operator, namespace, count) => phaseIn(operator, namespace, 'Available') === count,
}
const SANDBOX: Scene = { className: 'bench', prepare: () => Promise.resolve(), free: () => true }

async function makeNamespace(user: Kube, name: string): Promise<string> {
  await user.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  return name
}

async function burst({ user, kubeconfig }: Stage, name: string, scene: Scene, count: number): Promise<void> {
  const trace = await traceOfOne({ user, kubeconfig }, name, scene)
  const namespace = await makeNamespace(user, `bench-${name}`)
  const operator = await startLocalOperator(kubeconfig)
  await scene.prepare(user, namespace, count)
  await waitFor(() => scene.free(operator, namespace, count))
  await operator.events.flush()
  const before = totalOf(operator.requests)
  const began = now()
  await inParallel(count, WORKERS, (n) =>
    user.create(DeploymentTargetClaims, claim(namespace, `c${n}`, { deploymentTargetClassName: scene.className })),
  )
  await waitFor(() => boundIn(operator, namespace) === count && phaseIn(operator, namespace, 'Bound') === count)
  await operator.events.flush()
  const took = now() - began
  const perClaim = (totalOf(operator.requests) - before) / count
  await operator.stop()
  const floor = await floorOf(user, name, scene, trace, count)
  print(`${count} claims, ${name}`, {
    'wall s': took / 1000,
    'floor s': floor / 1000,
    ratio: took / floor,
    'requests per claim': perClaim,
  })
}

/** One claim's writes, the user's own creation first. */
async function traceOfOne({ user, kubeconfig }: { user: Kube; kubeconfig: string }, name: string, scene: Scene): Promise<Trace> {
  const namespace = await makeNamespace(user, `trace-${name}`)
  const trace: Trace = []
  const operator = await startLocalOperator(kubeconfig, (kube) => recording(kube, trace))
  await scene.prepare(user, namespace, 1)
  await waitFor(() => scene.free(operator, namespace, 1))
  await operator.events.flush()
  trace.length = 0
  await recording(user, trace).create(
    DeploymentTargetClaims,
    claim(namespace, 'the-traced-one', { deploymentTargetClassName: scene.className }),
  )
  await waitFor(() => boundIn(operator, namespace) === 1 && phaseIn(operator, namespace, 'Bound') === 1)
  await operator.stop()
  return trace.filter((write) => !('object' in write && write.kind.kind === 'Lease'))
}

async function floorOf(user: Kube, name: string, scene: Scene, trace: Trace, count: number): Promise<number> {
  // The targets that the trace patches have to be there.
  if (scene === BY_HAND)
    await inParallel(count, WORKERS, (n) => user.create(DeploymentTargets, target(`trace-${name}`, `target-0-${n}`)))
  const replay = replayer(trace, ['target-0'])
  const began = now()
  await inParallel(count, WORKERS, (n) => replay(user, n))
  return now() - began
}

/** One claim at a time on a quiet system, and one change in a watched object until the first write that answers it. */
async function latency({ user, kubeconfig }: Stage, count: number): Promise<void> {
  const namespace = await makeNamespace(user, 'bench-one')
  let written = 0
  const operator = await startLocalOperator(kubeconfig, (kube) => ({
    ...kube,
    patch(kind, ref, patch, how) {
      written ||= now()
      return kube.patch(kind, ref, patch, how)
    },
  }))
  await BY_HAND.prepare(user, namespace, count)
  await waitFor(() => BY_HAND.free(operator, namespace, count))
  const bound: number[] = []
  const reacted: number[] = []
  for (let n = 0; n < count; n++) {
    written = 0
    const began = now()
    await user.create(DeploymentTargetClaims, claim(namespace, `c${n}`))
    await waitFor(() => boundIn(operator, namespace) === n + 1)
    bound.push(now() - began)
    reacted.push(written - began)
    await waitFor(() => phaseIn(operator, namespace, 'Bound') === n + 1)
    await operator.events.flush()
  }
  await operator.stop()
  print(`one claim, ${count} times`, {
    'bound p50 ms': quantile(bound, 0.5),
    'p95 ms': quantile(bound, 0.95),
    'create sent to first write p50 ms': quantile(reacted, 0.5),
    'p95 ms ': quantile(reacted, 0.95),
  })
}

const quantile = (values: number[], q: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? 0

/** Many bound claims and nothing to do: `berth operator` is started beside them as a process of its own. */
async function idle({ user, kubeconfig }: Stage, count: number): Promise<void> {
  const namespace = await makeNamespace(user, 'bench-idle')
  const local = await startLocalOperator(kubeconfig)
  await BY_HAND.prepare(user, namespace, count)
  await inParallel(count, WORKERS, (n) => user.create(DeploymentTargetClaims, claim(namespace, `c${n}`)))
  await waitFor(() => boundIn(local, namespace) === count && phaseIn(local, namespace, 'Bound') === count)
  await local.stop()

  const operator = await startOperator(kubeconfig)
  const synced = await operator.figures()
  const { get: reads = 0, watch: watches = 0, ...writes } = synced.requests
  print(`${count} bound claims, restart`, {
    'listed after s': operator.listed / 1000,
    'in sync after s': operator.synced / 1000,
    reads,
    watches,
    writes: sumOf(writes),
    'RSS MB': synced.rss,
    'peak MB': synced.peak,
  })
  await pause(systemClock, 30_000)
  const { requests, rss, heap, external } = await operator.figures()
  print(`${count} bound claims, idle 30 s`, {
    requests: sumOf(requests) - sumOf(synced.requests),
    'RSS MB': rss,
    'heap MB': heap,
    'external MB': external,
  })
  await operator.stop()
}

const sumOf = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, each) => sum + each, 0)

function print(title: string, figures: Record<string, number>): void {
  const cells = Object.entries(figures).map(([name, value]) => `${name} ${value < 10 ? value.toFixed(2) : value.toFixed(1)}`)
  process.stdout.write(`${title.padEnd(32)} ${cells.join('   ')}\n`)
}

async function main(): Promise<void> {
  const given = process.argv.slice(2)
  const at = given.indexOf('--count')
  const count = at < 0 ? 1000 : Number(given[at + 1])
  const scenes = given.filter((_, n) => at < 0 || (n !== at && n !== at + 1))
  const wanted = (name: string) => scenes.length === 0 || scenes.includes(name)
  if (wanted('one')) await onStage((stage) => latency(stage, 100))
  if (wanted('by-hand')) await onStage((stage) => burst(stage, 'by-hand', BY_HAND, count))
  if (wanted('sandbox')) await onStage((stage) => burst(stage, 'sandbox', SANDBOX, count))
  if (wanted('idle')) await onStage((stage) => idle(stage, count * 5))
}

/** Each scene has a control plane of its own: what one leaves behind must not slow the next. */
async function onStage(play: (stage: Stage) => Promise<void>): Promise<void> {
  const stage = await setStage()
  const { user } = stage
  try {
    const tier = {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'SpaceTier',
      metadata: { name: SANDBOX_TIER },
      spec: { quota: { pods: '20' } },
    }
    await user.apply(SpaceTiers, tier, { manager: 'bench' })
    await user.create(DeploymentTargetClasses, targetClass(SANDBOX.className, { provisioner: SANDBOX_PROVISIONER }))
    await play(stage)
  } finally {
    await stage.close()
  }
}

await main()
