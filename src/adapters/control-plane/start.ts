import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, Failure, isFailure, systemClock } from '../../std/index.ts'
import { adminToken, ensureCredentials, readAuthority, writeKubeconfig } from './credentials.ts'
import { FLAGS, SERVERS, type ServerName } from './flags.ts'
import { removeFolder, removeTree } from './folder.ts'
import { lastLines, lastWords } from './last-words.ts'
import { ensureFolders, type Layout, layoutOf } from './layout.ts'
import { furnish } from './nodes.ts'
import { freePort } from './ports.ts'
import { isAlive, signal as send, standsStill } from './processes.ts'
import { isReady, waitUntil } from './ready.ts'
import { RECIPE_FOLDER } from './recipe.ts'
import { endServer, launch, logOf, type Server } from './server.ts'
import { endServersOf, writeState } from './state.ts'
import type { Tools } from './tools.ts'

export interface Start {
  /** All state is in this folder. Started again in the same folder, the control plane has what it had. */
  dir: string
  tools: Tools
  /** It outlives this process; `stopControlPlane(dir)` ends it. Without, it dies with this process, however that ends. */
  detached?: boolean
  /** How many fake nodes there are. */
  nodes?: number
  /** The folder of kwok's Stage files. */
  stages?: string
  clock?: Clock
  /** The whole environment of the servers; that of this process without it. */
  env?: Record<string, string | undefined>
  signal?: AbortSignal | undefined
}

export interface ControlPlane {
  /** The administrator's kubeconfig file. */
  kubeconfig: string
  /** The API server's URL. */
  server: string
  dir: string
  /** PEM files: what the API server shows on loopback. Others beside it may show the same. */
  tls: { certificate: string; key: string; authority: string }
  /** Ends all servers, the data stays in the folder. */
  stop(): Promise<void>
  /** Ends all servers and removes the folder. */
  remove(): Promise<void>
  /** One server for itself: for tests of bad days. */
  servers: {
    /** SIGKILL. */
    kill(name: ServerName): Promise<void>
    /** With the same port, keys and data; the API server is waited for until it is ready. */
    start(name: ServerName): Promise<void>
    /** Neither answers nor closes anything, until it is resumed. */
    freeze(name: ServerName): Promise<void>
    resume(name: ServerName): void
  }
}

interface Plan {
  layout: Layout
  tools: Tools
  port: number
  url: string
  stages: string
  detached: boolean
  env: Record<string, string | undefined> | undefined
  clock: Clock
  signal: AbortSignal | undefined
  running: Map<ServerName, Server>
}

/** Brings up etcd, the API server and their companions; returns when the API server is ready and the nodes are there. */
export async function startControlPlane(start: Start): Promise<ControlPlane> {
  const { dir, tools, nodes = 2, detached = false, clock = systemClock, env, signal } = start
  const layout = ensureFolders(dir)
  await endServersOf(layout, clock) // an earlier start may have been killed before it could tidy up
  ensureCredentials(layout)
  const basics = { layout, tools, detached, env, clock, signal, stages: start.stages ?? join(RECIPE_FOLDER, 'stages') }
  const plan = await startAll(basics)
  try {
    const kubectl = tools.paths.kubectl
    if (kubectl) await furnish(kubectl, layout.kubeconfig, nodes)
  } catch (thrown) {
    await stopAll(plan)
    throw thrown
  }
  return handleOf(plan)
}

/** Between asking the kernel for a free port and listening on it somebody else may take it; so another is tried. */
async function startAll(basics: Omit<Plan, 'port' | 'url' | 'running'>, attempts = 3): Promise<Plan> {
  // An etcd that was killed while it made its data may never elect a leader; nobody has had anything of it yet.
  const { authority, kubeconfig, data } = basics.layout
  if (!existsSync(authority) && !existsSync(kubeconfig)) removeTree(data)
  const port = await freePort()
  const plan: Plan = { ...basics, port, url: `https://127.0.0.1:${port}`, running: new Map() }
  try {
    for (const name of SERVERS) await startServer(plan, name)
    return plan
  } catch (thrown) {
    await stopAll(plan)
    if (attempts > 1 && isFailure(thrown, 'already-exists')) return startAll(basics, attempts - 1)
    throw thrown
  }
}

async function startServer(plan: Plan, name: ServerName, { alone = false } = {}): Promise<void> {
  const { layout, tools, detached, env, port, stages } = plan
  const program = tools.paths[name]
  if (!program) return
  const log = logOf(layout.logs, name)
  const flags = FLAGS[name]({ layout, port, stages })
  plan.running.set(name, await launch({ name, program, flags, dir: layout.dir, log, detached, env }))
  remember(plan)
  if (name === 'kube-apiserver') await untilReady(plan, alone ? [name] : [...plan.running.keys()])
}

/** `needed`: servers without which it will never be. */
async function untilReady(plan: Plan, needed: readonly ServerName[]): Promise<void> {
  const { layout, url, clock, signal } = plan
  await waitUntil(
    async () => {
      failIfEnded(plan, needed)
      const authority = readAuthority(layout)
      return authority !== undefined && isReady({ server: url, authority, token: adminToken(layout) })
    },
    { what: `the API server in ${layout.dir} is ready`, clock, signal },
  )
  const authority = readAuthority(layout) ?? ''
  writeFileSync(layout.authority, authority)
  writeKubeconfig(layout, url, authority)
}

function failIfEnded({ running, layout }: Plan, needed: readonly ServerName[]): void {
  const ended = [...running].find(([name, server]) => needed.includes(name) && server.hasExited())
  if (!ended) return
  const log = logOf(layout.logs, ended[0])
  const code = lastLines(log).includes('address already in use') ? 'already-exists' : 'internal'
  throw new Failure(code, `${ended[0]} ended while it started${lastWords(log)}`, { remedy: `Its log is ${log}.` })
}

function remember({ layout, running, url, port }: Plan): void {
  const pids = Object.fromEntries([...running].map(([name, { pid }]) => [name, pid]))
  writeState(layout, { server: url, port, pids })
}

async function stopAll({ running, layout, clock }: Plan): Promise<void> {
  for (const { name, pid, hasExited } of [...running.values()].reverse()) {
    await endServer(pid, clock)
    // The keeper goes a moment after its server. Asking keeps this process alive; a child that is let go would not.
    await waitUntil(hasExited, { what: `${name} has ended`, clock })
  }
  rmSync(layout.state, { force: true })
}

function handleOf(plan: Plan): ControlPlane {
  const { layout, running, clock } = plan
  const serverOf = (name: ServerName): Server => {
    const server = running.get(name)
    if (!server) throw new Failure('not-found', `no ${name} was started in ${layout.dir}`)
    return server
  }
  return {
    kubeconfig: layout.kubeconfig,
    server: plan.url,
    dir: layout.dir,
    tls: { certificate: layout.certificate, key: layout.certificateKey, authority: layout.authority },
    stop: () => stopAll(plan),
    async remove() {
      await stopAll(plan)
      removeFolder(layout.dir)
    },
    servers: {
      async kill(name) {
        const { pid } = serverOf(name)
        send(pid, 'SIGKILL')
        await waitUntil(() => !isAlive(pid), { what: `${name} is gone`, clock })
      },
      // What others are doing, on whatever bad day, is not its affair.
      start: (name) => startServer(plan, name, { alone: true }),
      freeze(name) {
        const { pid } = serverOf(name)
        send(pid, 'SIGSTOP')
        return waitUntil(() => standsStill(pid), { what: `${name} stands still`, clock: plan.clock })
      },
      resume: (name) => send(serverOf(name).pid, 'SIGCONT'),
    },
  }
}

/** Ends what was started detached, or was left over, in this folder; answers whether anything ran. The data stays. */
export async function stopControlPlane(dir: string, clock: Clock = systemClock): Promise<boolean> {
  return endServersOf(layoutOf(dir), clock)
}
