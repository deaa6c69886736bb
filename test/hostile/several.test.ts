import { create } from '@bufbuild/protobuf'
import { equal, is, match } from 'uvu/assert'
import { createSigner } from '../../src/adapters/auth/index.ts'
import { freePort } from '../../src/adapters/control-plane/ports.ts'
import { dial, type GrpcConnection } from '../../src/adapters/grpc/index.ts'
import { Agents } from '../../src/api/index.ts'
import { numberOf } from '../../src/kas/projects/number.ts'
import { AgentTracker, KasApi, Notifications } from '../../src/rpc/index.ts'
import { Secret, systemClock } from '../../src/std/index.ts'
import { byHand } from '../kas/kubernetes-api/upstream.ts'
import { METHOD, secretFile } from '../kas/routing/kas-stage.ts'
import { openToOwnJobs } from '../kas/running-kas.ts'
import { accountToken, developer } from '../support/builders/credentials.ts'
import { failureOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { bringUp, type Installation } from './installation.ts'

const KAS = ['kas-2', 'kas-3'] as const
const FLOOD = 500

type SecretFile = Awaited<ReturnType<typeof secretFile>>
type Token = () => Promise<Secret<string>>

/**
 * Two more kas ask each other for agents, and have an API for GitLab; ada's agent is at the first. Mallory has `edit` and an agent in `evil`,
 * accounts, and the numbers of all agents, but neither of the two secrets.
 */
describe('hostile: several kas', (it) => {
  let berth: Installation
  let shared: SecretFile
  let gitlab: SecretFile
  /** Of people who develop in their namespaces. */
  let [ada, mallory] = ['', '']
  let hers: Record<string, Token | undefined> = {}
  let adas = 0n
  it.before(async () => {
    berth = await bringUp(['team-a', 'evil'])
    shared = await secretFile()
    gitlab = await secretFile()
    const ports = [await freePort(), await freePort()]
    for (const [n, name] of KAS.entries())
      await berth.kas(name, {
        'private-api': `127.0.0.1:${ports[n]}`,
        'private-api-secret': shared.file,
        peers: ports.map((port) => `grpc://127.0.0.1:${port}`).join(),
        api: '127.0.0.1:0',
        'api-secret': gitlab.file,
      })
    const kas = door('kas-2', 'listen')
    for (const [namespace, name] of [
      ['team-a', 'dev'],
      ['evil', 'mine'],
    ] as const)
      await berth.repository(namespace, 'config', {
        [`.berth/agents/${name}/config.yaml`]: JSON.stringify(openToOwnJobs(namespace)),
      })
    await berth.agent('team-a', 'dev', { path: 'team-a/config', kas })
    const { token: ofAgent } = await berth.agent('evil', 'mine', { path: 'evil/config', kas })
    ada = (await developer(berth.kube, 'team-a', 'job')).token
    mallory = (await developer(berth.kube, 'evil', 'job')).token
    adas = numberOf((await berth.kube.get(Agents, { name: 'dev', namespace: 'team-a' }))?.metadata.uid ?? '')
    const ofAccount = await accountToken(berth.kube, 'evil', 'berth-kas', ['berth-kas'])
    const held = (text: string) => async () => new Secret(text)
    const own = new Secret(new Uint8Array(32).fill(7))
    hers = {
      none: undefined,
      ofAgent: held(ofAgent),
      ofAccountNamedAsKas: held(ofAccount),
      asKasByOwnSecret: signed(own, 'gitlab-kas', 'gitlab-kas'),
      asGitLabByOwnSecret: signed(own, 'gitlab', 'gitlab-kas'),
      asKasUnsigned: held(unsigned('gitlab-kas', 'gitlab-kas')),
      asGitLabUnsigned: held(unsigned('gitlab', 'gitlab-kas')),
    }
  })
  it.after(async () => {
    await berth.stop()
    await shared.remove()
    await gitlab.remove()
  })

  const door = (kas: string, name: string) => berth.doorOf(kas, name).address
  const signed = (secret: Secret<Uint8Array>, issuer: string, audience: string): Token =>
    createSigner({ secret, issuer, audience, clock: systemClock })
  const unsigned = (iss: string, aud: string) => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    return `${part({ alg: 'none' })}.${part({ iss, aud, exp: Math.floor(Date.now() / 1000) + 60 })}.`
  }
  const visit = async (kas: string, agent: string, token: string, headers: Record<string, string> = {}) => {
    const [namespace, name] = agent.split('/')
    const url = `http://${door(kas, 'kubernetesApi')}/k8s/namespaces/${namespace}/agents/${name}/version`
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}`, ...headers } })
    const text = (await answer.text()).replace(/Trace ID: \w+/, '')
    return { status: answer.status, text }
  }
  const assertAdas = async () => {
    for (const kas of KAS) await eventually(async () => (await visit(kas, 'team-a/dev', ada)).status === 200)
  }
  type Ask = (to: GrpcConnection) => Promise<unknown>
  const askAt = async <T>(
    kas: string,
    name: string,
    token: Token | undefined,
    ask: (to: GrpcConnection) => Promise<T>,
  ): Promise<T> => {
    const connection = dial({ address: door(kas, name), ...(token && { token }) })
    try {
      return await ask(connection)
    } finally {
      connection.close()
    }
  }
  const assertRefused = async (name: string, ask: Ask) => {
    for (const kas of KAS)
      for (const [what, token] of Object.entries(hers))
        is((await failureOf(() => askAt(kas, name, token, ask))).code, 'unauthorized', `${kas}, ${what}`)
  }
  /** As one kas asks another for the agent of this number. */
  const askForAgent: Ask = async (to) => {
    const call = await to.duplexRaw(METHOD, { metadata: { 'kas-hop-routing-agent-id': [String(adas)] } })
    for await (const _ of call.responses);
  }

  it('lead nobody to another’s agent, whichever is asked, nor say that there is one', async () => {
    await assertAdas()
    const guises = [{}, { 'kas-hop-routing-agent-id': String(adas) }, { 'gitlab-agent-id': String(adas) }]
    for (const kas of KAS) {
      await eventually(async () => (await visit(kas, 'evil/mine', mallory)).status === 200)
      const { status, text } = await visit(kas, 'team-a/absent', mallory)
      is(status, 403)
      const said = { status, text: text.replaceAll('team-a/absent', 'team-a/dev') }
      for (const headers of guises) equal(await visit(kas, 'team-a/dev', mallory, headers), said)
    }
  })

  it('take nobody for somebody else, whatever headers he sends, and however he writes the way', async () => {
    const own = '/k8s/namespaces/evil/agents/mine'
    const wrong: [status: number, path: string, ...headers: string[]][] = [
      [400, `${own}/api/v1/secrets`, 'Impersonate-User: system:admin', 'Impersonate-Group: system:masters'],
      [401, `${own}/version`, 'Authorization: Bearer x'],
      [400, `${own}/../../../team-a/agents/dev/version`],
      [400, `${own}/%2e%2e/%2e%2e/%2e%2e/team-a/agents/dev/version`],
      [401, '/k8s/namespaces/evil%2F..%2Fteam-a/agents/dev/version'],
      [403, `/k8s/namespaces/team-a/agents/dev/version?token=${ada}`],
      [403, '/k8s/namespaces/team-a/agents/dev/version', 'X-Remote-User: system:admin', 'X-Remote-Group: system:masters'],
    ]
    for (const kas of KAS)
      for (const [status, path, ...headers] of wrong) {
        const asked = [`GET ${path} HTTP/1.1`, 'Host: kas', `Authorization: Bearer ${mallory}`, 'Connection: close', ...headers]
        const visitor = byHand(`http://${door(kas, 'kubernetesApi')}`, asked)
        await eventually(() => visitor.hasEnded)
        match(visitor.text, `HTTP/1.1 ${status} `, path)
      }
    await assertAdas()
  })

  it('believe each other by their secret alone, however often somebody else asks', async () => {
    const { getConnectedAgents } = AgentTracker.method
    const everybody = create(getConnectedAgents.input, { request: { case: 'agentId', value: adas } })
    await assertRefused('privateApi', askForAgent)
    await assertRefused('privateApi', (to) => to.unary(getConnectedAgents, everybody))
    await askAt('kas-2', 'privateApi', hers.asKasByOwnSecret, async (to) => {
      for (let n = 0; n < FLOOD; n += 50) await Promise.all(Array.from({ length: 50 }, () => failureOf(() => askForAgent(to))))
    })
    await assertAdas()
  })

  it('pass nothing on from the door of agents that is for other kas', async () => {
    for (const kas of KAS) is((await failureOf(() => askAt(kas, 'listen', hers.ofAgent, askForAgent))).reason, 'Unimplemented')
  })

  it('tell GitLab, and nobody else, who is connected, and look at once for nobody else', async () => {
    const { connectedAgentsById, getPods } = KasApi.method
    const { gitPushEvent } = Notifications.method
    const connected = create(connectedAgentsById.input, { agentId: adas })
    const pods = create(getPods.input, { agentId: adas })
    const push = create(gitPushEvent.input, { event: { project: { fullPath: 'team-a/config' } } })
    await assertRefused('api', (to) => to.unary(connectedAgentsById, connected))
    await assertRefused('api', (to) => to.unary(getPods, pods))
    await assertRefused('api', (to) => to.unary(gitPushEvent, push))
    // Who has the secret is told: so there was something to be told. And it opens no other door.
    const token = (issuer: string) => signed(gitlab.secret, issuer, 'gitlab-kas')
    const { agents } = await askAt('kas-3', 'api', token('gitlab'), (to) => to.unary(connectedAgentsById, connected))
    is(agents.length, 1)
    is((await failureOf(() => askAt('kas-3', 'privateApi', token('gitlab-kas'), askForAgent))).reason, 'TokenInvalid')
  })
})
