import { join } from 'node:path'
import { Namespaces } from '../../../src/api/index.ts'
import { hostOf, publish } from '../../../test/proxy/running-proxy.ts'
import { type Part, startPart } from '../part.ts'
import type { Running } from '../program.ts'
import { type Stage, setStage } from '../stage.ts'
import { placeOf, type Wish } from './parts.ts'
import { PEER, peerModule } from './peer.ts'

/** Where a client asks, and as whom. */
export interface Place {
  part: Part
  name: string
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
  const proxy = await start('proxy', NAMESPACE)
  const tell = (wish: Wish) => proxy.tell(JSON.stringify(wish))
  const workspace: Setup['workspace'] = async (name, to = app.address, how = {}) => {
    await tell({ wish: 'home', name, address: to })
    return publish(stage.user, NAMESPACE, name, how)
  }
  const signedIn: Setup['signedIn'] = async (name, email) => {
    const { cookie = '' } = await tell({ wish: 'cookie', name, email })
    return { part: proxy, name, cookie: String(cookie) }
  }
  await workspace('web')
  const own = await signedIn('web', OWNER)
  return {
    ...stage,
    ...{ app, proxy, workspace, signedIn },
    ways: {
      direct: { ...own, part: app },
      'bare pipe of node:http': { ...own, part: pipe },
      [PEER]: { ...own, part: peer },
      'proxy, with a session': own,
    },
    async close() {
      for (const part of [proxy, peer, pipe, app]) await part.stop()
      await stage.close()
    },
  }
}

/** Host, cookie and Origin as the page of the workspace sends them. */
export const headersOf = ({ name, cookie }: Place): Record<string, string> => ({
  host: hostOf(name),
  origin: `https://${hostOf(name)}`,
  cookie,
})

export const addressOf = ({ part }: Place) => placeOf(part.address)
