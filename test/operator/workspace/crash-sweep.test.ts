import { equal, is, ok } from 'uvu/assert'
import {
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
import { minutes } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { dieAtEach, everyWrite, lifeOf, mortal } from '../../support/mortal.ts'
import { describe } from '../../support/suite.ts'
import { sweep } from '../../support/sweep.ts'
import { eventually, expectGone } from '../../support/verbs.ts'
import { openShop, type RunningShop } from '../../support/workshop.ts'
import { everybody, furnish, words } from './house.ts'

const AT_ONCE = 8
const PATIENCE = { within: minutes(3) }
const KINDS: Kind[] = [Deployments, Services, NetworkPolicies, PersistentVolumeClaims, ServiceAccounts, Secrets]

describe('an operator that is killed after any of its writes for a workspace', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  it.after(() => cluster.close())

  /** Create, stop, start, terminate, under an operator that dies after `writes` writes and is then replaced. */
  async function live(writes: number): Promise<number> {
    const namespace = await cluster.namespace('workspace-sweep')
    const { at, create, set, becomes } = words(cluster, () => namespace)
    await furnish(cluster, namespace, { workspacesQuota: 1 })
    const life = lifeOf(writes)
    const open = (kill: boolean) =>
      openShop({
        kubeconfig: cluster.kubeconfig,
        namespace,
        ...(kill && { via: (api) => mortal(api, life) }),
        controllers: everybody,
      })
    let shop: RunningShop = await open(true)
    const replaced = life.end.then(async () => {
      await shop.stop()
      shop = await open(false)
    })
    await create('web', { variables: [{ name: 'GREETING', value: 'hello' }] })
    await becomes('web', 'Running', PATIENCE)
    const volume = (await kube.get(PersistentVolumeClaims, at('workspace-web')))?.metadata.uid
    ok(volume)
    await set('web', { desiredState: 'Stopped' })
    await becomes('web', 'Stopped', PATIENCE)
    await set('web', { desiredState: 'Running' })
    await becomes('web', 'Running', PATIENCE)
    is((await kube.get(PersistentVolumeClaims, at('workspace-web')))?.metadata.uid, volume, 'the same volume')
    await set('web', { desiredState: 'Terminated' })
    await becomes('web', 'Terminated', PATIENCE)
    const uid = (await kube.get(Workspaces, at('web')))?.metadata.uid
    await eventually(async () => {
      const left = await Promise.all(
        KINDS.map(async (kind) => (await kube.list(kind, { namespace, labels: `${labels.workspaceUid}=${uid}` })).length),
      )
      equal(
        left,
        KINDS.map(() => 0),
      )
      return true
    }, PATIENCE)
    // Its place is free again; one life in four looks, each takes its time.
    const names = writes % 4 === 0 || writes === Number.POSITIVE_INFINITY ? ['web', 'next'] : ['web']
    if (names.length > 1) {
      await create('next')
      await becomes('next', 'Running', PATIENCE)
    }
    for (const name of names) await kube.delete(Workspaces, at(name))
    for (const name of names) await expectGone(kube, Workspaces, at(name), PATIENCE)
    if (life.left <= 0) await replaced
    await shop.stop()
    await sweep(kube, namespace)
    await kube.delete(WorkspaceClasses, { name: namespace })
    return life.written
  }

  it('leaves what one that lives on leaves', async () => {
    const whole = await live(Number.POSITIVE_INFINITY)
    ok(whole >= 12, `a whole life has ${whole} writes`)
    await dieAtEach(everyWrite(whole), AT_ONCE, live)
  })
})
