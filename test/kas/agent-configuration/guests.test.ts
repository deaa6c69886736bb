import { createHash } from 'node:crypto'
import { equal, is } from 'uvu/assert'
import { serveGrpc } from '../../../src/adapters/grpc/index.ts'
import { Store } from '../../../src/adapters/kube/store.ts'
import type { Agent, GitProject } from '../../../src/api/index.ts'
import { createAgentConfigurationService, createConfigurationFinder } from '../../../src/kas/agent-configuration/index.ts'
import { createAgentGate, createProjectGate } from '../../../src/kas/authorization/index.ts'
import type { CommitSnapshot, Polls } from '../../../src/kas/ports/ports.ts'
import { projectsOf } from '../../../src/kas/projects/project.ts'
import { treeOf } from '../../../src/kas/projects/tree.ts'
import { aborted, minutes, silentLog, systemClock } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'
import { codes, rawAgent } from '../raw-agent.ts'
import { ownPrefixes, project } from '../running-kas.ts'

const TOKEN = 'of-the-guest'
const FILE = '.berth/agents/guest/config.yaml'
const snapshot: CommitSnapshot = {
  commit: 'c'.repeat(40),
  refName: 'refs/heads/main',
  isFetched: true,
  earlier: undefined,
  tree: async () => treeOf([{ path: FILE, blob: 'x', size: 8 }]),
  read: async () => [Buffer.from('flux: {}')],
  line: async () => undefined,
}

/** The service for agents with the caches and gates of kas. A kas that sees two namespaces of the cluster sees those of other tests too. */
async function given() {
  const [agents, cache] = [new Store<Agent>(), new Store<GitProject>()]
  agents.put({
    apiVersion: 'berth.dev/v1alpha1',
    kind: 'Agent',
    metadata: { name: 'guest', namespace: 'team', uid: 'u1', resourceVersion: '1' },
    spec: {
      configurationProject: 'foreign/config',
      configurationProjectNamespace: 'foreign',
      tokens: [{ name: 'first', sha256: createHash('sha256').update(TOKEN).digest('hex') }],
    },
  })
  let version = 1
  const publish = (grants: GitProject['spec']['grants'] = {}) => {
    const object = project('foreign', 'config', { url: 'https://git.example.com/config', grants })
    version++
    cache.put({ ...object, metadata: { ...object.metadata, uid: 'p1', generation: version, resourceVersion: String(version) } })
  }
  const reader = { name: 'none', namespace: 'none' }
  const identities = { agents, clock: systemClock, operator: reader, reviewToken: async () => reader }
  const projects = projectsOf(cache, ownPrefixes)
  const follow: Polls['follow'] = () => ({
    next: async (seen, signal) => (seen ? aborted(signal).then(() => undefined) : { snapshot }),
    close: () => undefined,
  })
  const found: (string | undefined)[] = []
  const service = createAgentConfigurationService({
    agentGate: createAgentGate({ ...identities, rate: () => undefined }),
    gate: createProjectGate({ projects, identities, rate: () => undefined, onUsed: () => undefined }),
    door: () => undefined,
    agents,
    projects,
    polls: { follow },
    findConfiguration: createConfigurationFinder(),
    roll: { enter: () => () => undefined, tunnel: () => () => undefined },
    findings: { report: (_, finding) => void found.push('failure' in finding ? finding.failure.reason : 'good') },
    maxAge: minutes(10),
    refused: () => undefined,
    clock: systemClock,
    log: silentLog,
  })
  const server = await serveGrpc({ address: '127.0.0.1:0', services: [service], clock: systemClock, log: silentLog })
  const agent = rawAgent(server.address, TOKEN)
  const close = async () => {
    agent.close()
    await server.stop(0)
  }
  return { agent, publish, found, close }
}

describe('kas: an agent that is configured from a project of others', (it) => {
  it('gets nothing of it before it may read it, all of it then, and is sent away when it may no more', async () => {
    const { agent, publish, found, close } = await given()
    publish()
    is((await agent.configuration().end).code, codes.PERMISSION_DENIED)
    // Ours waits in the stream, and is let in when it may.
    const berth = agent.configuration({ berth: true })
    await eventually(() => found.length === 2)
    equal([found, berth.responses.length], [['ProjectNotAccessible', 'ProjectNotAccessible'], 0])
    publish({ agents: [{ name: 'guest', namespace: 'team' }] })
    await eventually(() => berth.responses.length === 1)
    equal([berth.responses[0]?.configuration?.projectPath, found.at(-1)], ['foreign/config', 'good'])
    const other = agent.configuration()
    await eventually(() => other.responses.length === 1)
    publish({ agents: [] })
    is((await other.end).code, codes.PERMISSION_DENIED)
    await eventually(() => found.at(-1) === 'ProjectNotAccessible')
    is(berth.responses.length, 1)
    berth.cancel()
    await close()
  })
})
