import { equal, is, match, ok } from 'uvu/assert'
import {
  CoreEvents,
  Deployments,
  type Kind,
  labels,
  NetworkPolicies,
  PersistentVolumeClaims,
  Secrets,
  ServiceAccounts,
  Services,
  WorkspaceClasses,
  Workspaces,
} from '../../../src/api/index.ts'
import { hours, minutes, systemClock } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { deathsOf, dieAtEach, lifeOf, mortalLine, startMortalOperator } from '../../support/mortal.ts'
import { describe } from '../../support/suite.ts'
import { sweep } from '../../support/sweep.ts'
import { eventually, expectGone } from '../../support/verbs.ts'
import { authorityOf, everybody, prepareNamespace, words } from './fixture.ts'

const AT_ONCE = 12
const PATIENCE = { within: minutes(3) }
const KINDS: Kind[] = [Deployments, Services, NetworkPolicies, PersistentVolumeClaims, ServiceAccounts, Secrets]

/** What a person asks for while the operator dies. Before it there is one that lives, and after it the end. */
const SCENES = ['create', 'stop and start', 'restart', 'time is over', 'terminate'] as const
type Scene = (typeof SCENES)[number]

describe('an operator that is killed after any of its writes for a workspace', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  it.after(() => cluster.close())

  /** A life with an operator that dies in the scene after so many writes, at home or in the target, and is then replaced. */
  async function live(scene: Scene, writes: number): Promise<number> {
    const namespace = await cluster.namespace('workspace-sweep')
    const { at, create, set, becomes, expect } = words(cluster, () => namespace)
    // Events are told beside the work.
    const life = lifeOf(Number.POSITIVE_INFINITY, [CoreEvents.kind])
    const begin = () => Object.assign(life, { left: writes, written: 0 })
    const line = await mortalLine(kube.server, authorityOf(cluster), life)
    await prepareNamespace(cluster, namespace, { workspacesQuota: 1, maxActiveHoursBeforeStop: 1 }, line.url)
    let ahead = 0
    const clock = { ...systemClock, now: () => systemClock.now() + ahead }
    const operator = await startMortalOperator({ kubeconfig: cluster.kubeconfig, namespace, clock, controllers: everybody }, life)
    if (scene === 'create') begin()
    await create('web', { variables: [{ name: 'GREETING', value: 'hello' }] })
    await becomes('web', 'Running', PATIENCE)
    const volume = async () => (await kube.get(PersistentVolumeClaims, at('workspace-web')))?.metadata.uid
    const before = await volume()
    ok(before)

    if (scene !== 'create') begin()
    if (scene === 'stop and start') {
      await set('web', { desiredState: 'Stopped' })
      await becomes('web', 'Stopped', PATIENCE)
      await set('web', { desiredState: 'Running' })
      await becomes('web', 'Running', PATIENCE)
    }
    if (scene === 'restart') {
      await set('web', { desiredState: 'RestartRequested' })
      await expect('web', ({ spec, status }) => spec.desiredState === 'Running' && status?.actualState === 'Running', PATIENCE)
    }
    if (scene === 'time is over') {
      ahead = hours(2)
      await kube.patch(Workspaces, at('web'), { metadata: { annotations: { look: 'again' } } })
      const { status } = await becomes('web', 'Stopped', PATIENCE)
      match(status?.stoppedBecause ?? '', /^MaxActiveHours/)
    }
    is(await volume(), before, 'the same volume')
    let written = life.written
    const { metadata } = await set('web', { desiredState: 'Terminated' })
    await becomes('web', 'Terminated', PATIENCE)
    await expectNothing(namespace, metadata.uid)
    if (scene === 'terminate') written = life.written
    await kube.delete(Workspaces, at('web'))
    await expectGone(kube, Workspaces, at('web'), PATIENCE)
    if (writes === Number.POSITIVE_INFINITY) await expectFreePlace(namespace)
    await operator.stop()
    await line.close()
    await sweep(kube, namespace)
    await kube.delete(WorkspaceClasses, { name: namespace })
    return written
  }

  const expectNothing = (namespace: string, uid = '') =>
    eventually(async () => {
      const left = await Promise.all(
        KINDS.map(async (kind) => (await kube.list(kind, { namespace, labels: `${labels.workspaceUid}=${uid}` })).length),
      )
      equal(
        left,
        KINDS.map(() => 0),
      )
      return true
    }, PATIENCE)

  /** The class has one place only. */
  async function expectFreePlace(namespace: string): Promise<void> {
    const { at, create, becomes } = words(cluster, () => namespace)
    await create('next')
    await becomes('next', 'Running', PATIENCE)
    await kube.delete(Workspaces, at('next'))
    await expectGone(kube, Workspaces, at('next'), PATIENCE)
  }

  it('leaves what one that lives on leaves', async () => {
    const whole = await Promise.all(SCENES.map(async (scene) => ({ scene, count: await live(scene, Number.POSITIVE_INFINITY) })))
    for (const { scene, count } of whole) ok(count >= 4, `to ${scene} takes ${count} writes`)
    const deaths = whole.flatMap(({ scene, count }) => deathsOf(count, 1).map((writes) => ({ scene, writes })))
    await dieAtEach(deaths, AT_ONCE, ({ scene, writes }) => live(scene, writes))
  })
})
