import { readFile } from 'node:fs/promises'
import { openKeys } from '../adapters/files/index.ts'
import { openMirrors } from '../adapters/git/index.ts'
import { createMetrics, createReader, type Metrics, serveHttp, serveOperations } from '../adapters/http/index.ts'
import {
  type Caches,
  connect,
  createAnswers,
  createCaches,
  createEvents,
  type Events,
  type Kube,
  untilListed,
  waitingFor,
} from '../adapters/kube/index.ts'
import { Agents, ConfigMaps, GitProjects, type Ref, SpaceRequests, tunnelAudienceOf, Workspaces } from '../api/index.ts'
import { requestMeter } from '../engines/controller/index.ts'
import { aborted, createLog, type Log, pause, systemClock } from '../std/index.ts'
import { type ConfigurationDesk, createAccessRules, createAgentConfigurationService } from './agent-configuration/index.ts'
import { connectedAgents, createRegistrationServices, createRoll, createStatusWriter } from './agent-registration/index.ts'
import {
  createAgentGate,
  createGate,
  createOperatorGate,
  createProxyGate,
  createTokenRate,
  createTokenReviews,
  createWorkspaceGate,
  projectOf,
  type TokenRate,
} from './authorization/index.ts'
import type { Config } from './config.ts'
import { createDevfileService, createShelf } from './devfiles/index.ts'
import { createDoor } from './door.ts'
import { type ExternalEndpoint, serveExternalEndpoint } from './external-endpoint/index.ts'
import { type GitCredentialsServer, serveGitCredentials } from './git-credentials/index.ts'
import { createCredentials, createPolls, pokeByAnnotation } from './git-polling/index.ts'
import { reportStatus } from './git-project-status/index.ts'
import { createUses } from './known-project.ts'
import { createDevelops, type KubernetesApiServer, serveKubernetesApi } from './kubernetes-api/index.ts'
import { listen } from './listen.ts'
import { createMeters, type Meters } from './meters.ts'
import { createModuleRequestService } from './module-requests/index.ts'
import { createObjectStreamService, type Limits } from './object-stream/index.ts'
import { PROJECT_PATHS, pathHoldersOf } from './path-holders.ts'
import { createPodProof } from './pod-proof.ts'
import type { Presence, Router } from './ports.ts'
import { createPresence } from './presence/index.ts'
import { projectsOf } from './project.ts'
import { createRefusals, type Refusals } from './refusals.ts'
import { layRoutes } from './routes.ts'
import type { RegistryHub } from './routing/index.ts'
import { createProve, type Prove } from './strangers.ts'
import { receiveWebhooks } from './webhooks/index.ts'
import { createPortsService } from './workspace-ports/index.ts'

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
  // All listeners show the same certificate.
  const tls = config.tls && (await openKeys(config.tls, clock, log))
  open.push(async () => tls?.stop())
  const { agentGate, connected } = registration
  const { workspaceGate } = rooms.workspaces
  const meters = rooms.meters.routes
  const onTurnedAway = rooms.meters.turnedAway('private')
  const known = { agentGate, workspaceGate, connected }
  const routes = await layRoutes({ config, ...known, tls, hub, meters, onTurnedAway, clock, log })
  open.push(() => routes.stop())
  const ports = rooms.workspaces.ports(routes.router)
  const services = [rooms.objectStream, rooms.devfiles, routes.service, ports, ...registration.services]
  const server = await listen(config, { services, tls, meters: rooms.meters, log })
  open.push(() => server.stop())
  // Closed before what carries its calls.
  const { router, census } = routes
  const { configurations } = registration
  const visits = await rooms.visits({ tls, router, configurations })
  open.push(() => visits.stop())
  const external = await rooms.external({ tls, router, census })
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

const MOST_OF_A_DEVFILE = 3 * 2 ** 20

/** Listed hosts may be in the own networks, unless no Git server may be there either. */
async function shelfOf({ devfileHosts: hosts, devfileCa, addresses }: Config) {
  const ca = devfileCa === undefined ? undefined : await readFile(devfileCa, 'utf8')
  const allowLocal = addresses.some((kind) => kind !== 'public')
  return createShelf({ hosts, read: createReader({ allowLocal, most: MOST_OF_A_DEVFILE, ca }), clock })
}

/** Builds the rooms and hands each what it needs of the others. */
async function furnish(config: Config, caches: Caches, metrics: Metrics, log: Log) {
  const { cache, holders, projects } = knowProjects(config, caches)
  const agents = caches.of(Agents)
  const requests = caches.of(SpaceRequests)
  const { protocols, operator } = config
  const meters = createMeters(metrics)
  const mirrors = await mirrorsOf(config, meters)
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
  const prove = createProve(meters.unknownToken, clock)
  const reviewToken = createTokenReviews(caches.kube, config.audience, prove, clock)
  const rate = createTokenRate(config.agentCalls, meters.rateExceeded, clock)
  const uses = createUses()
  const gate = createGate({ projects, identities: { agents, reviewToken, operator, clock }, rate, onUsed: uses.tell })
  const refused = createRefusals(log, clock)
  const door = createDoor(gate.knock, refused)
  return {
    polls,
    objectStream: createObjectStreamService({
      ...{ ...meters, gate, door, polls, limits: limitsOf(config), refused, clock },
      maxAge: config.streamAge,
    }),
    devfiles: createDevfileService({
      door: createDoor(createOperatorGate({ reviewToken, operator }), refused),
      shelf: await shelfOf(config),
      log,
    }),
    workspaces: receiveWorkspaces(config, {
      ...{ caches, prove, rate, refused, meters, log },
      proxyDoor: createDoor(createProxyGate(reviewToken, config.proxy), refused),
    }),
    meters,
    webhooks: receiveWebhooks({ projects, polls, credentials, answered: meters.answered, clock, log }),
    pokes: () => pokeByAnnotation(cache, polls),
    agents: (events: Events, presence: Presence) =>
      receiveAgents({
        ...{ agents, projects, gate, uses, polls, events, presence, meters, refused, clock, log },
        kube: caches.kube,
        maxAge: config.streamAge,
        rate,
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
    external: (way: Pick<ExternalEndpoint, 'tls' | 'router' | 'census'>) =>
      serveExternalEndpoint({
        ...way,
        ...{ config, projects, polls, asked: meters.asked },
        onTurnedAway: meters.turnedAway('external'),
        clock,
        log,
      }),
    gitCredentials: ({ tls }: Pick<GitCredentialsServer, 'tls'>) =>
      answerPods(config, { tls, answered: meters.credentialed, kube: caches.kube, projects, credentials, prove, log }),
    report: (events: Events) => reportStatus({ kube: caches.kube, cache, holders, polls, events, clock, log }),
  }
}

function knowProjects({ leaseNamespace: namespace }: Config, caches: Caches) {
  const cache = caches.of(GitProjects)
  const holders = pathHoldersOf(caches.of(ConfigMaps, { namespace, fields: `metadata.name=${PROJECT_PATHS}` }))
  return { cache, holders, projects: projectsOf(cache, holders) }
}

const mirrorsOf = (config: Config, { transferred }: Meters) =>
  openMirrors({
    folder: config.dataDir,
    environment: config.environment,
    protocols: config.protocols,
    rules: { addresses: config.addresses, hosts: config.hosts },
    disk: { repository: config.maxRepositorySize, total: config.maxDataSize },
    onTransfer: transferred,
    clock,
  })

const limitsOf = ({ maxPaths, maxFiles, maxFileSize, maxTotalSize }: Config): Limits => ({
  paths: maxPaths,
  files: maxFiles,
  fileBytes: maxFileSize,
  totalBytes: maxTotalSize,
})

/** In whose cluster the pods of workspaces are: the own one, by either of its names, or another. */
const clustersOf = ({ apiUrl, refuseLocalTargets: refuseLocal }: Config, { server }: Kube) => ({
  own: apiUrl === undefined ? [server] : [server, apiUrl],
  reach: { refuseLocal, own: apiUrl ?? server, answers: createAnswers() },
})

interface WorkspacesDesk {
  caches: Caches
  prove: Prove
  rate: TokenRate
  refused: Refusals
  proxyDoor: ReturnType<typeof createDoor>
  meters: Meters
  log: Log
}

/** The way into workspaces through the tunnels of their pods. */
function receiveWorkspaces(config: Config, { caches, prove, rate, refused, proxyDoor: door, meters, log }: WorkspacesDesk) {
  const { kube } = caches
  const workspaces = caches.of(Workspaces)
  const provePod = createPodProof({ ...clustersOf(config, kube), kube, audienceOf: tunnelAudienceOf, clock, log })
  return {
    workspaceGate: createWorkspaceGate({ workspaces, provePod, prove, rate, refused, clock }),
    ports: (router: Router) => createPortsService({ door, workspaces, router, connected: meters.portConnected }),
  }
}

/** Pods of workspaces ask for Git credentials. */
function answerPods(
  config: Config,
  desk: Pick<GitCredentialsServer, 'tls' | 'answered' | 'kube' | 'projects' | 'credentials' | 'prove' | 'log'>,
) {
  const { gitCredentials: address, protocols } = config
  return serveGitCredentials({
    ...desk,
    ...clustersOf(config, desk.kube),
    address,
    protocols,
    develops: createDevelops(desk.kube, clock),
    clock,
  })
}

interface ReceptionDesk {
  kube: Kube
  events: Events
  presence: Presence
  meters: Meters
  rate: TokenRate
  uses: ReturnType<typeof createUses>
}

/** What agents talk to beside the object stream. Their status is written by the same room that knows which of them are there. */
function receiveAgents(desk: Omit<ConfigurationDesk, 'agentGate' | 'door' | 'roll' | 'findings'> & ReceptionDesk) {
  const { agents, meters, rate } = desk
  const agentGate = createAgentGate({ agents, clock, rate })
  const door = createDoor(agentGate.knock, desk.refused)
  const recall = (agent: Ref, name: string) => agents.get(agent)?.status?.connectedPods?.find((pod) => pod.name === name)?.podId
  const roll = createRoll({ clock, recall, onRefused: () => meters.routes.limited('pods') })
  meters.agents(() => [...roll.all()].length)
  const configurations = createAccessRules(desk)
  const writer = createStatusWriter({
    ...desk,
    roll,
    projectOf: (agent, path) => projectOf(agent, desk.projects, path),
    clock,
  })
  desk.uses.onUsed(writer.onUsed)
  const configuration = createAgentConfigurationService({ ...desk, agentGate, door, roll, findings: writer })
  const registration = createRegistrationServices({ gate: agentGate, door, roll, onReport: writer.onReport })
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
