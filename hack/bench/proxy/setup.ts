import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type Agent, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Namespaces } from '../../../src/api/index.ts'
import { runAgentw } from '../../../test/agentw/running-agentw.ts'
import { audienceOf } from '../../../test/agentw/tunnel-stage.ts'
import { givePod, podToken } from '../../../test/operator/workspace/git/pod.ts'
import { hostOf, publish } from '../../../test/proxy/running-proxy.ts'
import { accountToken } from '../../../test/support/builders/credentials.ts'
import { eventually } from '../../../test/support/verbs.ts'
import { type Part, startPart } from '../part.ts'
import type { Running } from '../program.ts'
import { type Stage, setStage } from '../stage.ts'
import { placeOf, type Wish } from './parts.ts'
import { PEER, peerModule } from './peer.ts'

/** Where a client asks, and as whom. */
export interface Place {
  part: Part
  host: string
  cookie: string
}

/** A control plane, an app, a bare pipe to it, a peer and the proxy, each a process of its own. */
export interface Setup extends Stage {
  app: Part
  proxy: Part
  /** The app itself, through the pipe, the peer and the proxy with a session: the others know nobody. */
  ways: Record<'direct' | 'bare pipe of node:http' | typeof PEER | 'proxy, with a session', Place>
  /** A workspace whose port leads to that address. */
  workspace(name: string, to?: string, how?: Parameters<typeof publish>[3]): ReturnType<typeof publish>
  signedIn(name: string, email: string): Promise<Place>
  /** The app in a workspace that is reached through kas and the tunnel of its pod, each a process of its own. */
  tunnelled(name: string): Promise<Place>
}

const PROGRAM = join(import.meta.dirname, '../proxy.ts')
export const NAMESPACE = 'bench'
const OWNER = 'ada@example.com'

export async function openSetup({ flags = [] }: Running): Promise<Setup> {
  const stage = await setStage()
  // The parts find the cluster by it, as tests do.
  process.env.TEST_KUBECONFIG = stage.kubeconfig
  await stage.user.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
  const start = (name: string, ...given: string[]) => startPart(PROGRAM, name, [name, ...given], ['--expose-gc', ...flags])
  const app = await start('app')
  const pipe = await start('pipe', app.address)
  const peer = await start('peer', app.address, await peerModule())
  const kas = await start('kas', NAMESPACE)
  const folder = await mkdtemp(join(tmpdir(), 'berth-bench-tunnels-'))
  const token = join(folder, 'token')
  await writeFile(token, await accountToken(stage.user, NAMESPACE, 'proxy', ['berth-kas']))
  const proxy = await start('proxy', NAMESPACE, kas.address, token)
  const tell = (wish: Wish) => proxy.tell(JSON.stringify(wish))
  const workspace: Setup['workspace'] = async (name, to = app.address, how = {}) => {
    await tell({ wish: 'home', name, address: to })
    return publish(stage.user, NAMESPACE, name, how)
  }
  const arrive = async (host: string, email: string): Promise<Place> => {
    const { cookie = '' } = await tell({ wish: 'cookie', host, email })
    return { part: proxy, host, cookie: String(cookie) }
  }
  const signedIn: Setup['signedIn'] = (name, email) => arrive(hostOf(name), email)
  const pods: { stop(): Promise<void> }[] = []
  const tunnelled: Setup['tunnelled'] = async (name) => {
    const { port } = placeOf(app.address)
    const made = await publish(stage.user, NAMESPACE, name, { wayIn: 'Tunnel', ports: [{ name: 'app', port }] })
    await givePod(stage.user, made)
    const podsToken = await podToken(stage.user, made, { audience: audienceOf(made) })
    pods.push(await runAgentw(kas.address, `${NAMESPACE}/${name}`, podsToken))
    const place = await arrive(hostOf(name, port), OWNER)
    await eventually(async () => (await statusAt(place)) === 200)
    return place
  }
  await workspace('web')
  const own = await signedIn('web', OWNER)
  return {
    ...stage,
    ...{ app, proxy, workspace, signedIn, tunnelled },
    ways: {
      direct: { ...own, part: app },
      'bare pipe of node:http': { ...own, part: pipe },
      [PEER]: { ...own, part: peer },
      'proxy, with a session': own,
    },
    async close() {
      for (const pod of pods) await pod.stop()
      for (const part of [proxy, kas, peer, pipe, app]) await part.stop()
      await rm(folder, { recursive: true })
      await stage.close()
    },
  }
}

/** Host, cookie and Origin as the page of the workspace sends them. */
export const headersOf = ({ host, cookie }: Place): Record<string, string> => ({ host, origin: `https://${host}`, cookie })

export const addressOf = ({ part }: Place) => placeOf(part.address)

/** What a request to the first page is answered with. */
export const statusAt = (place: Place, headers = headersOf(place), agent: Agent | false = false): Promise<number> =>
  new Promise((resolve, reject) => {
    const request = httpRequest({ ...addressOf(place), headers, agent }, (answer) =>
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0)),
    )
    request.on('error', reject).end()
  })
