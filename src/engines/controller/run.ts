import { type Bell, createDoorbell } from '../../adapters/kube/index.ts'
import { type KubeObject, keyOf, refOf } from '../../api/index.ts'
import { aborted } from '../../std/index.ts'
import { type Loop, type LoopMeter, startLoop } from './loop.ts'
import type { Controller, ControllerContext, Watch } from './reconcile.ts'

/** Runs the controllers until the signal aborts, then lets what is under way finish. */
export async function runControllers(
  context: ControllerContext,
  controllers: Controller[],
  signal: AbortSignal,
  meter?: LoopMeter,
): Promise<void> {
  const parts = controllers.map((controller) => assemble(context, controller, meter))
  try {
    await context.caches.ready(signal)
  } catch {
    return stopAll(parts)
  }
  const doorbell = createDoorbell(parts.flatMap(({ bells }) => bells))
  await doorbell.start()
  for (const { begin } of parts) begin(signal)
  await aborted(signal)
  doorbell.stop()
  await stopAll(parts)
}

interface Part {
  bells: Bell[]
  loop: Loop
  begin: (signal: AbortSignal) => void
}

const stopAll = async (parts: Part[]): Promise<void> => {
  await Promise.all(parts.map(({ loop }) => loop.stop()))
}

function assemble<T extends KubeObject>(
  context: ControllerContext,
  controller: Controller<T>,
  meter: LoopMeter | undefined,
): Part {
  const { caches } = context
  const cache = caches.of(controller.kind, { labels: controller.labels })
  const loop = startLoop(context, controller, cache, meter)
  const own: Bell<T> = {
    kind: controller.kind,
    cache,
    ring(now, before) {
      const object = now ?? before
      if (object && (now || controller.gone)) loop.enqueue(keyOf(refOf(object)))
    },
  }
  const others = (controller.watches ?? []).map((watch) => bellOf(context, watch, loop))
  return {
    bells: [own, ...others],
    loop,
    begin(signal) {
      for (const object of cache.all()) loop.enqueue(keyOf(refOf(object)))
      caches.onOpen((namespace) => {
        for (const object of cache.in(namespace)) loop.enqueue(keyOf(refOf(object)))
      })
      controller.wakeups?.begin(loop.enqueue, signal)
    },
  }
}

function bellOf({ caches }: ControllerContext, watch: Watch, loop: Loop): Bell {
  const { kind, wakes, ...options } = watch
  const ring = (now: KubeObject | undefined, before: KubeObject | undefined) => {
    // Both sides of a change: what the object concerned before it may be concerned by its leaving.
    const refs = [...(now ? wakes(now) : []), ...(before ? wakes(before) : [])]
    for (const key of new Set(refs.map(keyOf))) loop.enqueue(key)
  }
  return { kind, cache: caches.of(kind, options), ring }
}
