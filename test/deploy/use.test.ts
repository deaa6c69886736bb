import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { match } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import {
  ClusterRoles,
  DeploymentTargetClaims,
  type KubeObject,
  Previews,
  SpaceRequests,
  Workspaces,
} from '../../src/api/index.ts'
import { allowUse, bindUser, untilMay } from '../support/builders/credentials.ts'
import { kubectl } from '../support/builders/snapshots.ts'
import { testCluster } from '../support/control-plane.ts'
import { preview } from '../support/previews.ts'
import { refusalOf } from '../support/refusal.ts'
import { spaceRequest } from '../support/spaces.ts'
import { describe } from '../support/suite.ts'
import { claim } from '../support/targets.ts'
import { eventually } from '../support/verbs.ts'
import { workspace } from '../support/workspaces.ts'

const run = promisify(execFile)
const MALLORY = 'mallory@example.com'
const STRANGER = 'system:anonymous'

interface Named {
  what: string
  group: string
  resource: string
  /** Made by the user, naming this class or tier. */
  make: (as: Kube, namespace: string, name: string, used: string) => Promise<KubeObject>
  shipped: string
}

const NAMED: Named[] = [
  {
    what: 'SpaceTier',
    group: 'berth.dev',
    resource: 'spacetiers',
    make: (as, namespace, name, tierName) => as.create(SpaceRequests, spaceRequest(namespace, name, { tierName })),
    shipped: 'appstudio-env',
  },
  {
    what: 'DeploymentTargetClass',
    group: 'appstudio.redhat.com',
    resource: 'deploymenttargetclasses',
    make: (as, namespace, name, deploymentTargetClassName) =>
      as.create(DeploymentTargetClaims, claim(namespace, name, { deploymentTargetClassName })),
    shipped: 'isolation-level-namespace',
  },
  {
    what: 'WorkspaceClass',
    group: 'berth.dev',
    resource: 'workspaceclasses',
    make: (as, namespace, name, workspaceClassName) => as.create(Workspaces, workspace(namespace, name, { workspaceClassName })),
    shipped: 'default',
  },
]

describe('who may use classes and tiers', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const tenant = kube.as({ user: MALLORY })
  // Not of the group system:authenticated, which may use all classes.
  const stranger = kube.as({ user: STRANGER })
  let namespace = ''
  it.before(async () => {
    namespace = await cluster.namespace('use')
    await letIn(namespace)
  })
  it.after(async () => {
    await kube.delete(ClusterRoles, { name: `use-gpu-${namespace}` })
    await cluster.close()
  })

  const letIn = async (where: string) => {
    for (const user of [MALLORY, STRANGER]) {
      await bindUser(kube, where, user, 'admin')
      await untilMay(kube, where, user, { verb: 'create', group: 'berth.dev', resource: 'workspaces' })
    }
  }

  for (const { what, group, resource, make, shipped } of NAMED) {
    it(`is everybody for the ${what} that is shipped, and else who has the verb use on it in the namespace`, async () => {
      await make(tenant, namespace, 'shipped', shipped)
      const refused = await refusalOf(make(stranger, namespace, 'mine', `gold-${resource}`))
      match(refused, `you may not use ${what} "gold-${resource}" of spec.`)
      match(refused, `in namespace ${namespace}; ask a platform engineer for the verb use on ${resource}.${group}`)
      await allowUse(kube, namespace, STRANGER, { group, resource, name: `gold-${resource}` })
      await make(stranger, namespace, 'mine', `gold-${resource}`)
      const elsewhere = await cluster.namespace('use-elsewhere')
      await letIn(elsewhere)
      match(await refusalOf(make(stranger, elsewhere, 'mine', `gold-${resource}`)), 'you may not use')
      await make(kube, elsewhere, 'of-an-administrator', `gold-${resource}`)
    })
  }

  it('is asked for the class of a Preview as for that of a claim', async () => {
    const make = (as: Kube, name: string, deploymentTargetClassName: string) =>
      as.create(Previews, preview(namespace, name, { deploymentTargetClassName }))
    await make(tenant, 'shipped', 'isolation-level-namespace')
    const refused = await refusalOf(make(stranger, 'mine', 'of-previews'))
    match(refused, 'you may not use DeploymentTargetClass "of-previews" of spec.deploymentTargetClassName')
    const moved = { spec: { deploymentTargetClassName: 'platform-ops' } }
    await make(kube, 'given', 'of-previews')
    match(await refusalOf(stranger.patch(Previews, { name: 'given', namespace }, moved)), 'you may not use DeploymentTargetClass')
    await stranger.patch(Previews, { name: 'given', namespace }, { spec: { maxEnvironments: 3 } })
  })

  it('is said by the commands of the documentation', async () => {
    const page = readFileSync(new URL('../../docs/spec/v1/deploymenttargetclass.md', import.meta.url), 'utf8')
    const { give = '', ask = '' } =
      /```sh\n(?<give>kubectl apply[^`]*)(?<ask>kubectl auth can-i .*\n)```/.exec(page)?.groups ?? {}
    const env = { ...process.env, PATH: `${dirname(await kubectl())}:${process.env.PATH}`, KUBECONFIG: cluster.kubeconfig }
    const execute = async (script: string) => {
      const ours = script.replaceAll('use-gpu', `use-gpu-${namespace}`).replaceAll('team-a', namespace)
      return (await run('sh', ['-c', ours], { env }).catch((thrown: { stdout: string }) => thrown)).stdout
    }
    match(await execute(ask), /^no/)
    match(await execute(give), /clusterrole.*created\nrolebinding.*created/)
    await eventually(async () => (await execute(ask)).startsWith('yes'))
  })

  it('is asked again when another is named, and not for what was named before', async () => {
    await kube.create(SpaceRequests, spaceRequest(namespace, 'given', { tierName: 'silver' }))
    await tenant.patch(SpaceRequests, { name: 'given', namespace }, { metadata: { labels: { touched: 'yes' } } })
    const changed = tenant.patch(SpaceRequests, { name: 'given', namespace }, { spec: { tierName: 'platform-ops' } })
    match(await refusalOf(changed), 'you may not use SpaceTier "platform-ops"')
    await kube.create(DeploymentTargetClaims, claim(namespace, 'given', { deploymentTargetClassName: 'silver' }))
    await stranger.patch(DeploymentTargetClaims, { name: 'given', namespace }, { metadata: { labels: { touched: 'yes' } } })
    const moved = stranger.patch(
      DeploymentTargetClaims,
      { name: 'given', namespace },
      { spec: { deploymentTargetClassName: 'ops' } },
    )
    match(await refusalOf(moved), 'you may not use DeploymentTargetClass "ops"')
  })

  it('does not matter for a claim that names a target of its namespace, until it does so no more', async () => {
    const spec = { deploymentTargetClassName: 'by-hand', targetName: 'my-own-cluster' }
    await stranger.create(DeploymentTargetClaims, claim(namespace, 'named', spec))
    const opened = stranger.patch(DeploymentTargetClaims, { name: 'named', namespace }, { spec: { targetName: '' } })
    match(await refusalOf(opened), 'you may not use DeploymentTargetClass "by-hand"')
  })
})
