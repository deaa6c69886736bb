import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type IncomingMessage, Agent as Pool, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../../src/adapters/control-plane/index.ts'
import { createAgent, createProject, openToOwnJobs } from '../../../test/kas/running-kas.ts'
import { developer } from '../../../test/support/builders/credentials.ts'
import { gitHost, type TestRepository } from '../../../test/support/git-host.ts'
import { callWebhook, knowRepository } from '../gitops/setup.ts'
import { type Part, startPart } from '../part.ts'
import { memoryOf, type Program, type Running, startProgram } from '../program.ts'
import { inParallel, setStage } from '../stage.ts'

/** A kas, or an agent, with what it takes to watch its memory. */
export interface Watched extends Program {
  name: string
  rss(): number
}

/** A control plane with Agents, a Git server with a repository, and whatever a scene starts beside them; all end with `close`. */
export interface Setup {
  repository: TestRepository
  /** So many that are peers of one another. */
  startKas(count: number): Promise<Watched[]>
  /** The program itself; its cluster is the server at that address. */
  startAgent(kas: Watched, cluster: string): Promise<Watched>
  /** Has the tokens of all Agents. */
  startAgents(address: string): Promise<Part>
  /** One of the bench's own. */
  start(part: string, ...given: string[]): Promise<Part>
  /** A request to the Kubernetes API of the n-th Agent. */
  ask(kas: Watched, n: number, path?: string): Promise<IncomingMessage>
  /** Tells kas of a push as a Git server does. */
  webhook(kas: Watched): Promise<number>
  close(): Promise<void>
}

const HOME = 'bench'
const REPOSITORY = `${HOME}/repository`
const PROGRAM = join(import.meta.dirname, '../agents.ts')
const ANYWHERE = '127.0.0.1:0'

const nameOf = (n: number): string => `agent-${String(n).padStart(4, '0')}`

export async function openSetup(count: number, running: Running): Promise<Setup> {
  const closers: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const end of closers.reverse()) await end()
  }
  try {
    return { ...(await prepare(count, running, closers)), close }
  } catch (thrown) {
    await close()
    throw thrown
  }
}

async function prepare(count: number, running: Running, closers: (() => Promise<unknown>)[]): Promise<Omit<Setup, 'close'>> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-bench-agents-'))
  closers.push(() => rm(folder, { recursive: true, force: true }))
  const file = (name: string) => join(folder, name)
  const { user, kubeconfig, close: closeStage } = await setStage()
  closers.push(closeStage)
  const git = await gitHost()
  closers.push(() => git.close())
  const [config, repository] = [await git.repository('config'), await git.repository('repository')]
  const numbers = Array.from({ length: count }, (_, n) => n)
  const configuration = JSON.stringify(openToOwnJobs(HOME))
  await config.fill(numbers.map((n) => [`.berth/agents/${nameOf(n)}/config.yaml`, configuration] as const))
  await repository.fill(manifests(0))
  await knowRepository(user, repository.url)
  await createProject(user, HOME, 'config', { url: config.url, pollInterval: '1h' })
  const tokens: string[] = []
  await inParallel(count, 16, async (n) => {
    tokens[n] = await createAgent(user, HOME, nameOf(n))
  })
  await writeFile(file('tokens'), JSON.stringify(tokens))
  await writeFile(file('secret'), randomBytes(32).toString('base64'))
  const { token } = await developer(user, HOME, 'job')
  const pool = new Pool({ keepAlive: true })
  closers.push(async () => pool.destroy())
  const watched = async (name: string, program: Promise<Program>): Promise<Watched> => {
    const started = await program
    closers.push(() => started.stop())
    return { ...started, name, rss: () => memoryOf(started.pid).rss }
  }
  const start = async (part: string, ...given: string[]) => {
    const started = await startPart(PROGRAM, part, [part, ...given])
    closers.push(() => started.stop())
    return started
  }
  return {
    repository,
    async startKas(number) {
      const all = await Promise.all(Array.from({ length: number }, async () => `127.0.0.1:${await freePort()}`))
      return Promise.all(
        all.map((own, n) => {
          const as = `kas-${n}`
          const options = kasOptions(file(as), file('secret'), own, all)
          return watched(as, startProgram({ ...running, name: 'kas', as, kubeconfig, options }))
        }),
      )
    },
    async startAgent(kas, cluster) {
      const home = file('agent')
      await mkdir(home)
      await writeFile(join(home, 'kubeconfig'), kubeconfigTo(cluster))
      await writeFile(join(home, 'token'), tokens[0] ?? '')
      const options = ['--kas-address', `grpc://${kas.facts.listen}`, '--token-file', join(home, 'token')]
      const plan = { ...running, name: 'agent' as const, kubeconfig: join(home, 'kubeconfig') }
      return watched('agent', startProgram({ ...plan, options: [...options, '--namespace', HOME, '--pod-name', 'pod'] }))
    },
    startAgents: (address) => start('agents', address, file('tokens'), REPOSITORY),
    start,
    ask: (kas, n, path = '/version') =>
      get(`http://${kas.facts.kubernetesApi}/k8s/namespaces/${HOME}/agents/${nameOf(n)}${path}`, token, pool),
    webhook: (kas) => callWebhook(kas.facts.webhooks ?? ''),
  }
}

function kasOptions(data: string, secret: string, own: string, all: readonly string[]): string[] {
  const peers = all.filter((one) => one !== own).map((one) => `grpc://${one}`)
  return [
    ...['--listen', ANYWHERE, '--webhooks', ANYWHERE, '--kubernetes-api', ANYWHERE, '--data-dir', data],
    // All requests of the bench are those of one person.
    ...['--git-credentials', ANYWHERE, '--visits-per-second', '100000', '--lease-namespace', HOME],
    ...['--private-api', own, '--private-api-secret', secret, '--session-grace', '1'],
    ...(peers.length > 0 ? ['--peers', peers.join(',')] : []),
  ]
}

const FILES = 50

/** What the agents follow; only the first file differs from one to the next. */
export function manifests(version: number): [path: string, content: string][] {
  return Array.from({ length: FILES }, (_, n) => {
    const data = { version: String(n === 0 ? version : 0), text: 'x'.repeat(800) }
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `settings-${n}` }, data }
    return [`deploy/${n}.json`, JSON.stringify(object)]
  })
}

const kubeconfigTo = (address: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'x', cluster: { server: `http://${address}` } }],
    users: [{ name: 'x', user: { token: 'of-nobody' } }],
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    'current-context': 'x',
  })

/** Its answer once its header is there. */
export const get = (url: string, token?: string, agent?: Pool): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    request(url, { headers, ...(agent ? { agent } : {}) }, resolve)
      .on('error', reject)
      .end()
  })
