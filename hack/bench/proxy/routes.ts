import { Agent } from 'node:http'
import { Store } from '../../../src/adapters/kube/store.ts'
import { type Service, type Workspace, Workspaces } from '../../../src/api/index.ts'
import { followRoutes } from '../../../src/proxy/routes.ts'
import { silentLog } from '../../../src/std/index.ts'
import { published } from '../../../test/engines/access/neighbourhood.ts'
import { hostOf } from '../../../test/proxy/running-proxy.ts'
import { print, since, spreadOf } from '../figures.ts'
import { inParallel } from '../stage.ts'
import { NAMESPACE, type Place, type Setup, statusAt } from './setup.ts'

const AT_ONCE = 16
const TIMES = 100

/** The table of hosts alone, and then beside that many workspaces of a real API server: from its answer to the proxy's. */
export async function routes(setup: Setup, count: number): Promise<void> {
  table(count)
  const began = performance.now()
  await inParallel(count, AT_ONCE, (n) => setup.workspace(`w${n}`))
  print(`${count} workspaces published`, { seconds: since(began) })
  const took: Record<'added' | 'removed', number[]> = { added: [], removed: [] }
  const place = setup.ways['proxy, with a session']
  for (let n = 0; n < TIMES; n++) {
    const name = `late-${n}`
    await setup.workspace(name)
    took.added.push(await untilAnswered(place, name, (status) => status !== 404))
    await setup.user.delete(Workspaces, { name, namespace: NAMESPACE })
    took.removed.push(await untilAnswered(place, name, (status) => status === 404))
  }
  for (const [what, times] of Object.entries(took)) print(`beside ${count}: ${what}`, spreadOf(times))
}

async function untilAnswered(place: Place, name: string, isMeant: (status: number) => boolean): Promise<number> {
  const agent = new Agent({ keepAlive: true })
  const began = performance.now()
  while (!isMeant(await statusAt(place, { host: hostOf(name) }, agent)));
  agent.destroy()
  return performance.now() - began
}

/** From a watch event to the look that finds the host, or no longer finds it. */
function table(count: number): void {
  const [workspaces, services] = [new Store<Workspace>(), new Store<Service>()]
  const found = followRoutes({ workspaces, services, log: silentLog })
  const all = Array.from({ length: count }, (_, n) => published(`w${n}`))
  const timed = (change: (workspace: Workspace) => unknown) =>
    all.map((workspace) => {
      const began = performance.now()
      change(workspace)
      return performance.now() - began
    })
  const added = timed((workspace) => [workspaces.put(workspace), found.at(`3000-${workspace.metadata.name}`)])
  print(`table of ${found.size} hosts: added`, spreadOf(added))
  print('table: removed', spreadOf(timed((workspace) => workspaces.remove(workspace))))
}
