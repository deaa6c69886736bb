import { equal, is, match, not } from 'uvu/assert'
import { isAllowed, type Kube } from '../../src/adapters/kube/index.ts'
import {
  Agents,
  type Condition,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargets,
  Environments,
  GitOpsDeploymentManagedEnvironments,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  GitProjects,
  type Kind,
  SpaceRequests,
  type Workspace,
  Workspaces,
} from '../../src/api/index.ts'
import { createAgent, createProject } from '../kas/running-kas.ts'
import { refusalOf } from '../support/refusal.ts'
import { describe } from '../support/suite.ts'
import { claim, target } from '../support/targets.ts'
import { expectObject } from '../support/verbs.ts'
import { workspace } from '../support/workspaces.ts'
import { bringUp, type Installation, sourceOf } from './installation.ts'

const KINDS: readonly Kind[] = [
  Agents,
  DeploymentTargetClaims,
  DeploymentTargets,
  Environments,
  GitOpsDeploymentManagedEnvironments,
  GitOpsDeploymentSyncRuns,
  GitOpsDeployments,
  GitProjects,
  SpaceRequests,
  Workspaces,
]
const IT = { name: 'it', namespace: 'evil' }

/** Mallory has `edit` in `evil`, and Madmin leads it. What they would write there is what Berth says, and what it is called. */
describe('hostile: what is Berth’s own to write', (it) => {
  let berth: Installation
  let mallory: Kube
  let madmin: Kube
  it.before(async () => {
    berth = await bringUp(['evil'])
    mallory = await berth.person('mallory', 'evil', 'edit')
    madmin = await berth.person('madmin', 'evil', 'admin')
    const { kube } = berth
    await createProject(kube, 'evil', 'it', { url: (await berth.host.repository('it')).url })
    await createAgent(kube, 'evil', 'it')
    await kube.create(DeploymentTargetClaims, claim('evil', 'it'))
    await kube.create(DeploymentTargets, target('evil', 'it'))
    await kube.create(Workspaces, workspace('evil', 'it'))
    await berth.follow('evil', 'it', { source: sourceOf((await berth.host.repository('it')).url), suspend: true })
  })
  it.after(() => berth.stop())

  const conditions: Condition[] = [
    { type: 'Ready', status: 'True', reason: 'Forged', message: '', lastTransitionTime: '2030-01-01T00:00:00Z' },
  ]
  const may = (user: string, { group, plural: resource }: Kind, subresource: string, verb: string) =>
    isAllowed(berth.kube, { user, groups: ['system:authenticated'] }, { group, resource, subresource, verb, namespace: 'evil' })

  it('is the status of every kind, for whoever may edit a namespace and for whoever leads it', async () => {
    for (const [user, kube] of Object.entries({ mallory, madmin }))
      for (const kind of KINDS) {
        const forged = kube.patch(kind, IT, { status: { conditions } }, { subresource: 'status' })
        match(await refusalOf(forged), `cannot patch resource "${kind.plural}/status" in API group "${kind.group}"`)
        for (const subresource of ['status', 'finalizers', 'scale'])
          for (const verb of ['create', 'update', 'patch'])
            is(await may(user, kind, subresource, verb), false, `${user} may ${verb} ${kind.plural}/${subresource}`)
      }
  })

  it('is not written with the rest of an object either: what it says of itself is dropped', async () => {
    const running: Workspace = { ...workspace('evil', 'forged'), status: { actualState: 'Running', conditions } }
    const bound: DeploymentTargetClaim = { ...claim('evil', 'forged'), status: { phase: 'Bound', conditions } }
    is((await mallory.create(Workspaces, running)).status, undefined)
    is((await mallory.create(DeploymentTargetClaims, bound)).status, undefined)
    for (const kind of [Workspaces, DeploymentTargetClaims, DeploymentTargets, GitOpsDeployments, GitProjects, Agents] as Kind[])
      not.match(JSON.stringify(await madmin.patch(kind, IT, { status: { conditions } })), 'Forged')
  })

  it('are names that begin as its own do, whether somebody writes them or has them made', async () => {
    const before = (await berth.kube.list(Workspaces, { namespace: 'evil' })).length
    const own = ['berth', 'kas', 'proxy', 'dashboard', 'auth', 'www', 'api', 'berth-x', 'gl-x']
    const generated = ['berth-', 'berth-x-', 'gl-', 'gl-x']
    const called = (metadata: object) => ({ ...workspace('evil', ''), metadata: { namespace: 'evil', ...metadata } }) as Workspace
    for (const kube of [mallory, madmin]) {
      for (const name of own) match(await refusalOf(kube.create(Workspaces, called({ name }))), `the name ${name} is reserved`)
      for (const generateName of generated) {
        const said = await refusalOf(kube.create(Workspaces, called({ generateName })))
        match(said, new RegExp(`the name ${generateName}[a-z0-9]{5} is reserved`))
      }
    }
    equal((await berth.kube.list(Workspaces, { namespace: 'evil' })).length, before)
    const free = await mallory.create(Workspaces, called({ generateName: 'own-' }))
    match(free.metadata.name, /^own-[a-z0-9]{5}$/)
    await expectObject(
      berth.kube,
      Workspaces,
      { name: free.metadata.name, namespace: 'evil' },
      ({ spec }) => spec.owner === 'mallory',
    )
  })
})
