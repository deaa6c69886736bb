import { equal, is, match, ok } from 'uvu/assert'
import { isAllowed, type Kube } from '../../src/adapters/kube/index.ts'
import {
  annotations,
  ClusterRoles,
  conditionOf,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  labels,
  Namespaces,
  type Ref,
  SANDBOX_PROVISIONER,
  Secrets,
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
import { claim, credentialsSecret, target, targetClass } from '../support/targets.ts'
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
    berth = await bringUp(['team-a', 'evil', 'nook'])
    await berth.kube.create(SpaceTiers, spaceTier('platform-ops', { podSecurityLevel: 'privileged', clusterRole: 'admin' }))
    const parameters = { tierName: 'platform-ops' }
    await berth.kube.create(DeploymentTargetClasses, targetClass('ops', { provisioner: SANDBOX_PROVISIONER, parameters }))
    const shipped = await berth.kube.get(WorkspaceClasses, { name: 'default' })
    await berth.kube.create(WorkspaceClasses, workspaceClass('ops', { ...shipped?.spec, deploymentTargetClassName: 'ops' }))
    await apply(berth.kube, leaveForPrivileged())
    mallory = await berth.person('mallory', 'evil', 'edit')
    await berth.person('mallory', 'nook', 'edit')
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

  /** A claim of `nook` that is bound to a target which mallory has made, and of which she says that it was made for it. */
  const pinned = async (name: string, deploymentTargetClassName: string) => {
    const ref = { name, namespace: 'nook' }
    const notes = { annotations: { [annotations.provisionedBy]: SANDBOX_PROVISIONER } }
    await mallory.create(DeploymentTargets, target('nook', name, { deploymentTargetClassName }, notes))
    await mallory.create(DeploymentTargetClaims, claim('nook', name, { deploymentTargetClassName, targetName: name }))
    const { metadata } = await bound(ref)
    await mallory.patch(DeploymentTargets, ref, { metadata: { labels: { [labels.claimUid]: metadata.uid ?? '' } } })
    const asked = { metadata: { annotations: { [annotations.provisioner]: SANDBOX_PROVISIONER } } }
    await mallory.patch(DeploymentTargetClaims, ref, asked)
    return metadata.uid
  }
  const askedFor = async () => (await requestsIn('nook')).map(({ metadata }) => metadata.labels?.[labels.claimUid])

  it('make nothing for whoever may not use them and says that it was made before', async () => {
    await berth.kube.create(DeploymentTargetClasses, targetClass('gated', { provisioner: SANDBOX_PROVISIONER }))
    await mallory.create(Secrets, credentialsSecret('nook'))
    const gated = await pinned('gated', 'gated')
    const open = await pinned('open', 'isolation-level-namespace')
    // A target wakes nobody who makes spaces; a claim that is written does.
    let touched = 0
    await eventually(async () => {
      const note = { metadata: { annotations: { touched: String(touched++) } } }
      for (const name of ['gated', 'open']) await mallory.patch(DeploymentTargetClaims, { name, namespace: 'nook' }, note)
      const isRefused = berth.logOf('operator').includes('mallory may not use DeploymentTargetClass \\"gated\\"')
      return isRefused && (await askedFor()).includes(open)
    })
    is((await askedFor()).includes(gated), false)
  })

  it('give the spares of a pool to those only who may use the tier that they lead to', async () => {
    await berth.kube.create(SpaceTiers, spaceTier('roomy'))
    const parameters = { tierName: 'roomy' }
    await berth.kube.create(DeploymentTargetClasses, targetClass('roomy', { provisioner: SANDBOX_PROVISIONER, parameters }))
    const shipped = await berth.kube.get(WorkspaceClasses, { name: 'default' })
    const warmPool = { size: 1, namespaces: ['nook'] }
    await berth.kube.create(
      WorkspaceClasses,
      workspaceClass('roomy', { ...shipped?.spec, deploymentTargetClassName: 'roomy', warmPool }),
    )
    await expectObject(berth.kube, WorkspaceClasses, { name: 'roomy' }, ({ status }) => status?.warmPool?.ready === 1)
    // Credentials of a space that are not private are for all who work in the namespace.
    const shared = { provisioner: SANDBOX_PROVISIONER, parameters: { ...parameters, credentials: 'Shared' } }
    await berth.kube.create(DeploymentTargetClasses, targetClass('shared', shared))
    await berth.kube.create(
      WorkspaceClasses,
      workspaceClass('shared', { ...shipped?.spec, deploymentTargetClassName: 'shared', warmPool }),
    )
    await expectObject(berth.kube, WorkspaceClasses, { name: 'shared' }, ({ status }) =>
      JSON.stringify(status?.warmPool).includes('not everybody may use SpaceTier \\"roomy\\"'),
    )
    await allowUse(berth.kube, 'nook', 'mallory', { group: 'berth.dev', resource: 'workspaceclasses', name: 'roomy' })
    await mallory.create(Workspaces, workspace('nook', 'refused', { workspaceClassName: 'roomy' }))
    await expectObject(berth.kube, DeploymentTargetClaims, { name: 'workspace-refused', namespace: 'nook' }, ({ status }) =>
      JSON.stringify(status).includes('mallory may not use SpaceTier \\"roomy\\"'),
    )
    await allowUse(berth.kube, 'nook', 'mallory', { group: 'berth.dev', resource: 'spacetiers', name: 'roomy' })
    await mallory.create(Workspaces, workspace('nook', 'quick', { workspaceClassName: 'roomy' }))
    await expectObject(berth.kube, Workspaces, { name: 'quick', namespace: 'nook' }, ({ status }) =>
      /^warm-/.test(status?.target?.claimName ?? ''),
    )
  })
})
