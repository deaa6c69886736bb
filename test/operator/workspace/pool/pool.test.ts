import { equal, is, match, ok } from 'uvu/assert'
import {
  DeploymentTargetClaims,
  PersistentVolumeClaims,
  Secrets,
  WorkspaceClasses,
  Workspaces,
} from '../../../../src/api/index.ts'
import { retiredSince } from '../../../../src/operator/workspace/pool/spare.ts'
import { testCluster } from '../../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../../support/operator.ts'
import { describe } from '../../../support/suite.ts'
import { sweep } from '../../../support/sweep.ts'
import { eventually, expectGone } from '../../../support/verbs.ts'
import { giveCredentials, words } from '../fixture.ts'
import { census, fill, poolside, withoutClaim } from './poolside.ts'

describe('workspace: a warm pool', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  const { at, becomes, deleteAll } = words(cluster, () => namespace)
  const create = (name: string) => kube.create(Workspaces, withoutClaim(namespace, name))
  const count = () => census(cluster, namespace)
  const pool = async () => (await kube.get(WorkspaceClasses, { name: namespace }))?.status?.warmPool

  it.beforeEach(async () => {
    namespace = await cluster.namespace('workspace-pool')
  })
  it.afterEach(async () => {
    await deleteAll()
    await kube.delete(WorkspaceClasses, { name: namespace })
    await operator.stop()
    await sweep(kube, namespace)
  })
  it.after(() => cluster.close())

  const open = async (size: number, targets: number) => {
    await fill(cluster, namespace, { size, targets })
    operator = await startOperator({ kubeconfig: cluster.kubeconfig, namespace, controllers: poolside })
    await eventually(async () => (await pool())?.ready === size)
  }

  it('gives a workspace a claim and a volume that are there, fills up again, and loses nothing with its end', async () => {
    await open(2, 4)
    const before = await count()
    equal([before.spares.length, before.volumes.length], [2, 2])
    await create('web')
    const { status, metadata } = await becomes('web', 'Running')
    match(status?.target?.claimName ?? '', /^warm-/)
    const [volume = ''] = before.volumes.filter((name) => name === `warm-${claimUid(before, status?.target?.claimName)}`)
    const taken = await kube.get(PersistentVolumeClaims, at(volume))
    is(taken?.metadata.labels?.['berth.dev/workspace-uid'], metadata.uid)
    is(await kube.get(PersistentVolumeClaims, at('workspace-web')), undefined)
    await eventually(async () => (await pool())?.ready === 2 && (await count()).volumes.length === 3)

    await kube.delete(Workspaces, at('web'))
    await expectGone(kube, Workspaces, at('web'))
    await eventually(async () => {
      const after = await count()
      equal([after.owned.length, after.volumes.includes(volume)], [0, false])
      return true
    })
  })

  it('is shared by many that come at once, without two of them having the same', async () => {
    await open(4, 30)
    const names = Array.from({ length: 20 }, (_, n) => `web-${n}`)
    await Promise.all(names.map(create))
    const targets = await Promise.all(names.map(async (name) => (await becomes(name, 'Running')).status?.target))
    is(new Set(targets.map((each) => each?.claimName)).size, 20)
    is(new Set(targets.map((each) => each?.name)).size, 20)
    ok(targets.filter((each) => each?.claimName?.startsWith('warm-')).length >= 4)
    const { owned } = await count()
    equal(owned.length, 20)
    for (const { metadata } of owned) is(metadata.ownerReferences?.length, 1)
    await eventually(async () => (await pool())?.ready === 4)
  })

  it('follows its class: made anew for other volumes, smaller, and gone', async () => {
    await open(3, 8)
    const before = await count()
    await kube.patch(WorkspaceClasses, { name: namespace }, { spec: { storage: { size: '20Gi' }, warmPool: { size: 2 } } })
    await eventually(async () => {
      const { spares, volumes } = await count()
      equal([spares.length, volumes.length], [2, 2])
      ok(!spares.some(({ metadata }) => before.spares.some((old) => old.metadata.uid === metadata.uid)))
      return (await pool())?.ready === 2
    })
    await kube.patch(WorkspaceClasses, { name: namespace }, { spec: { warmPool: { size: 1 } } })
    await eventually(async () => (await count()).volumes.length === 1)
    await kube.delete(WorkspaceClasses, { name: namespace })
    await eventually(async () => {
      const { spares, volumes } = await count()
      equal([spares.length, volumes.length], [0, 0])
      return true
    })
  })

  it('is cleared by the next operator when its class goes while there is none', async () => {
    await open(1, 2)
    await operator.stop()
    await kube.delete(WorkspaceClasses, { name: namespace })
    operator = await startOperator({ kubeconfig: cluster.kubeconfig, namespace, controllers: poolside })
    await eventually(async () => {
      const { spares, volumes } = await count()
      return spares.length === 0 && volumes.length === 0
    })
  })

  it('takes no volume for gone while the way to its target is closed', async () => {
    await open(1, 2)
    const [spare] = (await count()).spares
    await kube.delete(Secrets, at('credentials'))
    await kube.delete(WorkspaceClasses, { name: namespace })
    await eventually(async () => {
      const now = await kube.get(DeploymentTargetClaims, at(spare?.metadata.name ?? ''))
      return !now || retiredSince(now) !== undefined
    })
    await giveCredentials(cluster, namespace)
    await eventually(async () => {
      const { spares, volumes } = await count()
      return spares.length === 0 && volumes.length === 0
    })
  })
})

const claimUid = ({ spares }: Awaited<ReturnType<typeof census>>, name: string | undefined) =>
  spares.find(({ metadata }) => metadata.name === name)?.metadata.uid
