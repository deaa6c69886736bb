import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { equal, ok } from 'uvu/assert'
import { acquireTools } from '../../src/adapters/control-plane/index.ts'
import { ClusterRoles, Deployments, RoleBindings } from '../../src/api/index.ts'
import { type OwnControlPlane, ownControlPlane } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The block below "Install it on a cluster". What `doctor` finds depends on an image, which this cluster has not. */
const commands = (
  /^## Install it on a cluster\n[\s\S]*?```sh\n([\s\S]*?)```/m.exec(readFileSync(join(ROOT, 'README.md'), 'utf8'))?.[1] ?? ''
)
  .trim()
  .split('\n')
  .filter((line) => !line.includes('berth -- doctor'))

describe('the installation that the README shows', (it) => {
  let plane: OwnControlPlane
  it.before(async () => {
    // Its pods are simulated: they run, whatever their image is.
    plane = await ownControlPlane({ nodes: 1 })
  })
  it.after(() => plane.remove())

  const run = async (command: string) => {
    const tools = await acquireTools({ env: process.env, wanted: ['kubectl'] })
    const PATH = [dirname(tools.paths.kubectl ?? ''), process.env.PATH].join(':')
    const env = { ...process.env, PATH, KUBECONFIG: plane.kubeconfig }
    await promisify(execFile)('sh', ['-c', command], { cwd: ROOT, env })
  }

  it('works on a cluster that has nothing', async () => {
    ok(commands.length >= 3)
    for (const command of commands) await run(command)
    ok(await plane.kube.get(Deployments, { name: 'operator', namespace: 'berth-system' }))
    equal((await plane.kube.list(RoleBindings, { namespace: 'team-a' })).length, 2)
  })

  it('works again, when the cluster has gathered the rules of aggregated roles', async () => {
    const hasRules = async (name: string) => ((await plane.kube.get(ClusterRoles, { name }))?.rules ?? []).length > 0
    for (const name of ['berth-space-edit', 'berth-space-admin']) await eventually(() => hasRules(name))
    for (const command of commands.filter((line) => !line.startsWith('kubectl create'))) await run(command)
    for (const name of ['berth-space-edit', 'berth-space-admin']) ok(await hasRules(name), name)
  })
})
