import { equal, is, match, ok } from 'uvu/assert'
import {
  CustomResourceDefinitions,
  conditionOf,
  Jobs,
  type Kind,
  type KubeObject,
  PersistentVolumeClaims,
  WorkspaceClasses,
  Workspaces,
} from '../../../../src/api/index.ts'
import { testCluster } from '../../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../../support/operator.ts'
import { describe } from '../../../support/suite.ts'
import { apply, eventually } from '../../../support/verbs.ts'
import { everybody, prepareNamespace, words, workspaceNamed } from '../fixture.ts'

const Snapshots: Kind<KubeObject & { spec?: unknown; status?: unknown }> = {
  group: 'snapshot.storage.k8s.io',
  version: 'v1',
  kind: 'VolumeSnapshot',
  plural: 'volumesnapshots',
  namespaced: true,
}

/** The shape that clusters with snapshots have. */
const SNAPSHOTS = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: volumesnapshots.snapshot.storage.k8s.io
  annotations: { api-approved.kubernetes.io: 'https://github.com/kubernetes-csi/external-snapshotter/pull/419' }
spec:
  group: snapshot.storage.k8s.io
  names: { kind: VolumeSnapshot, listKind: VolumeSnapshotList, plural: volumesnapshots, singular: volumesnapshot, shortNames: [vs] }
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      subresources: { status: {} }
      schema:
        openAPIV3Schema:
          type: object
          required: [spec]
          properties:
            apiVersion: { type: string }
            kind: { type: string }
            spec:
              type: object
              required: [source]
              properties:
                volumeSnapshotClassName: { type: string }
                source:
                  type: object
                  properties:
                    persistentVolumeClaimName: { type: string }
                    volumeSnapshotContentName: { type: string }
                  oneOf:
                    - required: [persistentVolumeClaimName]
                    - required: [volumeSnapshotContentName]
            status:
              type: object
              properties:
                boundVolumeSnapshotContentName: { type: string }
                creationTime: { type: string, format: date-time }
                readyToUse: { type: boolean }
                restoreSize: { type: string, x-kubernetes-int-or-string: true }
                error: { type: object, properties: { message: { type: string }, time: { type: string, format: date-time } } }
`

describe('workspace: backups', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  const { at, create, set, becomes, expect, deleteAll } = words(cluster, () => namespace)

  const open = async () => {
    namespace = await cluster.namespace('workspace-backup')
    await prepareNamespace(cluster, namespace, { backup: { onStop: true, keep: 1 } })
    operator = await startOperator({ kubeconfig: cluster.kubeconfig, namespace, controllers: everybody })
  }
  it.afterEach(async () => {
    await deleteAll()
    equal((await kube.list(PersistentVolumeClaims, { namespace })).length, 0)
    await operator.stop()
    await kube.delete(WorkspaceClasses, { name: namespace })
  })
  it.after(() => cluster.close())

  it('are archives where the target has no snapshots, and their failure is told and ends nothing', async () => {
    await open()
    await create('web')
    await becomes('web', 'Running')
    await set('web', { desiredState: 'Stopped' })
    const stopped = await expect('web', ({ status }) => status?.backups?.[0]?.state === 'Running')
    is(stopped.status?.actualState, 'Stopped')
    const [{ name = '', kind = '' } = {}] = stopped.status?.backups ?? []
    is(kind, 'Archive')
    const pod = (await kube.get(Jobs, at(name)))?.spec?.template.spec
    equal(pod?.containers[0]?.command?.slice(3), [name, '/.workspace-data/volume', '/.workspace-data/archives', '1'])
    await kube.delete(Jobs, at(name), { propagation: 'Background' })
    const failed = await expect('web', ({ status }) => status?.backups?.[0]?.state === 'Failed')
    match(conditionOf(failed.status?.conditions, 'BackedUp')?.message ?? '', /was removed before it ended/)
    is(failed.status?.actualState, 'Stopped')
  })

  it('are snapshots where the target has them, as many as are kept, and are restored by their owner only', async () => {
    await apply(kube, SNAPSHOTS)
    await eventually(async () =>
      (await kube.get(CustomResourceDefinitions, { name: 'volumesnapshots.snapshot.storage.k8s.io' }))?.status?.conditions?.some(
        (each) => each.type === 'Established' && each.status === 'True',
      ),
    )
    await open()
    await create('web')
    const backups: string[] = []
    for (const round of [1, 2]) {
      await set('web', { desiredState: 'Running' })
      await becomes('web', 'Running')
      await set('web', { desiredState: 'Stopped' })
      const { status } = await expect(
        'web',
        (seen) => seen.status?.backups?.[0]?.state === 'Running' && seen.status.backups[0].name !== backups[0],
      )
      const name = status?.backups?.[0]?.name ?? ''
      is(status?.backups?.[0]?.kind, 'VolumeSnapshot', `round ${round}`)
      equal((await kube.get(Snapshots, at(name)))?.spec, { source: { persistentVolumeClaimName: 'workspace-web' } })
      await kube.patch(Snapshots, at(name), { status: { readyToUse: true, restoreSize: '12Gi' } }, { subresource: 'status' })
      await expect('web', (seen) => seen.status?.backups?.[0]?.state === 'Ready')
      backups.unshift(name)
    }
    const kept = async () => (await kube.list(Snapshots, { namespace })).map(({ metadata }) => metadata.name)
    await eventually(async () => (await kept()).length === 1)
    equal(await kept(), [backups[0]])

    const eve = kube.as({ user: 'eve', groups: ['system:masters'] })
    await eve.create(Workspaces, workspaceNamed(namespace, 'stranger', { restoreFrom: { workspace: 'web' } }))
    const refused = await expect('stranger', (seen) => seen.status?.failure?.reason === 'RestoreNotAllowed')
    match(refused.status?.failure?.message ?? '', /Workspace web is not of the same owner/)
    is(await kube.get(PersistentVolumeClaims, at('workspace-stranger')), undefined)

    await create('again', { restoreFrom: { workspace: 'web' } })
    const { spec } = await eventually(() => kube.get(PersistentVolumeClaims, at('workspace-again')))
    equal([spec?.dataSource?.kind, spec?.dataSource?.name], ['VolumeSnapshot', backups[0]])
    equal(spec?.resources?.requests, { storage: '12Gi' })
    const again = await becomes('again', 'Running')
    is(again.status?.restoredFrom?.name, backups[0])
    ok((await kube.list(Snapshots, { namespace })).length === 1)
  })
})
