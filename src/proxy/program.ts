import { openKeys } from '../adapters/files/index.ts'
import { createMetrics, serveOperations, serveWeb } from '../adapters/http/index.ts'
import { chargeSpaces, connect, createCaches, untilListed, waitingFor } from '../adapters/kube/index.ts'
import { ConfigMaps, labels, Secrets, Services, SSH_AUTHORITY, Workspaces } from '../api/index.ts'
import { requestMeter, requireKinds } from '../engines/controller/index.ts'
import { aborted, type Clock, createLog, pause, systemClock } from '../std/index.ts'
import type { ProxyConfig } from './config.ts'
import type { WaysToPorts } from './routed-workspace.ts'
import { followRoutes } from './routes.ts'
import { buildServices, type Frame } from './services.ts'
import { CONNECTIONS, createRotatingKeys, KEYS, SIGN_OUTS } from './session/index.ts'
import { openSsh } from './ssh-listener.ts'
import { connectTunnels } from './tunnels.ts'

export interface Addresses {
  listen: string
  /** Ingresses ask there. */
  authorize?: string
  ssh?: string
  operations: string
}

/** The program gets from outside how it writes, whom it tells, and how it reaches the workspaces. */
export interface ProxySurroundings extends Pick<WaysToPorts, 'reach'> {
  log: { write(line: string): unknown }
  /** Of this build. */
  version?: string
  /** Called once, when browsers are served. */
  up?: (addresses: Addresses) => void
  clock?: Clock
}

interface State {
  phase: 'starting' | 'serving' | 'stopping'
}

/** Runs the proxy until the signal aborts; then what is open may end, and nothing is left, also when it could not start. */
export async function start(config: ProxyConfig, signal: AbortSignal, surroundings: ProxySurroundings): Promise<void> {
  const log = createLog(config.logLevel, surroundings.log).with({ program: 'proxy' })
  const { clock = systemClock } = surroundings
  const open: Frame['open'] = []
  const state: State = { phase: 'starting' }
  try {
    const { addresses, web, ssh } = await serve(config, { log, clock, open, signal }, state, surroundings)
    state.phase = 'serving'
    log.info('proxy started', { ...addresses, signIn: config.host, namespace: config.namespace ?? 'all' })
    surroundings.up?.(addresses)
    await aborted(signal)
    state.phase = 'stopping'
    log.info('proxy stops', { takesRequestsFor: config.listenGrace, openMayLast: config.sessionGrace })
    await pause(clock, config.listenGrace)
    await Promise.all([web.stop(config.sessionGrace), ssh?.stop(config.sessionGrace)])
  } finally {
    for (const close of open.reverse()) await close()
    log.info('proxy stopped')
  }
}

async function serve(config: ProxyConfig, frame: Frame, state: State, { reach, version }: ProxySurroundings) {
  const { log, clock, open, signal } = frame
  const { homeNamespace: namespace } = config
  const metrics = createMetrics({ process: true })
  const kube = connect({ kubeconfig: config.kubeconfig, context: config.context, clock, meter: requestMeter(metrics) })
  open.push(() => kube.close())
  const caches = createCaches({ kube, clock, log, scope: config.namespace })
  open.push(() => caches.stop())
  if (config.namespace === undefined) chargeSpaces(caches)
  const named = (name: string) => ({ namespace, fields: `metadata.name=${name}` })
  const workspaces = caches.of(Workspaces)
  const services = caches.of(Services, { labels: labels.workspaceUid })
  const secrets = caches.of(Secrets, named(KEYS))
  const authorities = config.ssh?.certificatesFor === undefined ? undefined : caches.of(Secrets, named(SSH_AUTHORITY))
  const signOuts = caches.of(ConfigMaps, named(SIGN_OUTS))
  const connections = caches.of(ConfigMaps, named(CONNECTIONS))
  const ready = () => waitingFor(caches) ?? (state.phase === 'serving' ? undefined : `the proxy is ${state.phase}`)
  const operations = await serveOperations({ address: config.operations, live: () => undefined, ready, metrics, clock, log })
  open.push(() => operations.stop())
  await untilListed(caches, signal)
  await requireKinds([Workspaces], { kube, clock, log, version, signal })
  const keys = createRotatingKeys(caches.kube, { cache: secrets, namespace, longest: config.longestSession }, clock, log)
  open.push(() => keys.stop())
  await keys.ready(signal)
  const tunnels = config.kas && (await connectTunnels(config.kas, clock))
  open.push(() => tunnels?.stop())
  const routes = followRoutes({ workspaces, services, reach, tunnel: tunnels?.to, log })
  open.push(() => routes.stop())
  const isStopping = () => state.phase === 'stopping'
  const known = { caches, workspaces, routes, keys, authorities, signOuts, connections, metrics }
  const foundation = { ...known, ...frame, isStopping }
  const built = await buildServices(config, foundation)
  const { request, upgrade, consultation } = built
  const tls = config.tls && (await openKeys(config.tls, clock, log))
  open.push(() => tls?.stop())
  const listener = { tls, maxConnections: config.maxConnections, clock }
  const asked = config.authorize && (await serveWeb({ ...listener, address: config.authorize.listen, onRequest: consultation }))
  open.push(() => asked?.stop(0))
  const web = await serveWeb({ ...listener, address: config.listen, onRequest: request, onUpgrade: upgrade })
  open.push(() => web.stop(0))
  const ssh = await openSsh(config, foundation, built)
  open.push(() => ssh?.stop())
  const addresses = {
    ...{ listen: web.address, operations: operations.address },
    ...(asked && { authorize: asked.address }),
    ...(ssh && { ssh: ssh.address }),
  }
  return { addresses, web, ssh }
}
