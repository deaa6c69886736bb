import { equal, is, match, ok } from 'uvu/assert'
import { isAllowed, type Kube } from '../../src/adapters/kube/index.ts'
import {
  annotations,
  ClusterRoles,
  conditionOf,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  Namespaces,
  type Ref,
  SANDBOX_PROVISIONER,
  SpaceRequests,
  SpaceTiers,
  WorkspaceClasses,
  Workspaces,
} from '../../src/api/index.ts'
import { allowUse } from '../support/builders/credentials.ts'
import { inParallel } from '../support/parallel.ts'
import { refusalOf } from '../support/refusal.ts'
import { leaveForPrivileged, requestedBy, spaceRequest, spaceTier } from '../support/spaces.ts'
import { describe } from '../support/suite.ts'
import { claim, targetClass } from '../support/targets.ts'
import { apply, eventually, expectObject } from '../support/verbs.ts'
import { workspace, workspaceClass } from '../support/workspaces.ts'
import { bringUp, type Installation } from './installation.ts'

/** Claims of the first test: one made before its class was, one of a class that is there, and that of a workspace. */
const EARLY = ['later', 'early', 'workspace-early']

/** What decides what is made for people: mallory asks for what is meant for the platform's own, and for more than there is. */
describe('hostile: classes and tiers', (it) => {
  let berth: Installation
  let mallory: Kube
  it.before(async () => {
    berth = await bringUp(['team-a', 'evil'])
    await berth.kube.create(SpaceTiers, spaceTier('platform-ops', { podSecurityLevel: 'privileged', clusterRole: 'admin' }))
    const parameters = { tierName: 'platform-ops' }
    await berth.kube.create(DeploymentTargetClasses, targetClass('ops', { provisioner: SANDBOX_PROVISIONER, parameters }))
    const shipped = await berth.kube.get(WorkspaceClasses, { name: 'default' })
    await berth.kube.create(WorkspaceClasses, workspaceClass('ops', { ...shipped?.spec, deploymentTargetClassName: 'ops' }))
    await apply(berth.kube, leaveForPrivileged())
    mallory = await berth.person('mallory', 'evil', 'edit')
  })
  it.after(() => berth.stop())

  /** As the documentation says for classes that are not for everybody. */
  const closeClasses = async () => {
    const open = [
      ['appstudio.redhat.com', 'deploymenttargetclasses', 'isolation-level-namespace'],
      ['berth.dev', 'workspaceclasses', 'default'],
      ['berth.dev', 'spacetiers', 'appstudio-env'],
    ].map(([group, resource, name]) => ({ apiGroups: [group], resources: [resource], resourceNames: [name], verbs: ['use'] }))
    await berth.kube.patch(ClusterRoles, { name: 'berth-default-classes' }, { rules: open })
    const [everybody, ops] = [
      { user: 'mallory', groups: ['system:authenticated'] },
      { namespace: 'evil', verb: 'use', name: 'ops' },
    ]
    const heard = { group: 'berth.dev', resource: 'workspaceclasses', ...ops }
    await eventually(async () => !(await isAllowed(berth.kube, everybody, heard)))
  }

  const bound = (ref: Ref) => expectObject(berth.kube, DeploymentTargetClaims, ref, ({ status }) => status?.phase === 'Bound')
  const expectRefusedTier = (name: string) =>
    expectObject(berth.kube, DeploymentTargetClaims, { name, namespace: 'evil' }, ({ status }) =>
      JSON.stringify(status).includes('mallory may not use SpaceTier \\"platform-ops\\"'),
    )
  const spacesOf = async (namespace: string) =>
    (await berth.kube.list(Namespaces)).filter(({ metadata }) => metadata.name.startsWith(`${namespace}-`))
  const requestsIn = (namespace: string) => berth.kube.list(SpaceRequests, { namespace })

  it('lead nobody to a tier that he may not use, though the class is open to everybody', async () => {
    const later = claim('evil', 'later', { deploymentTargetClassName: 'later' })
    await mallory.create(DeploymentTargetClaims, later)
    const root = 'root\nsystem:masters'
    await mallory.create(DeploymentTargetClaims, requestedBy(root, claim('evil', 'early', { deploymentTargetClassName: 'ops' })))
    await mallory.create(Workspaces, requestedBy(root, workspace('evil', 'early', { workspaceClassName: 'ops' })))
    const parameters = { tierName: 'platform-ops' }
    await berth.kube.create(DeploymentTargetClasses, targetClass('later', { provisioner: SANDBOX_PROVISIONER, parameters }))
    for (const name of EARLY) await expectRefusedTier(name)
    const forged = { metadata: { annotations: { [annotations.requester]: root } } }
    // Nor by what she writes into the request that was made for her.
    for (const { metadata } of await requestsIn('evil'))
      await mallory.patch(SpaceRequests, { name: metadata.name, namespace: 'evil' }, forged)
    await mallory.patch(DeploymentTargetClaims, { name: 'early', namespace: 'evil' }, forged)
    for (const name of EARLY) await expectRefusedTier(name)
    equal(
      (await requestsIn('evil')).map(({ status }) => status?.namespaceAccess),
      [undefined, undefined, undefined],
    )
    equal(await spacesOf('evil'), [])
  })

  it('are refused by every door to whoever has no leave, where the classes are not for everybody', async () => {
    await closeClasses()
    const tierName = 'platform-ops'
    match(await refusalOf(mallory.create(SpaceRequests, spaceRequest('evil', 'root', { tierName }))), 'may not use SpaceTier')
    const ops = claim('evil', 'root', { deploymentTargetClassName: 'ops' })
    match(await refusalOf(mallory.create(DeploymentTargetClaims, ops)), 'may not use DeploymentTargetClass')
    match(
      await refusalOf(mallory.create(Workspaces, workspace('evil', 'root', { workspaceClassName: 'ops' }))),
      'may not use WorkspaceClass',
    )
    // Asked for before there is such a class, or under another name first.
    match(
      await refusalOf(mallory.create(Workspaces, workspace('evil', 'root', { workspaceClassName: 'later' }))),
      'may not use WorkspaceClass',
    )
    await mallory.create(SpaceRequests, spaceRequest('evil', 'plain', { tierName: 'appstudio-env' }))
    const changed = mallory.patch(SpaceRequests, { name: 'plain', namespace: 'evil' }, { spec: { tierName } })
    match(await refusalOf(changed), 'may not use SpaceTier')
    equal((await requestsIn('evil')).map(({ spec }) => spec.tierName).sort(), ['appstudio-env', ...EARLY.map(() => tierName)])
  })

  it('that are shipped are for everybody, and others for whoever gets the verb', async () => {
    const { namespace } = await berth.space(mallory, 'evil', 'mine')
    ok(namespace.startsWith('evil'))
    await mallory.create(Workspaces, workspace('evil', 'web'))
    await bound({ name: 'workspace-web', namespace: 'evil' })
    const ops = { group: 'appstudio.redhat.com', resource: 'deploymenttargetclasses', name: 'ops' }
    await allowUse(berth.kube, 'evil', 'mallory', ops)
    await mallory.create(DeploymentTargetClaims, claim('evil', 'ops', { deploymentTargetClassName: 'ops' }))
    await expectRefusedTier('ops')
    await allowUse(berth.kube, 'evil', 'mallory', { group: 'berth.dev', resource: 'spacetiers', name: 'platform-ops' })
    for (const name of [...EARLY, 'ops']) await bound({ name, namespace: 'evil' })
  })

  it('give a namespace as many spaces as they allow, however many it asks for; others get theirs meanwhile', async () => {
    const tierName = 'appstudio-env'
    const most = (await berth.kube.get(SpaceTiers, { name: tierName }))?.spec.spacesPerNamespaceQuota ?? -1
    is(most, 100)
    const names = Array.from({ length: 200 }, (_, n) => `flood-${n}`)
    await inParallel(names, 16, (name) => mallory.create(SpaceRequests, spaceRequest('evil', name, { tierName })))
    const tenant = await berth.person('ada', 'team-a', 'edit')
    await berth.space(tenant, 'team-a', 'prod')
    const told = async () => {
      const reasons = (await requestsIn('evil')).map(({ status }) => conditionOf(status?.conditions, 'Ready')?.reason)
      return [reasons.length, reasons.filter((each) => each === 'Provisioned').length]
    }
    await eventually(async () => equal(await told(), [207, most]) ?? true)
    is((await spacesOf('evil')).length, most)
    await mallory.create(
      DeploymentTargetClaims,
      claim('evil', 'more', { deploymentTargetClassName: 'isolation-level-namespace' }),
    )
    const waits = await expectObject(berth.kube, DeploymentTargetClaims, { name: 'more', namespace: 'evil' }, ({ status }) =>
      JSON.stringify(status).includes('spacesPerNamespaceQuota'),
    )
    is(waits.status?.phase, 'Pending')
    await mallory.delete(SpaceRequests, { name: 'plain', namespace: 'evil' })
    await eventually(async () => equal((await told()).at(-1), most) ?? true)
  })
})
