import { openKeys } from '../adapters/files/index.ts'
import { createMetrics, serveOperations, serveWeb, type Upstream, type WebServer } from '../adapters/http/index.ts'
import { chargeSpaces, connect, createCaches, untilListed, waitingFor } from '../adapters/kube/index.ts'
import { ConfigMaps, labels, Secrets, type Service, Services, Workspaces } from '../api/index.ts'
import { requestMeter } from '../engines/controller/index.ts'
import { aborted, type Clock, createLog, type Log, pause, systemClock } from '../std/index.ts'
import type { Config } from './config.ts'
import { CONNECTIONS } from './connections/index.ts'
import { discover } from './discovery/index.ts'
import { furnish } from './furnish.ts'
import { createKeyRing, KEYS, SIGN_OUTS } from './session/index.ts'
import { createTunnels } from './tunnels/index.ts'

export interface Addresses {
  listen: string
  /** Where ingresses ask. */
  authorize?: string
  operations: string
}

/** Where the program writes its log lines, whom it tells when it is up, and how it gets to the workspaces. */
export interface Surroundings {
  log: { write(line: string): unknown }
  /** Called once, when browsers are served. */
  up?: (addresses: Addresses) => void
  /** Where a port of a Service is reached from outside of the cluster. */
  reach?: (upstream: Upstream, service: Service) => Upstream
  clock?: Clock
}

/** Runs the proxy until the signal aborts; then what is open may end, and nothing is left, also when it could not start. */
export async function start(config: Config, signal: AbortSignal, surroundings: Surroundings): Promise<void> {
  const log = createLog(config.logLevel, surroundings.log).with({ program: 'proxy' })
  const clock = surroundings.clock ?? systemClock
  const open: (() => Promise<void>)[] = []
  const state: State = { phase: 'starting' }
  try {
    const { addresses, web } = await openHouse(config, signal, { log, clock, open, state, reach: surroundings.reach })
    state.phase = 'serving'
    log.info('proxy started', { ...addresses, signIn: config.host, namespace: config.namespace ?? 'all' })
    surroundings.up?.(addresses)
    await aborted(signal)
    state.phase = 'stopping'
    log.info('proxy stops', { takesRequestsFor: config.listenGrace, openMayLast: config.sessionGrace })
    await pause(clock, config.listenGrace)
    await web.stop(config.sessionGrace)
  } finally {
    for (const close of open.reverse()) await close()
    log.info('proxy stopped')
  }
}

interface State {
  phase: 'starting' | 'serving' | 'stopping'
}

interface Frame {
  log: Log
  clock: Clock
  /** Gets what closes again what was opened. */
  open: (() => Promise<void>)[]
  state: State
  reach: Surroundings['reach']
}

async function openHouse(config: Config, signal: AbortSignal, frame: Frame): Promise<{ addresses: Addresses; web: WebServer }> {
  const { log, clock, open, state } = frame
  const metrics = createMetrics({ process: true })
  const kube = connect({ kubeconfig: config.kubeconfig, context: config.context, clock, meter: requestMeter(metrics) })
  open.push(() => kube.close())
  const caches = createCaches({ kube, clock, log, scope: config.namespace })
  open.push(() => caches.stop())
  if (config.namespace === undefined) chargeSpaces(caches)
  const sources = {
    workspaces: caches.of(Workspaces),
    services: caches.of(Services, { labels: labels.workspaceUid }),
  }
  const named = (name: string) => ({ namespace: config.homeNamespace, fields: `metadata.name=${name}` })
  const secrets = caches.of(Secrets, named(KEYS))
  const signOuts = caches.of(ConfigMaps, named(SIGN_OUTS))
  const connections = caches.of(ConfigMaps, named(CONNECTIONS))
  const ready = () => waitingFor(caches) ?? (state.phase === 'serving' ? undefined : `the proxy is ${state.phase}`)
  const operations = await serveOperations({ address: config.operations, live: () => undefined, ready, metrics, clock, log })
  open.push(() => operations.stop())
  await untilListed(caches, signal)
  const keys = createKeyRing({
    ...{ kube: caches.kube, cache: secrets, namespace: config.homeNamespace },
    ...{ longest: config.longestSession, clock, log },
  })
  open.push(async () => keys.stop())
  await keys.ready(signal)
  const tunnels = config.kas && (await createTunnels({ kas: config.kas, clock }))
  open.push(async () => tunnels?.stop())
  const routes = discover({ ...sources, reach: frame.reach, tunnel: tunnels?.to, log })
  open.push(async () => routes.stop())
  const isStopping = () => state.phase === 'stopping'
  const { workspaces } = sources
  const known = { caches, workspaces, routes, keys, signOuts, connections }
  const reception = await furnish(config, { ...frame, ...known, metrics, isStopping, signal })
  const tls = config.tls && (await openKeys(config.tls, clock, log))
  open.push(async () => tls?.stop())
  const house = { tls, maxConnections: config.maxConnections, clock }
  const asked =
    config.authorize && (await serveWeb({ ...house, address: config.authorize.listen, onRequest: reception.consultation }))
  if (asked) open.push(() => asked.stop(0))
  const web = await serveWeb({ ...house, address: config.listen, onRequest: reception.request, onUpgrade: reception.upgrade })
  open.push(() => web.stop(0))
  const addresses = { listen: web.address, operations: operations.address, ...(asked && { authorize: asked.address }) }
  return { addresses, web }
}
