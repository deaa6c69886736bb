import { openMirrors } from '../adapters/git/index.ts'
import { createMetrics, type Metrics, serveHttp, serveOperations } from '../adapters/http/index.ts'
import { type Caches, connect, createCaches, createEvents, type Events, type Kube, type Meter } from '../adapters/kube/index.ts'
import { Agents, GitProjects, type Ref, SpaceRequests } from '../api/index.ts'
import { createLog, type Log, pause, systemClock } from '../std/index.ts'
import { type ConfigurationDesk, createAccessRules, createAgentConfigurationService } from './agent-configuration/index.ts'
import { connectedAgents, createRegistrationServices, createRoll, createStatusWriter } from './agent-registration/index.ts'
import { BY_TOKEN, createAgentGate, createGate, createTokenReviews } from './authorization/index.ts'
import type { Config } from './config.ts'
import { type ExternalEndpoint, serveExternalEndpoint } from './external-endpoint/index.ts'
import { type GitCredentialsServer, serveGitCredentials } from './git-credentials/index.ts'
import { createCredentials, createPolls, pokeByAnnotation } from './git-polling/index.ts'
import { reportStatus } from './git-project-status/index.ts'
import { BY_ACCOUNT, BY_NUMBER, createDevelops, type KubernetesApiServer, serveKubernetesApi } from './kubernetes-api/index.ts'
import { keysOf, listen } from './listen.ts'
import { createMeters, type Meters } from './meters.ts'
import { createModuleRequestService } from './module-requests/index.ts'
import { createObjectStreamService, type Limits } from './object-stream/index.ts'
import type { Presence } from './ports.ts'
import { createPresence } from './presence/index.ts'
import { BY_PATH, projectsOf } from './project.ts'
import { createLimiter } from './rate.ts'
import { layRoutes } from './routes.ts'
import type { RegistryHub } from './routing/index.ts'
import { receiveWebhooks } from './webhooks/index.ts'

export interface Addresses {
  listen: string
  operations: string
  webhooks: string
  /** Where pods of workspaces ask for Git credentials. */
  gitCredentials: string
  /** Where people reach the clusters of agents. */
  kubernetesApi: string
  /** Of the external endpoint, when it is on. */
  api?: string
  /** Of the private endpoint, when it is on. */
  privateApi?: string
}

/** Where the program writes its log lines, and whom it tells when it is up. */
export interface Surroundings {
  log: { write(line: string): unknown }
  /** Called once, when streams are served. */
  up?: (addresses: Addresses) => void
  /** Where several kas of one process know of each other's agents. */
  hub?: RegistryHub
}

const clock = systemClock

/** Runs kas until the signal aborts; then streams end cleanly and nothing is left open, also when it could not start. */
export async function start(config: Config, signal: AbortSignal, surroundings: Surroundings): Promise<void> {
  const log = createLog(config.logLevel, surroundings.log).with({ program: 'kas' })
  const open: (() => Promise<void>)[] = []
  try {
    const state: State = { phase: 'starting' }
    const { addresses, drain } = await openHouse(config, signal, { log, open, state, hub: surroundings.hub })
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
    for (const close of open.reverse()) await close()
    log.info('kas stopped')
  }
}

/** For probes: while it starts and stops, requests are better elsewhere. */
interface State {
  phase: 'starting' | 'serving' | 'stopping'
}

interface House {
  state: State
  log: Log
  open: (() => Promise<void>)[]
  hub: RegistryHub | undefined
}

/** Starts everything in order; `open` gets what closes it again. */
async function openHouse(
  config: Config,
  signal: AbortSignal,
  { log, open, state, hub }: House,
): Promise<{ addresses: Addresses; drain(): Promise<void> }> {
  const metrics = createMetrics({ process: true })
  const kube = connect({ kubeconfig: config.kubeconfig, context: config.context, clock, meter: requestMeter(metrics) })
  open.push(() => kube.close())
  const caches = createCaches({ kube, clock, log, scope: config.namespace })
  open.push(() => caches.stop())
  const events = createEvents({ kube, clock, log, reporter: 'berth-kas' })
  open.push(() => events.flush())
  const rooms = await furnish(config, caches, metrics, log)
  open.push(() => rooms.polls.stop())
  const ready = () => waitingFor(caches) ?? (state.phase === 'serving' ? undefined : `kas is ${state.phase}`)
  const operations = await serveOperations({ address: config.operations, live: () => undefined, ready, metrics, clock, log })
  open.push(() => operations.stop())
  await untilListed(caches, signal)
  const status = rooms.report(events)
  open.push(() => status.stop())
  const stopPokes = rooms.pokes()
  open.push(async () => stopPokes())
  const { leaseNamespace, identity } = config
  const presence = createPresence({ kube, clock, log, namespace: leaseNamespace, identity })
  open.push(() => presence.stop())
  const registration = rooms.agents(events, presence)
  open.push(() => registration.stop())
  const webhooks = await serveHttp({ address: config.webhooks, respond: rooms.webhooks, clock, log })
  open.push(() => webhooks.stop())
  const tls = await keysOf(config.tls)
  const { agentGate } = registration
  const routes = await layRoutes({ config, agentGate, tls, hub, meters: rooms.meters.routes, clock, log })
  open.push(() => routes.stop())
  const services = [rooms.objectStream, routes.service, ...registration.services]
  const server = await listen(config, services, rooms.meters, log)
  open.push(() => server.stop())
  // Closed before what carries its calls.
  const { router } = routes
  const { configurations, connected } = registration
  const visits = await rooms.visits({ tls, router, configurations })
  open.push(() => visits.stop())
  const external = await rooms.external({ tls, router, connected })
  open.push(async () => external?.stop())
  const gitCredentials = await rooms.gitCredentials({ tls })
  open.push(() => gitCredentials.stop())
  const { privateApi } = routes
  const addresses = {
    listen: server.address,
    operations: operations.address,
    webhooks: webhooks.address,
    gitCredentials: gitCredentials.address,
    kubernetesApi: visits.address,
    ...(external && { api: external.address }),
    ...(privateApi === undefined ? {} : { privateApi }),
  }
  const drain = async () => {
    // Agents go elsewhere at once; what runs through their tunnels goes on, for people here and for other kas alike.
    server.leave()
    await Promise.all([visits.stop(), routes.drain(config.sessionGrace), external?.stop()])
  }
  return { addresses, drain }
}

/** Builds the rooms and hands each what it needs of the others. */
async function furnish(config: Config, caches: Caches, metrics: Metrics, log: Log) {
  const cache = caches.of(GitProjects, { indexes: BY_PATH })
  const agents = caches.of(Agents, { indexes: { ...BY_TOKEN, ...BY_NUMBER } })
  const requests = caches.of(SpaceRequests, { indexes: BY_ACCOUNT })
  const projects = projectsOf(cache)
  const { dataDir, environment, protocols, operator } = config
  const meters = createMeters(metrics)
  const mirrors = await openMirrors({
    folder: dataDir,
    environment,
    protocols,
    rules: { addresses: config.addresses, hosts: config.hosts },
    disk: { repository: config.maxRepositorySize, total: config.maxDataSize },
    onTransfer: meters.transferred,
    clock,
  })
  const credentials = createCredentials(caches.kube)
  const polls = createPolls({
    mirrors,
    credentials,
    protocols,
    concurrency: config.gitProcesses,
    clock,
    log,
    onLook: meters.looked,
  })
  meters.watch({ waiting: () => polls.waiting, bytes: () => mirrors.bytes })
  polls.onOutcome(({ sighting }) => meters.found(sighting))
  const reviewToken = createTokenReviews(caches.kube, config.audience, clock)
  const gate = createGate(projects, { agents, reviewToken, operator, clock })
  const limits: Limits = {
    paths: config.maxPaths,
    files: config.maxFiles,
    fileBytes: config.maxFileSize,
    totalBytes: config.maxTotalSize,
  }
  const { delivered, unchanged, answered } = meters
  return {
    polls,
    objectStream: createObjectStreamService({ gate, polls, limits, maxAge: config.streamAge, delivered, unchanged, clock, log }),
    meters,
    webhooks: receiveWebhooks({ projects, polls, credentials, answered, clock, log }),
    pokes: () => pokeByAnnotation(cache, polls),
    agents: (events: Events, presence: Presence) =>
      receiveAgents({
        ...{ agents, projects, gate, polls, events, presence, meters, clock, log },
        kube: caches.kube,
        maxAge: config.streamAge,
        calls: config.agentCalls,
      }),
    visits: (way: Pick<KubernetesApiServer, 'tls' | 'router' | 'configurations'>) =>
      serveKubernetesApi({
        ...way,
        address: config.kubernetesApi,
        grace: config.sessionGrace,
        audience: config.audience,
        perSecond: config.visitsPerSecond,
        spaces: { requests, operator },
        kube: caches.kube,
        agents,
        projects,
        metrics,
        clock,
        log,
      }),
    external: (way: Pick<ExternalEndpoint, 'tls' | 'router' | 'connected'>) =>
      serveExternalEndpoint({ ...way, config, projects, polls, asked: meters.asked, clock, log }),
    gitCredentials: ({ tls }: Pick<GitCredentialsServer, 'tls'>) =>
      answerPods(config, { tls, answered: meters.credentialed, kube: caches.kube, projects, credentials, log }),
    report: (events: Events) => reportStatus({ kube: caches.kube, cache, polls, events, clock, log }),
  }
}

/** Pods of workspaces ask in whose cluster they are: the own one, by either of its names, or another. */
function answerPods(
  { gitCredentials: address, apiUrl, refuseLocalTargets: refuseLocal, protocols }: Config,
  desk: Pick<GitCredentialsServer, 'tls' | 'answered' | 'kube' | 'projects' | 'credentials' | 'log'>,
) {
  const { server } = desk.kube
  return serveGitCredentials({
    ...desk,
    address,
    protocols,
    own: apiUrl === undefined ? [server] : [server, apiUrl],
    reach: { refuseLocal, own: apiUrl ?? server },
    develops: createDevelops(desk.kube, clock),
    clock,
  })
}

interface ReceptionDesk {
  kube: Kube
  events: Events
  presence: Presence
  meters: Meters
  /** That one token may make in a minute. */
  calls: number
}

/** What agents talk to beside the object stream. Their status is written by the same room that knows which of them are there. */
function receiveAgents(desk: Omit<ConfigurationDesk, 'agentGate' | 'roll' | 'findings'> & ReceptionDesk) {
  const { agents, meters, calls } = desk
  const limit = createLimiter({ burst: calls, perSecond: calls / 60 }, clock)
  const agentGate = createAgentGate({ agents, clock, limit, onLimited: meters.rateExceeded })
  const recall = (agent: Ref, name: string) => agents.get(agent)?.status?.connectedPods?.find((pod) => pod.name === name)?.podId
  const roll = createRoll({ clock, recall, onRefused: () => meters.routes.limited('pods') })
  meters.agents(() => [...roll.all()].length)
  const configurations = createAccessRules(desk)
  const writer = createStatusWriter({ ...desk, roll, clock })
  const configuration = createAgentConfigurationService({ ...desk, agentGate, roll, findings: writer })
  const registration = createRegistrationServices({ gate: agentGate, roll, onReport: writer.onReport })
  return {
    agentGate,
    configurations,
    connected: (wanted: Parameters<typeof connectedAgents>[1]) => connectedAgents({ ...desk, roll }, wanted),
    services: [configuration, ...registration, createModuleRequestService(agentGate)],
    async stop() {
      await configurations.stop()
      await writer.stop()
    },
  }
}

function waitingFor(caches: Caches): string | undefined {
  const [first] = caches.waitingFor()
  return first && `waiting for ${first.kind}: ${first.why}`
}

/** Before the first lists are in, every project would look as if it did not exist. */
async function untilListed(caches: Caches, signal: AbortSignal): Promise<void> {
  try {
    await caches.ready(signal)
  } catch (thrown) {
    if (!signal.aborted) throw thrown
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** Requests to the API server by verb and answer. */
function requestMeter(metrics: Metrics): Meter {
  const requests = metrics.counter({
    name: 'berth_api_requests_total',
    help: 'Requests to the Kubernetes API',
    labels: ['verb', 'status'],
  })
  return ({ verb, status }) => requests.add({ verb, status: String(status) })
}
