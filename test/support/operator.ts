import { connect, createCaches, createEventRecorder, type Kube } from '../../src/adapters/kube/index.ts'
import type { KubeObject } from '../../src/api/index.ts'
import { type Controller, type ControllerContext, runControllers, settled } from '../../src/engines/controller/index.ts'
import { type Clock, type Log, silentLog, systemClock } from '../../src/std/index.ts'

export interface RunningOperator extends ControllerContext {
  /** Requests that were answered so far, by HTTP method; watches count as `watch`. Read it after `quiet()`. */
  readonly requests: Record<string, number>
  /**
   * Whatever was sent so far is answered and counted, Events too. The API server shows what a request did before its sender
   * has the answer: who waits for the effect and reads the count at once may miss that very request.
   */
  quiet(): Promise<void>
  stop(): Promise<void>
}

export interface OperatorOptions {
  kubeconfig: string
  /** Only this namespace is looked after, so that many tests can share an API server. */
  namespace: string
  /** Namespaces that it looks after too. With any, it sees the whole cluster, as operators mostly do, and acts in these only. */
  neighbours?: string[]
  controllers: (context: ControllerContext) => Controller[]
  /** Another way to the API: impersonated, counted, cut off. */
  via?: (kube: Kube) => Kube
  clock?: Clock
  log?: Log
  /** The ClusterRole by which namespaces let it read their Secrets. Without it they all do. */
  tenantRole?: string
}

/** Controllers at work in one namespace, as the operator would run them. */
export async function startOperator({
  kubeconfig,
  namespace,
  neighbours = [],
  controllers,
  via = (kube) => kube,
  clock = systemClock,
  log = silentLog,
  tenantRole,
}: OperatorOptions): Promise<RunningOperator> {
  const requests: Record<string, number> = {}
  const meter = ({ verb }: { verb: string }) => {
    requests[verb] = (requests[verb] ?? 0) + 1
  }
  const own = connect({ kubeconfig, clock, meter })
  const flying = new Set<Promise<unknown>>()
  const kube = via(noting(own, flying))
  const caches = createCaches({ kube, clock, log, scope: neighbours.length > 0 ? undefined : namespace, tenantRole })
  const events = createEventRecorder({ kube, clock, log, reporter: 'berth-operator' })
  const context: ControllerContext = { kube: caches.kube, caches, events, clock, log }
  const closing = new AbortController()
  const limited = controllers(context).map((each) => (neighbours.length > 0 ? onlyIn([namespace, ...neighbours], each) : each))
  const done = runControllers(context, limited, closing.signal)
  const quiet = async () => {
    await events.flush()
    while (flying.size > 0) await Promise.allSettled(flying)
  }
  await caches.ready()
  return {
    ...context,
    requests,
    quiet,
    async stop() {
      closing.abort()
      await done
      await events.flush()
      await caches.stop()
      await own.close()
    },
  }
}

/** Notes which calls are under way. Watches stay open and are not among them. */
function noting(kube: Kube, flying: Set<Promise<unknown>>): Kube {
  const note = <T>(call: Promise<T>): Promise<T> => {
    const end: Promise<unknown> = call.then(
      () => flying.delete(end),
      () => flying.delete(end),
    )
    flying.add(end)
    return call
  }
  return {
    ...kube,
    get: (kind, ref, signal) => note(kube.get(kind, ref, signal)),
    list: (kind, query, signal) => note(kube.list(kind, query, signal)),
    read: (path, options) => note(kube.read(path, options)),
    create: (kind, object, how) => note(kube.create(kind, object, how)),
    apply: (kind, object, how) => note(kube.apply(kind, object, how)),
    patch: (kind, ref, patch, how) => note(kube.patch(kind, ref, patch, how)),
    delete: (kind, ref, how) => note(kube.delete(kind, ref, how)),
    post: (path, body) => note(kube.post(path, body)),
    as: (identity) => noting(kube.as(identity), flying),
  }
}

/** Limits a controller that sees more than these namespaces to them and what is in them: other tests run beside this one. */
export const onlyIn = (namespaces: string[], controller: Controller): Controller => ({
  ...controller,
  reconcile: async (object, signal) => (namespaces.includes(homeOf(object)) ? controller.reconcile(object, signal) : settled()),
})

const homeOf = ({ metadata }: KubeObject): string => metadata.namespace ?? metadata.name
