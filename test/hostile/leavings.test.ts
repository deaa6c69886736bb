import { is, ok } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import { ConfigMaps, conditionOf, DeploymentTargetClaims, DeploymentTargets, Secrets, Workspaces } from '../../src/api/index.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { answeringServer, type StrangeServer } from '../support/builders/strange-server.ts'
import { LIMIT } from '../support/shipped-limit.ts'
import { describe } from '../support/suite.ts'
import { claim, kubeconfigFor, kubeconfigSecret, target } from '../support/targets.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { workspace } from '../support/workspaces.ts'
import { bringUp, type Installation, sourceOf } from './installation.ts'

/** Of each kind; the largest list that a stranger may show, and one that is larger. */
const MANY = 10_000
const TOO_MANY = 100_000
/** Of each kind so many are asked to go before it is listed again. */
const AT_ONCE = 100

/** Mallory's workspace ends in a cluster of her own, which says that any number of objects belong to it. */
describe('hostile: what a workspace leaves behind', (it) => {
  let berth: Installation
  let mallory: Kube
  let cluster: StrangeServer
  let count = 0
  /** Jobs that were asked to go since they were listed, and the most of them so far. */
  let asked = 0
  let most = 0
  const list = () => `{"metadata":{"resourceVersion":"1"},"items":[${new Array(count).fill('{"metadata":{"name":"a"}}')}]}`
  it.before(async () => {
    cluster = await answeringServer((request, response) => {
      const { method, url = '' } = request
      const answer = (value: object) => response.end(JSON.stringify(value))
      if (url === '/version') answer({ major: '1', minor: '36', gitVersion: 'v1.36.0' })
      else if (method === 'DELETE') {
        if (url.includes('/jobs/')) most = Math.max(most, ++asked)
        answer({ metadata: { name: 'a', deletionTimestamp: '2026-01-01T00:00:00Z' } })
      } else if (method === 'PATCH' || method === 'POST') request.pipe(response)
      else if (url.includes('workspace-uid%3D')) {
        if (url.includes('/jobs?')) asked = 0
        response.end(list())
      } else if (url.includes('labelSelector')) answer({ metadata: { resourceVersion: '1' }, items: [] })
      else response.writeHead(404).end('{"kind":"Status","code":404,"reason":"NotFound","details":{"name":"a"}}')
    })
    berth = await bringUp(['team-a', 'evil'])
    mallory = await berth.person('mallory', 'evil', 'edit')
    await mallory.create(Secrets, kubeconfigSecret('evil', kubeconfigFor(cluster.url)))
    const kubernetesCredentials = {
      defaultNamespace: 'evil',
      apiURL: cluster.url,
      clusterCredentialsSecret: 'credentials',
      allowInsecureSkipTLSVerify: true,
    }
    await mallory.create(DeploymentTargets, target('evil', 'mine', { kubernetesCredentials }))
    await mallory.create(DeploymentTargetClaims, claim('evil', 'mine', { targetName: 'mine' }))
    await expectObject(
      berth.kube,
      DeploymentTargetClaims,
      { name: 'mine', namespace: 'evil' },
      ({ status }) => status?.phase === 'Bound',
    )
  })
  it.after(async () => {
    await berth.stop()
    await cluster.close()
  })

  /** The workspace goes, and what it waits for is told. */
  const end = async (name: string, objects: number, words: RegExp) => {
    await mallory.create(Workspaces, workspace('evil', name, { target: { claimName: 'mine' } }))
    const ref = { name, namespace: 'evil' }
    await expectObject(berth.kube, Workspaces, ref, ({ status }) => status?.target !== undefined)
    count = objects
    await mallory.delete(Workspaces, ref)
    // What it says is in the failure, should it say something else.
    await eventually(async () => {
      const { status } = (await berth.kube.get(Workspaces, ref)) ?? {}
      const said = conditionOf(status?.conditions, 'Removed')?.message ?? ''
      ok(words.test(said), said)
      return true
    })
  }
  const goesOn = async (name: string) => {
    const { url } = await berth.repository('team-a', name, { 'cm.yaml': configMap(name, {}, 'team-a') })
    await berth.follow('team-a', name, { source: sourceOf(url) })
    await expectObject(berth.kube, ConfigMaps, { name, namespace: 'team-a' }, () => true)
  }

  it('is removed a few at a time, however much it is said to be', async () => {
    await end('many', MANY, /removing .*, \d+ more/)
    await goesOn('many')
    is(most, AT_ONCE)
  })

  it('is not taken in where there is no end of it', async () => {
    await end('endless', TOO_MANY, /has 100000 objects, more than 10000/)
    await goesOn('endless')
    ok(berth.peakOf('operator') < LIMIT)
  })
})
