import { readFile } from 'node:fs/promises'
import { openArtifacts } from '../adapters/artifacts/index.ts'
import { openKeys } from '../adapters/files/index.ts'
import { describeRevision, openMirrors, type Transfer } from '../adapters/git/index.ts'
import { serveGrpc } from '../adapters/grpc/index.ts'
import { createMetrics, createReader, type Metrics, serveHttp, serveOperations } from '../adapters/http/index.ts'
import {
  connect,
  createAnswers,
  createCaches,
  createEventRecorder,
  type Kube,
  untilListed,
  waitingFor,
} from '../adapters/kube/index.ts'
import { openTracer } from '../adapters/traces/index.ts'
import { Agents, GitProjects, SpaceRequests, tunnelAudienceOf, Workspaces } from '../api/index.ts'
import { requestMeter, requireKinds } from '../engines/controller/index.ts'
import { createPermissions } from '../engines/permissions/index.ts'
import {
  aborted,
  systemClock as clock,
  createLog,
  failureReason,
  type ListenerKeys,
  type Log,
  pause,
  type Tracer,
} from '../std/index.ts'
import { createOperatorGate, createProxyGate, createWorkspaceGate } from './authorization/index.ts'
import { AGES, type KasConfig } from './config.ts'
import { createDevfileFetcher, createDevfileService, type FetchDevfile } from './devfiles/index.ts'
import { serveExternalEndpoint } from './external-endpoint/index.ts'
import { createGates, type Gates, type KasParts, watchObjects } from './gates.ts'
import { serveGitCredentials } from './git-credentials/index.ts'
import { createCredentials, createPolls, type LastServed, pokeByAnnotation } from './git-polling/index.ts'
import { reportStatus, servedIn } from './git-project-status/index.ts'
import { serveKubernetesApi } from './kubernetes-api/index.ts'
import { createObjectStreamService } from './object-stream/index.ts'
import { createMeters, type KasMeters } from './ports/meters.ts'
import type { Credentials, Polls } from './ports/ports.ts'
import { requireToken } from './ports/refusals.ts'
import { createPresence } from './presence/index.ts'
import { createDevelops } from './projects/develop.ts'
import { type AgentRoutes, createRoutes } from './routes.ts'
import { createPodProof } from './tokens/pod-proof.ts'
import { createProve } from './tokens/strangers.ts'
import { receiveWebhooks } from './webhooks/index.ts'
import { createPortsService } from './workspace-ports/index.ts'

export interface KasAddresses {
  listen: string
  operations: string
  webhooks: string
  /** Pods of workspaces ask for Git credentials here. */
  gitCredentials: string
  /** People reach the clusters of agents here. */
  kubernetesApi: string
  /** Of the external endpoint, when it is on. */
  api?: string
  /** Of the private endpoint, when it is on. */
  privateApi?: string
}

/** The log that the program writes to, and the callback that it calls when it is up. */
export interface KasSurroundings {
  log: { write(line: string): unknown }
  /** Of this build. */
  version?: string | undefined
  /** Called once, when streams are served. */
  up?: (addresses: KasAddresses) => void
}

/** Probes read it: while kas starts and stops, requests are better elsewhere. */
interface State {
  phase: 'starting' | 'serving' | 'stopping'
}

/** Runs kas until the signal aborts; then streams end cleanly and nothing is left open, also when it could not start. */
export async function start(config: KasConfig, signal: AbortSignal, surroundings: KasSurroundings): Promise<void> {
  const { version } = surroundings
  const log = createLog(config.logLevel, surroundings.log).with({ program: 'kas' })
  const closing: Closing = []
  try {
    const state: State = { phase: 'starting' }
    const { addresses, drain } = await open(config, signal, { log, closing, state, version })
    state.phase = 'serving'
    log.info('kas started', { ...addresses, namespace: config.namespace ?? 'all' })
    surroundings.up?.(addresses)
    await aborted(signal)
    state.phase = 'stopping'
    log.info('kas stops', { takesRequestsFor: config.listenGrace, sessionsEndWithin: config.sessionGrace })
    await pause(clock, config.listenGrace)
    await drain()
  } finally {
    // Streams first, so that callers go elsewhere; then what fed them.
    for (const close of closing.reverse()) await close()
    log.info('kas stopped')
  }
}

/** Closes what was opened, the last first. */
type Closing = (() => unknown)[]

/** Opens everything in order. */
async function open(
  config: KasConfig,
  signal: AbortSignal,
  { log, closing, state, version }: { log: Log; closing: Closing; state: State; version: string | undefined },
): Promise<{ addresses: KasAddresses; drain(): Promise<void> }> {
  const metrics = createMetrics({ process: true })
  const client = connect({ kubeconfig: config.kubeconfig, context: config.context, clock, meter: requestMeter(metrics) })
  closing.push(() => client.close())
  const caches = createCaches({ kube: client, clock, log, scope: config.namespace })
  // Its writes show in the caches at once: who writes a status reads it there the next time.
  const { kube } = caches
  closing.push(() => caches.stop())
  const events = createEventRecorder({ kube: client, clock, log, reporter: 'berth-kas' })
  closing.push(() => events.flush())
  const objects = watchObjects(config, caches)
  const permissions = createPermissions({ kube: client, caches, clock, isWide: config.namespace === undefined })
  closing.push(() => permissions.stop())
  const meters = createMeters(metrics)
  const credentials = createCredentials(kube)
  const tracer = await openTracer(config.otlpEndpoint, { service: 'berth-kas', version, instance: config.identity, log })
  closing.push(() => tracer.stop())
  const lastServed: LastServed = (ref, revision) => servedIn(objects.gitProjects.get(ref)?.status, describeRevision(revision))
  const polls = await openPolls(config, credentials, { meters, lastServed, log, tracer })
  closing.push(() => polls.stop())
  const fetchDevfile = await devfileFetcherOf(config)
  const ready = () => waitingFor(caches) ?? (state.phase === 'serving' ? undefined : `kas is ${state.phase}`)
  const operations = await serveOperations({ address: config.operations, live: () => undefined, ready, metrics, clock, log })
  closing.push(() => operations.stop())
  await untilListed(caches, signal)
  await requireKinds([Agents, GitProjects, Workspaces, SpaceRequests], { kube: client, clock, log, version, signal })
  const { gitProjects: cache, holders, projects } = objects
  const status = reportStatus({ kube, cache, holders, polls, events, clock, log, tracer })
  closing.push(() => status.stop(), pokeByAnnotation(cache, polls))
  const { leaseNamespace, identity } = config
  const presence = createPresence({ kube: client, clock, log, namespace: leaseNamespace, identity, version })
  closing.push(() => presence.stop())
  const prove = createProve(meters.unknownToken, clock)
  const around: KasParts = { config, kube, version, objects, permissions, polls, meters, prove, log }
  const gates = createGates(around, { events, presence, closing })
  const respond = receiveWebhooks({ projects, polls, credentials, answered: meters.answered, clock, log })
  const webhooks = await serveHttp({ address: config.webhooks, respond, clock, log })
  closing.push(() => webhooks.stop())
  // All listeners show the same certificate.
  const tls = config.tls && (await openKeys(config.tls, clock, log))
  closing.push(() => tls?.stop())
  const agents = await serveAgents(around, gates, { fetchDevfile, tls, closing })
  const { server, routes } = agents
  const people = await servePeople(around, gates, { routes, credentials, metrics, tls, closing })
  const { privateApi } = routes
  const addresses = {
    listen: server.address,
    operations: operations.address,
    webhooks: webhooks.address,
    ...people.addresses,
    ...(privateApi === undefined ? {} : { privateApi }),
  }
  const drain = async () => {
    // Agents go elsewhere at once; what runs through their tunnels goes on, for people here and for other kas alike.
    server.leave()
    await Promise.all([people.stop(), routes.drain(config.sessionGrace)])
  }
  return { addresses, drain }
}

function traceTransfer({ commit, milliseconds, bytes, failure }: Transfer, tracer: Tracer): void {
  if (failure?.code === 'cancelled') return
  const ended = clock.now()
  const error = failure && failureReason(failure)
  tracer.record(commit, { name: 'fetch', began: ended - milliseconds, ended, error, attributes: { 'berth.bytes': bytes } })
}

async function openPolls(
  config: KasConfig,
  credentials: Credentials,
  { meters, lastServed, log, tracer }: { meters: KasMeters; lastServed: LastServed; log: Log; tracer: Tracer },
): Promise<Polls> {
  const { protocols } = config
  const mirrors = await openMirrors({
    folder: config.dataDir,
    environment: config.environment,
    protocols,
    rules: { addresses: config.addresses, hosts: config.hosts },
    disk: { repository: config.maxRepositorySize, total: config.maxDataSize },
    onTransfer(transfer) {
      meters.transferred(transfer)
      traceTransfer(transfer, tracer)
    },
    clock,
  })
  const concurrency = config.gitProcesses
  const artifacts = openArtifacts(mirrors.folders, { environment: config.environment })
  const polls = createPolls({
    mirrors,
    artifacts,
    credentials,
    protocols,
    concurrency,
    lastServed,
    clock,
    log,
    onLook: meters.looked,
  })
  meters.watch({ waiting: () => polls.waiting, bytes: () => mirrors.bytes, sightings: () => polls.sightings })
  polls.onOutcome(({ sighting }) => meters.found(sighting))
  return polls
}

const MOST_OF_A_DEVFILE = 3 * 2 ** 20

/** Listed hosts may be in the own networks, unless no Git server may be there either. */
export async function devfileFetcherOf({
  devfileHosts: hosts,
  devfileCa,
  addresses,
}: Pick<KasConfig, 'devfileHosts' | 'devfileCa' | 'addresses'>): Promise<FetchDevfile> {
  const ca = devfileCa === undefined ? undefined : await readFile(devfileCa, 'utf8')
  const allowLocal = addresses.some((kind) => kind !== 'public')
  return createDevfileFetcher({ hosts, read: createReader({ allowLocal, most: MOST_OF_A_DEVFILE, ca }), clock })
}

type Tls = ListenerKeys | undefined

/** Serves agents, pods of workspaces, the operator and the proxy, which all show a token. */
async function serveAgents(
  { config, kube, objects, polls, meters, prove, log }: KasParts,
  { gate, agentGate, roll, reviewToken, rate, refused, connected, onServed, services }: Gates,
  { fetchDevfile, tls, closing }: { fetchDevfile: FetchDevfile; tls: Tls; closing: Closing },
) {
  const { workspaces } = objects
  const { operator, proxy, streamAge } = config
  const provePod = createPodProof({ ...clustersOf(config, kube), kube, audienceOf: tunnelAudienceOf, clock, log })
  const workspaceGate = createWorkspaceGate({ workspaces, provePod, prove, rate, refused, clock })
  const routes = await createRoutes({
    ...{ config, agentGate, workspaceGate, roll, connected, tls, clock, log },
    meters: meters.routes,
    onTurnedAway: meters.turnedAway('private'),
  })
  closing.push(() => routes.stop())
  const { maxPaths: paths, maxFiles: files, maxFileSize: fileBytes, maxTotalSize: totalBytes } = config
  const objectStream = createObjectStreamService({
    ...{ ...meters, gate, door: requireToken(gate.checkToken, refused), polls, refused, onServed, clock },
    limits: { paths, files, fileBytes, totalBytes },
    maxAge: streamAge,
  })
  const operatorOnly = requireToken(createOperatorGate({ reviewToken, operator }), refused)
  const devfiles = createDevfileService({ door: operatorOnly, fetchDevfile, log })
  const proxyOnly = requireToken(createProxyGate(reviewToken, proxy), refused)
  const ports = createPortsService({ door: proxyOnly, workspaces, router: routes.router, connected: meters.portConnected })
  const all = [objectStream, devfiles, ports, routes.service, ...services]
  const { maxConnectionAge: age, maxConnectionsPerAddress: connectionsPerAddress } = config
  const server = await serveGrpc({
    ...{ tls, services: all, clock, log },
    address: config.listen,
    age: { goaway: Math.round(age * AGES.goaway), grace: Math.round(age * AGES.grace) },
    limits: { connections: config.maxConnections, connectionsPerAddress, handshake: config.handshakeTimeout },
    onTurnedAway: meters.turnedAway('agents'),
    onCall: meters.called,
  })
  meters.connected(() => server.connections)
  closing.push(() => server.stop())
  return { server, routes }
}

/** Serves people on their way to agents' clusters, GitLab at the external endpoint, and workspaces that ask for credentials. */
async function servePeople(
  { config, kube, objects, permissions, polls, meters, prove, log }: KasParts,
  { configurations }: Gates,
  given: { routes: AgentRoutes; credentials: Credentials; metrics: Metrics; tls: Tls; closing: Closing },
) {
  const { routes, credentials, metrics, tls, closing } = given
  const { router, census } = routes
  const { agents, projects, spaceRequests: requests } = objects
  const { operator, protocols } = config
  const develops = createDevelops(permissions)
  // Closed before what carries its calls.
  const visits = await serveKubernetesApi({
    ...{ kube, agents, projects, configurations, develops, permissions, router, tls, metrics, clock, log },
    address: config.kubernetesApi,
    grace: config.sessionGrace,
    audience: config.audience,
    perSecond: config.visitsPerSecond,
    spaces: { requests, operator },
  })
  closing.push(() => visits.stop())
  const external = await serveExternalEndpoint({
    ...{ config, projects, polls, router, census, tls, clock, log },
    asked: meters.asked,
    onTurnedAway: meters.turnedAway('external'),
  })
  closing.push(() => external?.stop())
  const gitCredentials = await serveGitCredentials({
    ...{ ...clustersOf(config, kube), kube, projects, credentials, develops, protocols, prove, tls, clock, log },
    address: config.gitCredentials,
    answered: meters.credentialed,
  })
  closing.push(() => gitCredentials.stop())
  return {
    addresses: {
      gitCredentials: gitCredentials.address,
      kubernetesApi: visits.address,
      ...(external && { api: external.address }),
    },
    stop: () => Promise.all([visits.stop(), external?.stop()]),
  }
}

/** In whose cluster the pods of workspaces are: the own one, by either of its names, or another. */
const clustersOf = ({ apiUrl, refuseLocalTargets: refuseLocal }: KasConfig, { server }: Kube) => ({
  own: apiUrl === undefined ? [server] : [server, apiUrl],
  reach: { refuseLocal, own: apiUrl ?? server, answers: createAnswers() },
})
