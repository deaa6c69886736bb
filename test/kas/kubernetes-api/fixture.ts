import { fromJson, type JsonValue } from '@bufbuild/protobuf'
import { dial, offerRaw, type RawHandler, serveGrpc } from '../../../src/adapters/grpc/index.ts'
import { createMetrics } from '../../../src/adapters/http/index.ts'
import { createCaches, type Kube, openPassage } from '../../../src/adapters/kube/index.ts'
import { createKubernetesApi } from '../../../src/agent/index.ts'
import { type Agent, Agents, GitProjects, keyOf, type Ref, SpaceRequests } from '../../../src/api/index.ts'
import { createPermissions } from '../../../src/engines/permissions/index.ts'
import { serveKubernetesApi } from '../../../src/kas/kubernetes-api/index.ts'
import type { AgentConfigurations, Router } from '../../../src/kas/ports/ports.ts'
import { createDevelops } from '../../../src/kas/projects/develop.ts'
import { numberOf } from '../../../src/kas/projects/number.ts'
import { projectsOf } from '../../../src/kas/projects/project.ts'
import { type ConfigurationFile, ConfigurationFileSchema } from '../../../src/rpc/index.ts'
import { Failure, Secret, silentLog, systemClock } from '../../../src/std/index.ts'
import { selfSigned } from '../../support/builders/certificate.ts'
import { eventually } from '../../support/verbs.ts'
import { createAgent, ownPrefixes } from '../running-kas.ts'

export const MAKE_REQUEST = '/gitlab.agent.kubernetes_api.rpc.KubernetesApi/MakeRequest'

/** The agent's half behind a bare gRPC server instead of a tunnel. */
export async function serveAgent(handler: RawHandler) {
  const server = await serveGrpc({
    address: '127.0.0.1:0',
    services: [offerRaw([MAKE_REQUEST], handler)],
    clock: systemClock,
    log: silentLog,
  })
  const connection = dial({ address: server.address })
  return {
    connection,
    async stop() {
      connection.close()
      await server.stop(0)
    },
  }
}

/** What is written in the files of agents, and who wants to know. */
export function configurations() {
  const files = new Map<string, ConfigurationFile>()
  const listeners = new Set<(agent: Ref) => void>()
  const port: AgentConfigurations = {
    of: async (agent) => files.get(keyOf(agent)),
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  return {
    port,
    write(agent: Ref, file: JsonValue) {
      files.set(keyOf(agent), fromJson(ConfigurationFileSchema, file))
      for (const listener of listeners) listener(agent)
    },
  }
}

export interface FixtureOptions {
  kube: Kube
  namespace: string
  /** Of the cluster that the agent is in. */
  kubeconfig: string
  /** Instead of the agent's. */
  handler?: RawHandler
  grace?: number
  /** Requests of one person. */
  perSecond?: number
  /** Knows the GitProjects of all namespaces. */
  everywhere?: boolean
}

/** kas' listener and the agent's handler, with one gRPC call between them. */
export async function openFixture(given: FixtureOptions) {
  const { kube, namespace, kubeconfig, handler, grace = 0, perSecond = 1000, everywhere = false } = given
  const caches = createCaches({ kube, clock: systemClock, log: silentLog, scope: everywhere ? undefined : namespace })
  const agents = caches.of(Agents)
  const projects = projectsOf(caches.of(GitProjects), ownPrefixes)
  const permissions = createPermissions({ kube, caches, clock: systemClock, isWide: everywhere })
  const written = configurations()
  const passage = openPassage({ kubeconfig, clock: systemClock })
  const side = await serveAgent(handler ?? createKubernetesApi({ passage, product: 'berth-agent/test' }))
  const routed: bigint[] = []
  const router: Router = {
    async open(agentId, path, options) {
      const known = [...agents.all()].some(({ metadata }) => numberOf(metadata.uid ?? '') === agentId)
      if (!known) throw new Failure('timeout', 'the agent is not connected', { reason: 'AgentNotConnected' })
      routed.push(agentId)
      return side.connection.duplexRaw(path, options)
    },
  }
  const { key, cert } = selfSigned('127.0.0.1')
  const tls = { certificate: Buffer.from(cert), key: new Secret<Uint8Array>(Buffer.from(key)) }
  const common = {
    address: '127.0.0.1:0',
    audience: 'berth-kas',
    perSecond,
    kube,
    agents,
    projects,
    configurations: written.port,
    develops: createDevelops(permissions),
    permissions,
    spaces: { requests: caches.of(SpaceRequests), operator: { namespace, name: 'operator' } },
    router,
    grace,
    clock: systemClock,
    log: silentLog,
  }
  const metrics = createMetrics()
  const server = await serveKubernetesApi({ ...common, tls: undefined, metrics })
  const secure = await serveKubernetesApi({ ...common, tls, metrics: createMetrics() })
  await caches.ready(AbortSignal.timeout(30_000))
  const knows = (ref: Ref) => agents.get(ref) !== undefined
  const project = (ref: Ref) => projects.get(ref)
  return {
    url: `http://${server.address}`,
    /** With a certificate of nobody's: kubectl sends its token nowhere else. */
    secureUrl: `https://${secure.address}`,
    authority: Buffer.from(cert),
    metrics,
    routed,
    write: written.write,
    /** An Agent with this file; waits until kas knows it. */
    async agent(name: string, file: JsonValue): Promise<Agent> {
      await createAgent(kube, namespace, name)
      written.write({ name, namespace }, file)
      const agent = await kube.get(Agents, { name, namespace })
      if (!agent) throw new Failure('not-found', `there is no Agent ${name}`)
      return agent
    },
    knows,
    project,
    /** Waits until kas has seen both. */
    hearsOf: (agent: string, name: string) =>
      eventually(() => knows({ name: agent, namespace }) && project({ name, namespace }) !== undefined),
    stopListening: (within?: number) => server.stop(within),
    async stop() {
      await server.stop(0)
      await secure.stop(0)
      await side.stop()
      await passage.close()
      permissions.stop()
      await caches.stop()
    },
  }
}
