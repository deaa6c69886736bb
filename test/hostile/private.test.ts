import { equal, is, match } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import {
  annotations,
  type Condition,
  CoreEvents,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  Environments,
  kubeconfigIn,
  labels,
  Pods,
  ResourceQuotas,
  Secrets,
  SpaceRequests,
  type Workspace,
  WorkspaceClasses,
  Workspaces,
  YES,
} from '../../src/api/index.ts'
import { withTarget } from '../../src/engines/lookout/index.ts'
import { refusalOf } from '../support/refusal.ts'
import { spaceRequest } from '../support/spaces.ts'
import { describe } from '../support/suite.ts'
import { claim, credentialsSecret, target, targetClass } from '../support/targets.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { workspace, workspaceClass } from '../support/workspaces.ts'
import { bringUp, type Installation } from './installation.ts'

const NAMESPACE = 'team-a'
const CLASS = 'isolation-level-namespace'
const SANDBOX = 'appstudio.redhat.com/devsandbox'
const DEVFILE = 'schemaVersion: 2.2.0\ncomponents: [{ name: tools, container: { image: tools } }]\n'
const ref = (name: string) => ({ name, namespace: NAMESPACE })
const runs = ({ status }: Workspace) => status?.actualState === 'Running'
const saying =
  (words: string) =>
  ({ status = {} }: { status?: { conditions?: Condition[] } }) =>
    status.conditions?.some(({ reason, message }) => `${reason}: ${message}`.includes(words)) ?? false

/** Alice develops in `web`. Bob has `edit` in the namespace, as she has, and reads and writes what is in it. */
describe('hostile: the space behind another’s workspace', (it) => {
  let berth: Installation
  let alice: Kube
  let bob: Kube
  it.before(async () => {
    berth = await bringUp([NAMESPACE])
    alice = await berth.person('alice', NAMESPACE, 'edit')
    bob = await berth.person('bob', NAMESPACE, 'edit')
    await develop('web')
  })
  it.after(() => berth.stop())

  async function develop(name: string, spec: Partial<Workspace['spec']> = {}): Promise<void> {
    await alice.create(Workspaces, workspace(NAMESPACE, name, spec))
    await expectObject(berth.kube, Workspaces, ref(name), runs)
  }
  const classOf = async (name: string, credentials: string | undefined, spec: object = {}) => {
    const parameters = credentials === undefined ? {} : { credentials }
    await berth.kube.create(DeploymentTargetClasses, targetClass(name, { provisioner: SANDBOX, parameters }))
    await berth.kube.create(
      WorkspaceClasses,
      workspaceClass(name, { deploymentTargetClassName: name, devfile: DEVFILE, ...spec }),
    )
  }
  const spaceOf = async (claimName: string) => {
    const { spec } = await expectObject(
      berth.kube,
      DeploymentTargetClaims,
      ref(claimName),
      ({ status }) => status?.phase === 'Bound',
    )
    const found = await berth.kube.get(DeploymentTargets, ref(spec.targetName ?? ''))
    return found?.spec.kubernetesCredentials.defaultNamespace ?? ''
  }
  const kubeconfigs = async () =>
    (await bob.list(Secrets, { namespace: NAMESPACE })).filter(kubeconfigIn).map(({ metadata }) => metadata.name)
  const podsIn = async (as: Kube, space: string) =>
    (await as.list(Pods, { namespace: space })).map(({ metadata }) => metadata.labels?.[labels.workspace])

  it('has credentials that nobody reads beside its claim; its owner gets in under her own name', async () => {
    equal(await kubeconfigs(), [])
    const space = await spaceOf('workspace-web')
    match(await refusalOf(bob.list(Secrets, { namespace: space })), 'cannot list resource "secrets"')
    equal(await podsIn(alice, space), ['web'])
    const web = await berth.kube.get(Workspaces, ref('web'))
    const look = (as: Kube) => withTarget(as, web as Workspace, { reach: undefined }, podsIn)
    equal(await look(alice), ['web'])
    match(await refusalOf(look(bob)), 'only its owner sees into Workspace team-a/web')
  })

  it('is nobody’s who writes targets, claims and requests', async () => {
    const { metadata } = await expectObject(berth.kube, DeploymentTargetClaims, ref('workspace-web'), () => true)
    const [request] = await berth.kube.list(SpaceRequests, { namespace: NAMESPACE })
    const mine = { metadata: { annotations: { [annotations.privateTo]: 'bob' } } }
    const elsewhere = { spec: { kubernetesCredentials: { apiURL: 'https://evil.example', clusterCredentialsSecret: 'bobs' } } }
    const web = await berth.kube.get(Workspaces, ref('web'))
    const owners = [{ apiVersion: 'berth.dev/v1alpha1', kind: 'Workspace', name: 'web', uid: web?.metadata.uid ?? '' }]
    const words = 'the annotation berth.dev/private-to says whose a space is'
    match(await refusalOf(bob.patch(DeploymentTargetClaims, ref('workspace-web'), mine)), words)
    match(await refusalOf(bob.patch(DeploymentTargets, ref('workspace-web-dt'), mine)), words)
    match(await refusalOf(bob.patch(SpaceRequests, ref(request?.metadata.name ?? ''), mine)), words)
    match(await refusalOf(bob.create(DeploymentTargetClaims, claim(NAMESPACE, 'bobs', {}, mine.metadata))), words)
    match(await refusalOf(bob.patch(DeploymentTargets, ref('workspace-web-dt'), elsewhere)), "spec is Berth's to write")
    const moved = { metadata: { labels: { [labels.claimUid]: 'of-another' } } }
    match(
      await refusalOf(bob.patch(SpaceRequests, ref(request?.metadata.name ?? ''), moved)),
      'for whom a private space was made',
    )
    for (const note of [annotations.reclaimPolicy, annotations.spaceRequest, annotations.provisionedBy]) {
      const noted = { metadata: { annotations: { [note]: 'bobs' } } }
      match(await refusalOf(bob.patch(DeploymentTargets, ref('workspace-web-dt'), noted)), 'provisioned-by are Berth')
      match(await refusalOf(bob.patch(SpaceRequests, ref(request?.metadata.name ?? ''), noted)), 'provisioned-by are Berth')
    }
    const owned = claim(NAMESPACE, 'bobs', {}, { ownerReferences: owners })
    match(await refusalOf(bob.create(DeploymentTargetClaims, owned)), 'only Berth makes a workspace the owner')
    const volume = { metadata: { annotations: { [annotations.volume]: 'of-another' } } }
    match(
      await refusalOf(bob.patch(DeploymentTargetClaims, ref('workspace-web'), volume)),
      'which volume in a private space is the workspace',
    )
    const disowned = { metadata: { ownerReferences: [] } }
    match(
      await refusalOf(bob.patch(DeploymentTargetClaims, ref('workspace-web'), disowned)),
      'only Berth and the garbage collector take a workspace from the owners',
    )
    // In two steps: an owner of another kind, or of another name, which becomes the workspace later.
    for (const [name, other] of Object.entries({
      kind: { kind: 'Space' },
      group: { apiVersion: 'example.com/v1', kind: 'Space' },
    })) {
      const ownerReferences = owners.map((owner) => ({ ...owner, ...other }))
      await bob.create(DeploymentTargetClaims, claim(NAMESPACE, `owned-by-${name}`, {}, { ownerReferences }))
      const becoming = bob.patch(DeploymentTargetClaims, ref(`owned-by-${name}`), { metadata: { ownerReferences: owners } })
      match(await refusalOf(becoming), 'only Berth makes a workspace the owner')
      await bob.delete(DeploymentTargetClaims, ref(`owned-by-${name}`))
    }
    const spare = claim(NAMESPACE, 'bobs', {}, { labels: { [labels.warmPool]: 'of-a-class' } })
    match(await refusalOf(bob.create(DeploymentTargetClaims, spare)), 'which claims wait for a workspace')
    // One that says that it is the claim's, and is not private, is not the claim's.
    await bob.create(Secrets, credentialsSecret(NAMESPACE, 'bobs'))
    const claimRef = { name: 'workspace-web', uid: metadata.uid ?? '' }
    const forged = target(NAMESPACE, 'bobs', { claimRef, deploymentTargetClassName: CLASS })
    await bob.create(DeploymentTargets, forged)
    const marks = { [labels.claim]: 'workspace-web', [labels.claimUid]: metadata.uid ?? '' }
    await bob.create(SpaceRequests, spaceRequest(NAMESPACE, 'bobs', { tierName: 'appstudio-env' }, { labels: marks }))
    await expectObject(berth.kube, SpaceRequests, ref('bobs'), saying('Provisioned'))
    await develop('witness')
    const made = (await berth.kube.list(DeploymentTargets, { namespace: NAMESPACE })).filter(
      ({ metadata: { annotations: notes } }) => notes?.[annotations.spaceRequest]?.endsWith('/bobs'),
    )
    equal(made, [])
    const still = await berth.kube.get(DeploymentTargetClaims, ref('workspace-web'))
    is(still?.status?.target?.name, 'workspace-web-dt')
    await bob.delete(DeploymentTargets, ref('bobs'))
    await bob.delete(SpaceRequests, ref('bobs'))
    await eventually(async () => (await berth.kube.get(SpaceRequests, ref('bobs'))) === undefined)
    await bob.delete(Secrets, ref('bobs'))
  })

  it('is led to nobody else’s cluster while it is pending', async () => {
    const pending = claim(
      NAMESPACE,
      'pending',
      { deploymentTargetClassName: 'of-nobody' },
      { annotations: { [annotations.privateTo]: 'alice' } },
    )
    await berth.kube.create(DeploymentTargetClaims, pending)
    for (const spec of [{ deploymentTargetClassName: CLASS }, { targetName: 'bobs' }, { arch: 'arm64' }])
      match(await refusalOf(bob.patch(DeploymentTargetClaims, ref('pending'), { spec })), 'may change spec.resources only')
    await bob.patch(DeploymentTargetClaims, ref('pending'), { spec: { resources: { requests: { cpu: '1' } } } })
    await bob.delete(DeploymentTargetClaims, ref('pending'))
  })

  it('is shared with no other workspace, and given to no Environment', async () => {
    await bob.create(Workspaces, workspace(NAMESPACE, 'bobs', { target: { claimName: 'workspace-web' } }))
    await expectObject(berth.kube, Workspaces, ref('bobs'), saying('only the workspace that it was made for'))
    await bob.create(Environments, {
      apiVersion: 'appstudio.redhat.com/v1alpha1',
      kind: 'Environment',
      metadata: ref('bobs'),
      spec: {
        type: 'Non-POC',
        displayName: 'bobs',
        deploymentStrategy: 'Manual',
        configuration: { target: { deploymentTargetClaim: { claimName: 'workspace-web' } } },
      },
    })
    await expectObject(berth.kube, Environments, ref('bobs'), saying('its credentials are not given to an Environment'))
  })

  it('stays out of reach where its target is deleted and made again by another', async () => {
    await develop('doomed')
    const { metadata } = await expectObject(berth.kube, DeploymentTargetClaims, ref('workspace-doomed'), () => true)
    await bob.patch(DeploymentTargets, ref('workspace-doomed-dt'), {
      metadata: { annotations: { [annotations.confirmDeletion]: YES } },
    })
    await bob.delete(DeploymentTargets, ref('workspace-doomed-dt'))
    await expectObject(berth.kube, DeploymentTargetClaims, ref('workspace-doomed'), ({ status }) => status?.phase === 'Lost')
    await eventually(async () => (await berth.kube.get(DeploymentTargets, ref('workspace-doomed-dt'))) === undefined)
    await bob.create(Secrets, credentialsSecret(NAMESPACE, 'bobs'))
    const claimRef = { name: 'workspace-doomed', uid: metadata.uid ?? '' }
    const kubernetesCredentials = { ...target('', '').spec.kubernetesCredentials, clusterCredentialsSecret: 'bobs' }
    const forged = target(NAMESPACE, 'workspace-doomed-dt', {
      claimRef,
      deploymentTargetClassName: CLASS,
      kubernetesCredentials,
    })
    await bob.create(DeploymentTargets, forged)
    await expectObject(berth.kube, DeploymentTargets, ref('workspace-doomed-dt'), ({ status }) => status?.phase !== undefined)
    await develop('second-witness')
    const lost = await berth.kube.get(DeploymentTargetClaims, ref('workspace-doomed'))
    is(lost?.status?.phase, 'Lost')
    await bob.delete(DeploymentTargets, ref('workspace-doomed-dt'))
    await bob.delete(Secrets, ref('bobs'))
  })

  it('is its owner’s, too, where it waited for a workspace', async () => {
    await classOf('warm', undefined, { warmPool: { size: 1, namespaces: [NAMESPACE] } })
    await expectObject(berth.kube, WorkspaceClasses, { name: 'warm' }, ({ status }) => status?.warmPool?.ready === 1)
    equal(await kubeconfigs(), [])
    await develop('quick', { workspaceClassName: 'warm' })
    const quick = await berth.kube.get(Workspaces, ref('quick'))
    const claimName = quick?.status?.target?.claimName ?? ''
    match(claimName, /^warm-/)
    const space = await spaceOf(claimName)
    await eventually(async () => (await podsIn(alice, space).catch(() => []))[0] === 'quick')
    match(await refusalOf(podsIn(bob, space)), 'cannot list resource "pods"')
  })

  it('is as its class says: every claim of one that says Private, and none of one that says Shared', async () => {
    await classOf('all-private', 'Private')
    await bob.create(DeploymentTargetClaims, claim(NAMESPACE, 'vault', { deploymentTargetClassName: 'all-private' }))
    const space = await spaceOf('vault')
    equal(await kubeconfigs(), [])
    match(await refusalOf(podsIn(bob, space)), 'cannot list resource "pods"')
    await classOf('shared', 'Shared')
    await develop('open', { workspaceClassName: 'shared' })
    is((await kubeconfigs()).length, 1)
    await classOf('wrong', 'Hidden')
    await bob.create(DeploymentTargetClaims, claim(NAMESPACE, 'wrong', { deploymentTargetClassName: 'wrong' }))
    await eventually(async () =>
      (await berth.kube.list(CoreEvents, { namespace: NAMESPACE })).some(({ message }) =>
        message?.includes('parameters.credentials is "Hidden"'),
      ),
    )
  })

  it('has no quota of another’s workspace, whatever target that one has', async () => {
    await classOf('roomy', 'Shared')
    const own = await berth.space(bob, NAMESPACE, 'bobs-own', 'roomy')
    const { spec } = await expectObject(bob, DeploymentTargets, own.target, () => true)
    const { kubernetesCredentials: mine } = spec
    const space = await spaceOf('workspace-web')
    await berth.kube.create(DeploymentTargetClasses, targetClass('by-hand', { provisioner: 'nobody' }))
    await berth.kube.create(
      WorkspaceClasses,
      workspaceClass('by-hand', {
        deploymentTargetClassName: 'by-hand',
        devfile: DEVFILE.replace('image: tools', 'image: tools, cpuRequest: 1m, cpuLimit: 1m'),
        maxResourcesPerWorkspace: { requests: { cpu: '1m' }, limits: { cpu: '1m' } },
      }),
    )
    const forged = { deploymentTargetClassName: 'by-hand', kubernetesCredentials: { ...mine, defaultNamespace: space } }
    await bob.create(DeploymentTargets, target(NAMESPACE, 'bobs-way', forged))
    await bob.create(Workspaces, workspace(NAMESPACE, 'bobs-way', { workspaceClassName: 'by-hand' }))
    await expectObject(berth.kube, Workspaces, ref('bobs-way'), saying('forbidden'))
    equal(
      (await berth.kube.list(ResourceQuotas, { namespace: space })).map(({ metadata }) => metadata.name),
      ['tier'],
    )
    await bob.delete(Workspaces, ref('bobs-way'))
  })
})
