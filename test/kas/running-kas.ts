import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createObjectStream, type ObjectStream } from '../../src/adapters/grpc/index.ts'
import type { Kube } from '../../src/adapters/kube/index.ts'
import { type Agent, Agents, type CoreSecret, type GitProject, GitProjects, Secrets } from '../../src/api/index.ts'
import { type KasAddresses, parseConfig, start } from '../../src/kas/index.ts'
import { isOwnPath, type PathHolders } from '../../src/kas/projects/path-holders.ts'
import { Secret, systemClock } from '../../src/std/index.ts'

export interface RunningKas {
  addresses: KasAddresses
  /** Everything it has logged. */
  log(): string
  /** A client with this token. */
  stream(token: string): ObjectStream
  /** Ends it, but not the clients. */
  shut(): Promise<void>
  /** Ends it, and the clients first. */
  stop(): Promise<void>
}

/** kas as it is, on free ports, in one namespace. */
export async function runKas({
  kubeconfig,
  namespace,
  flags = {},
  version,
}: {
  kubeconfig: string
  namespace: string
  flags?: Record<string, string>
  /** Of its build; without one it looks at no versions. */
  version?: string
}): Promise<RunningKas> {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-kas-'))
  const anywhere = '127.0.0.1:0'
  const given = {
    kubeconfig,
    namespace,
    dataDir,
    listen: anywhere,
    operations: anywhere,
    webhooks: anywhere,
    gitCredentials: anywhere,
    kubernetesApi: anywhere,
    sessionGrace: '1',
    leaseNamespace: namespace,
    logLevel: 'debug',
    ...flags,
  }
  const lines: string[] = []
  const ending = new AbortController()
  const up = Promise.withResolvers<KasAddresses>()
  const done = start(parseConfig(given, process.env), ending.signal, {
    log: { write: (line) => lines.push(line) },
    version,
    up: up.resolve,
  })
  done.catch(up.reject)
  const tidy = () => rm(dataDir, { recursive: true, force: true })
  const addresses = await up.promise.catch(async (thrown: unknown) => {
    await tidy()
    throw thrown
  })
  const streams: ObjectStream[] = []
  const shut = async () => {
    ending.abort()
    await done
    await tidy()
  }
  return {
    addresses,
    log: () => lines.join(''),
    stream(token) {
      const stream = createObjectStream({ address: addresses.listen, token: async () => new Secret(token), clock: systemClock })
      streams.push(stream)
      return stream
    },
    shut,
    async stop() {
      for (const stream of streams) stream.close()
      await shut()
    },
  }
}

export const project = (namespace: string, name: string, spec: Partial<GitProject['spec']> & { url: string }): GitProject => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'GitProject',
  metadata: { name, namespace },
  spec: { path: `${namespace}/${name}`, pollInterval: '1s', ...spec },
})

export const createProject = (kube: Kube, ...of: Parameters<typeof project>): Promise<GitProject> =>
  kube.create(GitProjects, project(...of))

/** Nobody has been given a prefix beside the name of his namespace. */
export const ownPrefixes: PathHolders = {
  holds: isOwnPath,
  onChange: () => () => undefined,
}

export const secret = (namespace: string, name: string, stringData: Record<string, string>): CoreSecret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  stringData,
})

export const createSecret = (kube: Kube, ...of: Parameters<typeof secret>): Promise<CoreSecret> =>
  kube.create(Secrets, secret(...of))

type AgentSpec = { expiresAt?: string } & Partial<Pick<Agent['spec'], 'configurationProject' | 'configurationProjectNamespace'>>

/** The configuration of an agent that lets those act as it who develop the project in which it stands; without it they may not. */
export const openToOwnJobs = (namespace: string) => ({ ci_access: { projects: [{ id: `${namespace}/config` }] } })

/** An Agent, and a token with which it may connect. */
export async function createAgent(
  kube: Kube,
  namespace: string,
  name: string,
  { expiresAt, configurationProject = `${namespace}/config`, configurationProjectNamespace }: AgentSpec = {},
): Promise<string> {
  const token = `berth-agent-${randomBytes(16).toString('hex')}`
  const sha256 = createHash('sha256').update(token).digest('hex')
  const agent: Agent = {
    apiVersion: 'berth.dev/v1alpha1',
    kind: 'Agent',
    metadata: { name, namespace },
    spec: {
      configurationProject,
      ...(configurationProjectNamespace && { configurationProjectNamespace }),
      tokens: [{ name: 'first', sha256, ...(expiresAt ? { expiresAt } : {}) }],
    },
  }
  await kube.create(Agents, agent)
  return token
}
