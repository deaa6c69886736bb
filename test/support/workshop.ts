import { connect, createCaches, createEvents, type Kube } from '../../src/adapters/kube/index.ts'
import { type Controller, runControllers, type Workshop } from '../../src/engines/controller/index.ts'
import { type Clock, type Log, silentLog, systemClock } from '../../src/std/index.ts'

export interface RunningShop extends Workshop {
  /** Requests so far, by HTTP method; watches count as `watch`. */
  readonly requests: Record<string, number>
  stop(): Promise<void>
}

export interface ShopOptions {
  kubeconfig: string
  /** Only this namespace is looked after, so that many tests can share an API server. */
  namespace: string
  controllers: (workshop: Workshop) => Controller[]
  /** Another way to the API: impersonated, counted, cut off. */
  via?: (kube: Kube) => Kube
  clock?: Clock
  log?: Log
}

/** Controllers at work in one namespace, as the operator would run them. */
export async function openShop({
  kubeconfig,
  namespace,
  controllers,
  via = (kube) => kube,
  clock = systemClock,
  log = silentLog,
}: ShopOptions): Promise<RunningShop> {
  const requests: Record<string, number> = {}
  const meter = ({ verb }: { verb: string }) => {
    requests[verb] = (requests[verb] ?? 0) + 1
  }
  const own = connect({ kubeconfig, clock, meter })
  const kube = via(own)
  const caches = createCaches({ kube, clock, log, scope: namespace })
  const events = createEvents({ kube, clock, log, reporter: 'berth-operator' })
  const workshop: Workshop = { kube: caches.kube, caches, events, clock, log }
  const closing = new AbortController()
  const done = runControllers(workshop, controllers(workshop), closing.signal)
  await caches.ready()
  return {
    ...workshop,
    requests,
    async stop() {
      closing.abort()
      await done
      await events.flush()
      await caches.stop()
      await own.close()
    },
  }
}
