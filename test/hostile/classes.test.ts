import { equal, is, match, ok } from 'uvu/assert'
import { isAllowed, type Kube } from '../../src/adapters/kube/index.ts'
import {
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
import { spaceRequest, spaceTier } from '../support/spaces.ts'
import { describe } from '../support/suite.ts'
import { claim, targetClass } from '../support/targets.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { bringUp, type Installation } from './installation.ts'

/** What decides what is made for people: mallory asks for what is meant for the platform's own, and for more than there is. */
describe('hostile: classes and tiers', (it) => {
  let berth: Installation
  let mallory: Kube
  it.before(async () => {
    berth = await bringUp(['team-a', 'evil'])
    await berth.kube.create(SpaceTiers, spaceTier('platform-ops', { podSecurityLevel: 'privileged', clusterRole: 'admin' }))
    const parameters = { tierName: 'platform-ops' }
    await berth.kube.create(DeploymentTargetClasses, targetClass('ops', { provisioner: SANDBOX_PROVISIONER, parameters }))
    await berth.kube.create(WorkspaceClasses, {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'WorkspaceClass',
      metadata: { name: 'ops' },
      spec: { deploymentTargetClassName: 'ops' },
    })
    mallory = await berth.person('mallory', 'evil', 'edit')
    // As the documentation says for classes that are not for everybody.
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
  })
  it.after(() => berth.stop())

  const workspace = (name: string, workspaceClassName?: string) => ({
    apiVersion: 'berth.dev/v1alpha1',
    kind: 'Workspace',
    metadata: { name, namespace: 'evil' },
    spec: workspaceClassName ? { workspaceClassName } : {},
  })
  const bound = (ref: Ref) => expectObject(berth.kube, DeploymentTargetClaims, ref, ({ status }) => status?.phase === 'Bound')
  const requestsIn = (namespace: string) => berth.kube.list(SpaceRequests, { namespace })

  it('are refused by every door to whoever has no leave, and a claim or workspace is no way around', async () => {
    const tierName = 'platform-ops'
    match(await refusalOf(mallory.create(SpaceRequests, spaceRequest('evil', 'root', { tierName }))), 'may not use SpaceTier')
    const ops = claim('evil', 'root', { deploymentTargetClassName: 'ops' })
    match(await refusalOf(mallory.create(DeploymentTargetClaims, ops)), 'may not use DeploymentTargetClass')
    match(await refusalOf(mallory.create(Workspaces, workspace('root', 'ops'))), 'may not use WorkspaceClass')
    // Asked for before there is such a class, or under another name first.
    match(await refusalOf(mallory.create(Workspaces, workspace('root', 'later'))), 'may not use WorkspaceClass')
    await mallory.create(SpaceRequests, spaceRequest('evil', 'plain', { tierName: 'appstudio-env' }))
    const changed = mallory.patch(SpaceRequests, { name: 'plain', namespace: 'evil' }, { spec: { tierName } })
    match(await refusalOf(changed), 'may not use SpaceTier')
    equal(
      (await requestsIn('evil')).map(({ spec }) => spec.tierName),
      ['appstudio-env'],
    )
  })

  it('that are shipped are for everybody, and others for whoever gets the verb', async () => {
    const { namespace } = await berth.space(mallory, 'evil', 'mine')
    ok(namespace.startsWith('evil'))
    await mallory.create(Workspaces, workspace('web'))
    await bound({ name: 'workspace-web', namespace: 'evil' })
    const ops = { group: 'appstudio.redhat.com', resource: 'deploymenttargetclasses', name: 'ops' }
    await allowUse(berth.kube, 'evil', 'mallory', ops)
    await mallory.create(DeploymentTargetClaims, claim('evil', 'ops', { deploymentTargetClassName: 'ops' }))
    await bound({ name: 'ops', namespace: 'evil' })
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
    await eventually(async () => equal(await told(), [204, most]) ?? true)
    const spaces = (await berth.kube.list(Namespaces)).filter(({ metadata }) => metadata.name.startsWith('evil-'))
    is(spaces.length, most)
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
