import type { Caches, EventRecorder, Kube } from '../adapters/kube/index.ts'
import { Agents, ConfigMaps, GitProjects, type Ref, SpaceRequests, Workspaces } from '../api/index.ts'
import type { Permissions } from '../engines/permissions/index.ts'
import { systemClock as clock, type Log } from '../std/index.ts'
import { createAccessRules, createAgentConfigurationService, createConfigurationFinder } from './agent-configuration/index.ts'
import { connectedAgents, createRegistrationServices, createRoll, createStatusWriter } from './agent-registration/index.ts'
import {
  configurationRefusal,
  createAgentGate,
  createProjectGate,
  createTokenRate,
  createTokenReviews,
  projectOf,
} from './authorization/index.ts'
import type { KasConfig } from './config.ts'
import { createModuleRequestService } from './module-requests/index.ts'
import type { KasMeters } from './ports/meters.ts'
import type { Polls, Presence } from './ports/ports.ts'
import { createRefusals, requireToken } from './ports/refusals.ts'
import { PROJECT_PATHS, pathHoldersOf } from './projects/path-holders.ts'
import { projectsOf } from './projects/project.ts'
import type { Prove } from './tokens/strangers.ts'

/** The objects that kas keeps in sight. */
export function watchObjects({ leaseNamespace: namespace }: KasConfig, caches: Caches) {
  const gitProjects = caches.of(GitProjects)
  const holders = pathHoldersOf(caches.of(ConfigMaps, { namespace, fields: `metadata.name=${PROJECT_PATHS}` }))
  return {
    gitProjects,
    holders,
    projects: projectsOf(gitProjects, holders),
    agents: caches.of(Agents),
    workspaces: caches.of(Workspaces),
    spaceRequests: caches.of(SpaceRequests),
  }
}

/** All that listens has these in common. */
export interface KasParts {
  config: KasConfig
  kube: Kube
  /** Of this build. */
  version: string | undefined
  objects: ReturnType<typeof watchObjects>
  permissions: Permissions
  polls: Polls
  meters: KasMeters
  prove: Prove
  log: Log
}

/** Decides which caller may do what, and writes the status of Agents, since it knows which of their pods are connected. */
export function createGates(
  { config, kube, version, objects, polls, meters, prove, log }: KasParts,
  { events, presence, closing }: { events: EventRecorder; presence: Presence; closing: (() => unknown)[] },
) {
  const { agents, projects } = objects
  const { operator } = config
  const refused = createRefusals(log, clock)
  const rate = createTokenRate(config.agentCalls, meters.rateExceeded, clock)
  const reviewToken = createTokenReviews(kube, config.audience, prove, clock)
  const agentGate = createAgentGate({ agents, clock, rate })
  const recall = (agent: Ref) => {
    const pods = agents.get(agent)?.status?.connectedPods ?? []
    return { pods, isElsewhere: pods.some(({ kas }) => kas !== undefined && presence.isAlive(kas)) }
  }
  const roll = createRoll({ clock, recall, onRefused: () => meters.routes.limited('pods') })
  meters.agents(() => [...roll.all()].length)
  const findings = createStatusWriter({
    ...{ kube, agents, projects, roll, presence, events, clock, log },
    projectOf: (agent, path) => projectOf(agent, projects, path),
    refusalOf: (agent) => configurationRefusal(agent, projects),
  })
  closing.push(() => findings.stop())
  const identities = { agents, reviewToken, operator, clock }
  const gate = createProjectGate({ projects, identities, rate, onUsed: findings.onUsed })
  const findConfiguration = createConfigurationFinder()
  const configurations = createAccessRules({ agents, projects, gate, polls, findConfiguration, clock, log })
  closing.push(() => configurations.stop())
  const door = requireToken(agentGate.checkToken, refused)
  const configuration = createAgentConfigurationService({
    ...{ agentGate, door, gate, agents, projects, polls, findConfiguration, roll, findings, refused, clock, log },
    version,
    maxAge: config.streamAge,
  })
  const registration = createRegistrationServices({ gate: agentGate, door, roll, onReport: findings.onReport })
  return {
    ...{ gate, agentGate, roll, reviewToken, rate, refused, configurations, onServed: findings.onServed },
    connected: (wanted: Parameters<typeof connectedAgents>[1]) => connectedAgents({ roll, agents, projects }, wanted),
    services: [configuration, ...registration, createModuleRequestService(agentGate)],
  }
}

export type Gates = ReturnType<typeof createGates>
