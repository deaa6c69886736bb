import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { acquireTools, startControlPlane } from '../../src/adapters/control-plane/index.ts'
import { connect, createCaches, createEventRecorder, type Kube } from '../../src/adapters/kube/index.ts'
import { type ControllerContext, runControllers } from '../../src/engines/controller/index.ts'
import { controllersOf } from '../../src/operator/controllers.ts'
import { parseConfig } from '../../src/operator/index.ts'
import { createLog, systemClock } from '../../src/std/index.ts'
import { inParallel as eachInParallel } from '../../test/support/parallel.ts'

const ROOT = join(import.meta.dirname, '../..')

export interface Stage {
  /** As the user, with a connection of its own. */
  user: Kube
  kubeconfig: string
  close(): Promise<void>
}

export async function setStage(): Promise<Stage> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-bench-'))
  const tools = await acquireTools({ env: process.env })
  const plane = await startControlPlane({ dir, tools, nodes: 1 })
  const kubectl = (...words: string[]) =>
    execFileSync(tools.paths.kubectl ?? 'kubectl', words, {
      env: { ...process.env, KUBECONFIG: plane.kubeconfig },
      stdio: 'ignore',
    })
  kubectl('apply', '--server-side', '-k', ROOT)
  kubectl('wait', '--for=condition=Established', 'crd', '--all')
  const user = connect({ kubeconfig: plane.kubeconfig })
  return {
    user,
    kubeconfig: plane.kubeconfig,
    async close() {
      await user.close()
      await plane.remove()
    },
  }
}

export interface LocalOperator extends ControllerContext {
  requests: Map<string, number>
  stop(): Promise<void>
}

/** All controllers of the operator, in this process, without leader election. */
export async function startLocalOperator(kubeconfig: string, via: (kube: Kube) => Kube = (kube) => kube): Promise<LocalOperator> {
  const requests = new Map<string, number>()
  const clock = systemClock
  const log = createLog('error', process.stderr)
  const own = connect({ kubeconfig, clock, meter: ({ verb }) => requests.set(verb, (requests.get(verb) ?? 0) + 1) })
  const kube = via(own)
  const caches = createCaches({ kube, clock, log })
  const events = createEventRecorder({ kube, clock, log, reporter: 'berth-operator' })
  const context = { kube: caches.kube, caches, events, clock, log }
  const ending = new AbortController()
  const done = runControllers(
    context,
    controllersOf(context, parseConfig({}, {}), { follow: () => Promise.resolve() }),
    ending.signal,
  )
  await caches.ready()
  return {
    ...context,
    requests,
    async stop() {
      ending.abort()
      await done
      await events.flush()
      await caches.stop()
      await own.close()
    },
  }
}

export const totalOf = (requests: Map<string, number>): number =>
  [...requests].reduce((sum, [verb, count]) => sum + (verb === 'watch' ? 0 : count), 0)

/** `workers` at once, each taking the next number below `count`. */
export const inParallel = (count: number, workers: number, work: (n: number) => Promise<unknown>): Promise<void> =>
  eachInParallel([...new Array(count).keys()], workers, work)
