import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import {
  type AnyObject,
  conditionOf,
  Deployments,
  DeploymentTargetClaims,
  DeploymentTargets,
  GitProjects,
  type Kind,
  PersistentVolumeClaims,
  Secrets,
  type Workspace,
  WorkspaceClasses,
  type WorkspaceSpec,
  Workspaces,
} from '../../../src/api/index.ts'
import { targetLifecycle } from '../../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../../src/operator/deployment-target-claim/binding/index.ts'
import { workspaces } from '../../../src/operator/workspace/index.ts'
import { createLog, isFailure, minutes, seconds, systemClock } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { claim, kubeconfigSecret, target } from '../../support/targets.ts'
import { eventually, expectGone, expectObject } from '../../support/verbs.ts'
import { workspaceClass } from '../../support/workspaces.ts'

interface Told extends AnyObject {
  type: string
  reason: string
  message: string
  involvedObject: { name: string }
}
const Events: Kind<Told> = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true }
const inline = 'schemaVersion: 2.2.0\ncomponents: [{ name: tools, container: { image: "example.com/tools:1" } }]'

describe('workspace: removal', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  /** Milliseconds by which the operator's clock is ahead. */
  let ahead = 0
  /** After how many milliseconds the operator wanted to look again, each time. */
  const looks: number[] = []
  const log = createLog('debug', {
    write(line: string) {
      const { message, after } = JSON.parse(line)
      if (message === 'again') looks.push(after)
    },
  })
  const ref = () => ({ name: 'web', namespace })
  const made = () => ({ name: 'workspace-web', namespace })

  it.beforeEach(async () => {
    ahead = 0
    namespace = await cluster.namespace('workspace-removal')
    const apiURL: string = parse(readFileSync(cluster.kubeconfig, 'utf8')).clusters[0].cluster.server
    await kube.create(Secrets, kubeconfigSecret(namespace, readFileSync(cluster.kubeconfig)))
    const kubernetesCredentials = { defaultNamespace: namespace, apiURL, clusterCredentialsSecret: 'credentials' }
    await kube.create(DeploymentTargets, target(namespace, 'here', { kubernetesCredentials }))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'shared', { targetName: 'here' }))
    await kube.create(WorkspaceClasses, workspaceClass(namespace, { editor: { image: 'example.com/editor:1' } }))
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      log,
      clock: { ...systemClock, now: () => systemClock.now() + ahead },
      controllers: (context) => [claimBinding(context), targetLifecycle(context), workspaces(context)],
    })
  })
  it.afterEach(async () => {
    await operator.stop()
    await kube.delete(WorkspaceClasses, { name: namespace })
  })
  it.after(() => cluster.close())

  const create = (more: Partial<WorkspaceSpec> = {}) => {
    const spec = { workspaceClassName: namespace, target: { claimName: 'shared' }, devfile: { inline }, ...more }
    return kube.create(Workspaces, { apiVersion: 'berth.dev/v1alpha1', kind: 'Workspace', metadata: ref(), spec })
  }
  async function running(): Promise<Workspace> {
    await create()
    return expectObject(kube, Workspaces, ref(), ({ status }) => status?.actualState === 'Running')
  }
  /** The operator has heard that they are gone: or it would rightly use them once more. */
  const loseCredentials = async () => {
    await kube.delete(Secrets, { name: 'credentials', namespace })
    await expectObject(kube, Workspaces, ref(), ({ status }) => status?.failure?.reason === 'CredentialsMissing')
  }
  const waitsFor = (what: string) =>
    expectObject(kube, Workspaces, ref(), ({ status }) => status?.actualState === 'Terminating' && status.waitingFor === what)
  const told = async (reason: string) =>
    (await kube.list(Events, { namespace })).find((event) => event.involvedObject.name === 'web' && event.reason === reason)

  it('waits for a Secret that is being replaced, says so, and removes everything then', async () => {
    await running()
    await loseCredentials()
    await kube.delete(Workspaces, ref())
    const { status } = await waitsFor('Secret credentials')
    const removed = conditionOf(status?.conditions, 'Removed')
    assert.is(removed?.status, 'False')
    assert.match(removed?.message ?? '', /^waiting for Secret credentials, to remove what is in namespace .* after 5 minutes/)
    assert.ok(await kube.get(Deployments, made()))
    await kube.create(Secrets, kubeconfigSecret(namespace, readFileSync(cluster.kubeconfig)))
    await expectGone(kube, Workspaces, ref())
    assert.is(await kube.get(Deployments, made()), undefined)
    assert.is(await kube.get(PersistentVolumeClaims, made()), undefined)
  })

  it('waits for a claim that is not Bound for a moment', async () => {
    await running()
    await operator.stop()
    // Nobody but the workspaces is at work: what is written here stays.
    operator = await startOperator({ kubeconfig: cluster.kubeconfig, namespace, controllers: (context) => [workspaces(context)] })
    const claimRef = { name: 'shared', namespace }
    await kube.patch(DeploymentTargetClaims, claimRef, { status: { phase: 'Pending' } }, { subresource: 'status' })
    await eventually(() => operator.caches.of(DeploymentTargetClaims).get(claimRef)?.status?.phase === 'Pending')
    await kube.patch(Workspaces, ref(), { spec: { desiredState: 'Terminated' } })
    await waitsFor('DeploymentTargetClaim shared')
    await kube.patch(DeploymentTargetClaims, claimRef, { status: { phase: 'Bound' } }, { subresource: 'status' })
    const over = await expectObject(kube, Workspaces, ref(), ({ status }) => status?.actualState === 'Terminated')
    assert.is(conditionOf(over.status?.conditions, 'Removed')?.status, 'True')
    assert.is(await kube.get(Deployments, made()), undefined)
    await kube.delete(Workspaces, ref())
  })

  it('leaves behind what it cannot reach for five minutes, and says what', async () => {
    await running()
    await loseCredentials()
    await kube.delete(Workspaces, ref())
    await waitsFor('Secret credentials')
    ahead = minutes(6)
    // It may be gone already: who waits looks again from time to time.
    await kube.patch(Workspaces, ref(), { metadata: { annotations: { look: 'again' } } }).catch((thrown: unknown) => {
      if (!isFailure(thrown, 'not-found')) throw thrown
    })
    await expectGone(kube, Workspaces, ref())
    const event = await eventually(() => told('LeftBehind'))
    assert.match(event.message, new RegExp(`namespace ${namespace} of .* could not be removed: there is no Secret credentials`))
  })

  it('does not wait when its target is gone for good', async () => {
    await running()
    await kube.delete(Secrets, { name: 'credentials', namespace })
    await kube.delete(DeploymentTargetClaims, { name: 'shared', namespace })
    await kube.delete(DeploymentTargets, { name: 'here', namespace })
    await kube.delete(Workspaces, ref())
    await expectGone(kube, Workspaces, ref())
  })

  it('looks at a volume that stays less and less often', async () => {
    await running()
    await kube.patch(PersistentVolumeClaims, made(), { metadata: { finalizers: ['example.com/hold'] } })
    await kube.delete(Workspaces, ref())
    await waitsFor('PersistentVolumeClaim workspace-web')
    const wakeAfter = async (passed: number) => {
      ahead = passed
      looks.length = 0
      await kube.patch(Workspaces, ref(), { metadata: { annotations: { look: `after ${passed}` } } })
      return eventually(() => looks.find((wait) => wait >= Math.min(passed, seconds(30))))
    }
    // As long as it has been so far, which is longer on a busy machine, and no longer than half a minute.
    assert.ok((await wakeAfter(seconds(10))) <= seconds(30))
    assert.is(await wakeAfter(minutes(2)), seconds(30))
    await kube.patch(PersistentVolumeClaims, made(), { metadata: { finalizers: null } })
    await kube.patch(Workspaces, ref(), { metadata: { annotations: { look: 'again' } } })
    await expectGone(kube, Workspaces, ref())
  })

  it('tells its life in Events, and what is missing in conditions', async () => {
    await create({ project: { gitProject: 'nowhere' } })
    const missing = (now: Workspace) => now.status?.failure?.reason === 'GitProjectNotFound'
    const { status } = await expectObject(kube, Workspaces, ref(), missing)
    assert.equal([status?.actualState, status?.waitingFor], ['CreationRequested', 'GitProject nowhere'])
    const found = conditionOf(status?.conditions, 'ProjectFound')
    assert.match(found?.message ?? '', /gitProject: there is no GitProject nowhere in this namespace\. Create it/)
    assert.is((await eventually(() => told('GitProjectNotFound'))).type, 'Warning')
    await kube.create(GitProjects, {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'GitProject',
      metadata: { name: 'nowhere', namespace },
      spec: { path: `${namespace}/nowhere`, url: 'https://git.example.com/nowhere.git' },
    })
    await expectObject(
      kube,
      Workspaces,
      ref(),
      (now) => conditionOf(now.status?.conditions, 'ProjectCloned')?.reason === 'Cloned',
    )
    assert.is((await eventually(() => told('Running'))).type, 'Normal')
    await kube.patch(Workspaces, ref(), { spec: { desiredState: 'Terminated' } })
    await eventually(() => told('Terminated'))
    await kube.delete(Workspaces, ref())
  })
})
