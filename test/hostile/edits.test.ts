import { equal, is, ok } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import {
  annotations,
  ConfigMaps,
  type CoreSecret,
  DeploymentTargetClaims,
  DeploymentTargets,
  Environments,
  finalizers,
  GitOpsDeploymentManagedEnvironments,
  keyOf,
  labels,
  Namespaces,
  ownedBy,
  refOf,
  SANDBOX_PROVISIONER,
  Secrets,
  type SpaceRequest,
  SpaceRequests,
} from '../../src/api/index.ts'
import { environment, viaClaim } from '../support/builders/environments.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { spaceRequest } from '../support/spaces.ts'
import { describe } from '../support/suite.ts'
import { target } from '../support/targets.ts'
import { eventually, expectGone, expectObject } from '../support/verbs.ts'
import { bringUp, type Installation, type Space, sourceOf } from './installation.ts'

const PROD = { name: 'prod', namespace: 'team-a' }
const mine = (name: string) => ({ name, namespace: 'evil' })

/** What Berth deletes and writes on behalf of an object, the object names; and who has `edit` in a namespace writes into what lies there. */
describe('hostile: names that are edited into what Berth made', (it) => {
  let berth: Installation
  let ada: Space
  let mallory: Kube
  let request: SpaceRequest
  it.before(async () => {
    berth = await bringUp(['team-a', 'evil'])
    ada = await berth.space(await berth.person('ada', 'team-a', 'edit'), 'team-a', 'prod')
    mallory = await berth.person('mallory', 'evil', 'edit')
    const [asked] = await berth.kube.list(SpaceRequests, { namespace: 'team-a' })
    ok(asked)
    request = asked
  })
  it.after(() => berth.stop())

  const marks = () => {
    const { [labels.claimUid]: uid = '' } = request.metadata.labels ?? {}
    return { [labels.claim]: 'prod', [labels.claimUid]: uid, [labels.target]: 'prod-dt' }
  }
  const assertAdas = async () => {
    is((await berth.kube.get(SpaceRequests, refOf(request)))?.metadata.deletionTimestamp, undefined)
    is((await berth.kube.get(Namespaces, { name: ada.namespace }))?.metadata.deletionTimestamp, undefined)
    is((await berth.kube.get(DeploymentTargetClaims, PROD))?.status?.target?.name, 'prod-dt')
    await ada.kube.list(ConfigMaps, { namespace: ada.namespace })
  }

  it('have nothing of another tenant deleted with a target: neither with her own nor with one written by hand', async () => {
    const { target: doomed } = await berth.space(mallory, 'evil', 'doomed')
    const notes = { [annotations.spaceRequest]: keyOf(refOf(request)), [annotations.provisionedBy]: SANDBOX_PROVISIONER }
    const metadata = { labels: marks(), annotations: { ...notes, [annotations.reclaimPolicy]: 'Delete' } }
    const kubernetesCredentials = { defaultNamespace: ada.namespace }
    await mallory.patch(DeploymentTargets, doomed, { metadata, spec: { kubernetesCredentials } })
    await mallory.delete(DeploymentTargetClaims, mine('doomed'))
    await expectGone(berth.kube, DeploymentTargets, doomed)
    const byHand = target('evil', 'prod-dt', {}, { ...metadata, finalizers: [finalizers.target, finalizers.provisioner] })
    await mallory.create(DeploymentTargets, byHand)
    await mallory.delete(DeploymentTargets, mine('prod-dt'))
    await expectGone(berth.kube, DeploymentTargets, mine('prod-dt'))
    await assertAdas()
  })

  it('make nobody else’s claim hers: a SpaceRequest with its marks, or one of hers that is given them later', async () => {
    const tierName = 'appstudio-env'
    await mallory.create(SpaceRequests, spaceRequest('evil', 'forged', { tierName }, { labels: marks() }))
    await mallory.create(SpaceRequests, spaceRequest('evil', 'changed', { tierName }))
    await mallory.patch(SpaceRequests, mine('changed'), { metadata: { labels: marks() } })
    // In her namespace there is no such claim: they are taken for what one has left behind.
    for (const name of ['forged', 'changed']) await expectGone(berth.kube, SpaceRequests, mine(name))
    const targets = await berth.kube.list(DeploymentTargets, { namespace: 'team-a' })
    equal(
      targets.map(({ metadata }) => metadata.annotations?.[annotations.spaceRequest]),
      [keyOf(refOf(request))],
    )
    await assertAdas()
  })

  it('carry no credentials out: a Secret that says it is that of another’s request stays as she wrote it', async () => {
    const held = await expectObject(berth.kube, SpaceRequests, refOf(request), ({ status }) => status?.namespaceAccess?.[0])
    const ref = { name: held.status?.namespaceAccess?.[0]?.secretRef ?? '', namespace: 'team-a' }
    const there = await berth.kube.get(Secrets, ref)
    const bait: CoreSecret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...mine(ref.name), labels: there?.metadata.labels ?? {}, ownerReferences: [ownedBy(request)] },
      data: {},
    }
    await mallory.create(Secrets, bait)
    // What makes the operator look for the Secret of this request, and write it.
    await berth.kube.delete(Secrets, ref)
    await expectObject(berth.kube, Secrets, ref, ({ data }) => data?.kubeconfig !== undefined)
    // The collector of garbage may have found out that its owner is in another namespace.
    equal((await berth.kube.get(Secrets, mine(ref.name)))?.data ?? {}, {})
    await assertAdas()
  })

  it('bring nothing to another’s space: her credentials are for her own, wherever her target leads', async () => {
    const space = await berth.space(mallory, 'evil', 'crooked')
    const kubernetesCredentials = { defaultNamespace: ada.namespace }
    await mallory.patch(DeploymentTargets, space.target, { spec: { kubernetesCredentials } })
    await mallory.create(Environments, environment('evil', 'crooked', viaClaim('crooked')))
    const led = ({ spec }: { spec: { namespaces?: string[] } }) => spec.namespaces?.includes(ada.namespace)
    const { metadata } = await eventually(async () =>
      (await berth.kube.list(GitOpsDeploymentManagedEnvironments, { namespace: 'evil' })).find(led),
    )
    const { url } = await berth.repository('evil', 'loot', { 'a.yaml': configMap('taken') })
    await berth.follow('evil', 'loot', {
      source: sourceOf(url),
      destination: { environment: metadata.name, namespace: ada.namespace },
    })
    await berth.told('evil', 'loot', /forbidden/i)
    is(await berth.kube.get(ConfigMaps, { name: 'taken', namespace: ada.namespace }), undefined)
    is(await berth.kube.get(ConfigMaps, { name: 'taken', namespace: space.namespace }), undefined)
  })
})
