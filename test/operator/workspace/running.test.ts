import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import {
  type CoreSecret,
  conditionOf,
  Deployments,
  DeploymentTargetClaims,
  DeploymentTargets,
  finalizers,
  type Kind,
  PersistentVolumeClaims,
  Pods,
  Secrets,
  ServiceAccounts,
  Services,
  type Workspace,
  WorkspaceClasses,
  type WorkspaceSpec,
  Workspaces,
} from '../../../src/api/index.ts'
import { targetLifecycle } from '../../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../../src/operator/deployment-target-claim/binding/index.ts'
import { workspaces } from '../../../src/operator/workspace/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { claim, kubeconfigSecret, target } from '../../support/targets.ts'
import { eventually, expectGone, expectObject } from '../../support/verbs.ts'
import { workspaceClass } from '../../support/workspaces.ts'

const devfile = (image = 'example.com/tools:1', more = '') => `schemaVersion: 2.2.0
components:
  - name: tools
    container:
      image: ${image}
      endpoints: [{ name: web, targetPort: 8080 }]
      volumeMounts: [{ name: cache, path: /cache }]
  - { name: cache, volume: { size: 1Gi } }
${more}`

describe('workspace', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  const className = () => `class-${namespace}`

  /** The test's own API server as the target, and this namespace in it. */
  const server = (): string => parse(readFileSync(cluster.kubeconfig, 'utf8')).clusters[0].cluster.server
  const credentials = (): CoreSecret => kubeconfigSecret(namespace, readFileSync(cluster.kubeconfig))

  it.beforeEach(async () => {
    namespace = await cluster.namespace('workspace')
    await kube.create(Secrets, credentials())
    const kubernetesCredentials = { defaultNamespace: namespace, apiURL: server(), clusterCredentialsSecret: 'credentials' }
    await kube.create(DeploymentTargets, target(namespace, 'here', { kubernetesCredentials }))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'shared', { targetName: 'here' }))
    await kube.create(
      WorkspaceClasses,
      workspaceClass(className(), { dnsZone: 'workspaces.example.com', deploymentTargetClassName: 'by-hand' }),
    )
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [claimBinding(context), targetLifecycle(context), workspaces(context)],
    })
  })
  it.afterEach(async () => {
    const { kube: own } = operator
    for (const { metadata } of await own.list(Workspaces, { namespace })) {
      await own.delete(Workspaces, { name: metadata.name, namespace })
      await expectGone(kube, Workspaces, { name: metadata.name, namespace })
    }
    await operator.stop()
    await kube.delete(WorkspaceClasses, { name: className() })
  })
  it.after(() => cluster.close())

  const create = (name: string, spec: Partial<WorkspaceSpec> = {}): Promise<Workspace> =>
    kube.create(Workspaces, {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'Workspace',
      metadata: { name, namespace },
      spec: { workspaceClassName: className(), target: { claimName: 'shared' }, devfile: { inline: devfile() }, ...spec },
    })
  const set = (name: string, spec: Partial<WorkspaceSpec>) => kube.patch(Workspaces, { name, namespace }, { spec })
  const becomes = (name: string, state: string) =>
    expectObject(kube, Workspaces, { name, namespace }, ({ status }) => status?.actualState === state)
  const reason = (name: string, wanted: string) =>
    expectObject(
      kube,
      Workspaces,
      { name, namespace },
      ({ status }) => conditionOf(status?.conditions, 'Ready')?.reason === wanted,
    )
  const made = (name: string) => ({ name: `workspace-${name}`, namespace })

  it('runs: claim, objects, address, conditions with times', async () => {
    const { metadata } = await create('web')
    const { status } = await becomes('web', 'Running')
    const url = status?.url ?? ''
    assert.match(url, /^https:\/\/8080-web-[a-z0-9]{12}\.workspaces\.example\.com\/$/)
    assert.equal(status?.ports, [{ name: 'web', port: 8080, url }])
    assert.equal(status?.target, { claimName: 'shared', name: 'here', namespace, apiURL: server() })
    assert.is(status?.failure, undefined)
    for (const type of ['Ready', 'ClassResolved', 'DevfileValid', 'TargetReady', 'Applied', 'DeploymentReady']) {
      const condition = conditionOf(status?.conditions, type)
      assert.is(condition?.status, 'True', type)
      assert.ok(condition?.lastTransitionTime, type)
    }
    const deployment = await kube.get(Deployments, made('web'))
    const pod = deployment?.spec?.template.spec
    const template = deployment?.metadata.annotations?.['berth.dev/host-template'] ?? ''
    assert.is(`https://${template.replace('{{.port}}', '8080')}/`, url)
    assert.is(deployment?.metadata.labels?.['berth.dev/workspace-uid'], metadata.uid)
    assert.is(deployment?.spec?.strategy?.type, 'Recreate')
    assert.is(pod?.securityContext?.runAsNonRoot, true)
    assert.is(pod?.securityContext?.fsGroup, 0)
    assert.is(pod?.containers[0]?.securityContext?.allowPrivilegeEscalation, false)
    assert.is(pod?.automountServiceAccountToken, false)
    assert.is((await kube.get(ServiceAccounts, made('web')))?.automountServiceAccountToken, false)
    assert.is((await kube.get(Services, made('web')))?.spec?.ports?.[0]?.port, 8080)
  })

  it('stops with its data kept, and starts again', async () => {
    await create('data')
    await becomes('data', 'Running')
    const volume = await kube.get(PersistentVolumeClaims, made('data'))
    await set('data', { desiredState: 'Stopped' })
    const stopped = await becomes('data', 'Stopped')
    assert.ok(stopped.status?.stoppedAt)
    assert.ok(stopped.status?.willTerminateAt)
    assert.is((await kube.get(PersistentVolumeClaims, made('data')))?.metadata.uid, volume?.metadata.uid)
    await set('data', { desiredState: 'Running' })
    await becomes('data', 'Running')
  })

  it('restarts through Stopped and is desired Running afterwards', async () => {
    await create('again')
    await becomes('again', 'Running')
    const before = (await kube.list(Pods, { namespace }))[0]?.metadata.uid
    await set('again', { desiredState: 'RestartRequested' })
    await expectObject(kube, Workspaces, { name: 'again', namespace }, ({ spec }) => spec.desiredState === 'Running')
    await becomes('again', 'Running')
    await eventually(async () => {
      const pods = await kube.list(Pods, { namespace })
      return pods.length === 1 && pods[0]?.metadata.uid !== before
    })
  })

  it('makes a new pod when restartedAt is set to a later time', async () => {
    await create('later')
    await becomes('later', 'Running')
    const before = (await kube.list(Pods, { namespace }))[0]?.metadata.uid
    await set('later', { restartedAt: '2030-01-01T00:00:00Z' })
    await eventually(async () => {
      const pods = await kube.list(Pods, { namespace })
      return pods.length === 1 && pods[0]?.metadata.uid !== before
    })
    await expectObject(
      kube,
      Workspaces,
      { name: 'later', namespace },
      ({ status }) => status?.actualState === 'Running' && status.restartedAt === '2030-01-01T00:00:00Z',
    )
  })

  it('removes everything when Terminated, and stays so', async () => {
    await create('over')
    await becomes('over', 'Running')
    await set('over', { desiredState: 'Terminated' })
    const { metadata, status } = await becomes('over', 'Terminated')
    const kinds: Kind[] = [Deployments, Services, PersistentVolumeClaims, ServiceAccounts]
    for (const kind of kinds) assert.is(await kube.get(kind, made('over')), undefined, kind.kind)
    assert.is(status?.url, undefined)
    assert.not.ok(metadata.finalizers?.includes(finalizers.workspace))
    assert.ok(await kube.get(DeploymentTargetClaims, { name: 'shared', namespace }), 'a shared claim stays')
    const refused = await set('over', { desiredState: 'Running' }).catch((failure: Error) => failure)
    assert.match(refused instanceof Error ? refused.message : 'accepted', /Terminated is final/)
  })

  it('claims a target of its own, and gives it up at its end', async () => {
    const kubernetesCredentials = { defaultNamespace: namespace, apiURL: server(), clusterCredentialsSecret: 'credentials' }
    const spec: Partial<WorkspaceSpec> = { workspaceClassName: className(), devfile: { inline: devfile() } }
    await kube.create(Workspaces, {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'Workspace',
      metadata: { name: 'mine', namespace },
      spec,
    })
    const waiting = await reason('mine', 'ClaimPending')
    assert.is(waiting.status?.actualState, 'CreationRequested')
    assert.is(waiting.status?.waitingFor, 'DeploymentTargetClaim workspace-mine')
    await kube.create(DeploymentTargets, target(namespace, 'mine', { kubernetesCredentials }))
    const running = await becomes('mine', 'Running')
    const own = await kube.get(DeploymentTargetClaims, made('mine'))
    assert.is(own?.metadata.ownerReferences?.[0]?.uid, running.metadata.uid)
    await kube.delete(Workspaces, { name: 'mine', namespace })
    await expectGone(kube, Workspaces, { name: 'mine', namespace })
    await expectGone(kube, DeploymentTargetClaims, made('mine'))
    assert.is(await kube.get(PersistentVolumeClaims, made('mine')), undefined)
  })

  it('names every mistake of a devfile, and goes on when it is corrected', async () => {
    await create('typo', { devfile: { inline: devfile('""', 'parent: { uri: https://example.com }') } })
    const { status } = await becomes('typo', 'Error')
    assert.is(status?.failure?.reason, 'DevfileInvalid')
    const message = conditionOf(status?.conditions, 'DevfileValid')?.message ?? ''
    assert.match(message, /2 mistakes: line 5, column 14: components\[0\]\.container\.image.*; line 9.*parent/)
    assert.is(conditionOf(status?.conditions, 'Applied')?.status, 'Unknown')
    await set('typo', { devfile: { inline: devfile() } })
    const running = await becomes('typo', 'Running')
    assert.is(running.status?.failure, undefined)
  })

  it('waits for a class that is not there, and wakes when it comes', async () => {
    const name = `late-${namespace}`
    await create('early', { workspaceClassName: name })
    const { status } = await reason('early', 'ClassNotFound')
    assert.is(status?.actualState, 'CreationRequested')
    assert.is(status?.waitingFor, `WorkspaceClass ${name}`)
    await kube.create(WorkspaceClasses, workspaceClass(name))
    await becomes('early', 'Running')
    await kube.delete(WorkspaceClasses, { name })
    await set('early', { desiredState: 'Stopped' })
    await becomes('early', 'Stopped')
  })

  it('is Failed with cause and remedy when its image cannot be pulled, and recovers', async () => {
    await create('image', { devfile: { inline: devfile('fate.invalid/image-pull-failure') } })
    const { status } = await becomes('image', 'Failed')
    assert.is(status?.failure?.reason, 'ImageNotFound')
    assert.match(status?.failure?.cause ?? '', /^container tools of Pod/)
    assert.match(status?.failure?.remedy ?? '', /Correct the image/)
    await set('image', { devfile: { inline: devfile() } })
    await becomes('image', 'Running')
  })

  it('is Failed when its container crashes', async () => {
    await create('crash', { devfile: { inline: devfile('fate.invalid/crash-loop') } })
    const { status } = await becomes('crash', 'Failed')
    assert.is(status?.failure?.reason, 'CrashLoopBackOff')
  })

  it('stays Starting and says what it waits for while no node takes it', async () => {
    await create('large', { devfile: { inline: devfile().replace('image:', 'cpuRequest: 2k\n      image:') } })
    const { status } = await reason('large', 'Unschedulable')
    assert.is(status?.actualState, 'Starting')
    assert.match(status?.waitingFor ?? '', /Insufficient cpu/)
  })

  it('takes nothing that is not its own', async () => {
    await kube.create(Services, { apiVersion: 'v1', kind: 'Service', metadata: made('guest'), spec: { ports: [{ port: 1 }] } })
    await create('guest')
    const { status } = await becomes('guest', 'Error')
    assert.is(status?.failure?.reason, 'ObjectTaken')
    assert.match(status?.failure?.message ?? '', /Service workspace-guest in namespace/)
    await kube.delete(Workspaces, { name: 'guest', namespace })
    await expectGone(kube, Workspaces, { name: 'guest', namespace })
    assert.ok(await kube.get(Services, made('guest')))
  })

  it('repairs its Deployment when somebody changes it', async () => {
    await create('drift')
    await becomes('drift', 'Running')
    await kube.patch(Deployments, made('drift'), { spec: { replicas: 0 } })
    await expectObject(kube, Deployments, made('drift'), ({ spec }) => spec?.replicas === 1)
    await becomes('drift', 'Running')
  })

  it('sends nothing while nothing happens', async () => {
    await create('idle')
    await becomes('idle', 'Running')
    await operator.quiet()
    const before = { ...operator.requests }
    await set('idle', { ports: [] })
    await expectObject(
      kube,
      Workspaces,
      { name: 'idle', namespace },
      ({ status, metadata }) => status?.observedGeneration === metadata.generation,
    )
    await operator.quiet()
    const writes = (operator.requests.patch ?? 0) - (before.patch ?? 0)
    assert.is(writes <= 1, true, `only the status: ${JSON.stringify(operator.requests)}`)
  })

  it('freezes its variables when it is created', async () => {
    const secretKeyRef = { name: 'mine', key: 'token' }
    await create('vars', {
      variables: [
        { name: 'TOKEN', secretKeyRef },
        { name: 'NOTE', value: 'hello', type: 'file' },
      ],
    })
    const { status } = await becomes('vars', 'Error')
    assert.is(status?.failure?.reason, 'VariableNotFound')
    const unlabelled = /"TOKEN": there is no Secret mine labelled berth.dev\/workspace-variables=true in this namespace/
    assert.match(status?.failure?.message ?? '', unlabelled)
    const data = { token: Buffer.from('before').toString('base64') }
    const labels = { 'berth.dev/workspace-variables': 'true' }
    await kube.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'mine', namespace, labels }, data })
    await becomes('vars', 'Running')
    await kube.patch(Secrets, { name: 'mine', namespace }, { data: { token: Buffer.from('after').toString('base64') } })
    await set('vars', { desiredState: 'Stopped' })
    await becomes('vars', 'Stopped')
    const frozen = await kube.get(Secrets, { name: 'workspace-vars-variables', namespace })
    assert.equal(frozen?.data, { NOTE: Buffer.from('hello').toString('base64'), TOKEN: data.token })
    const container = (await kube.get(Deployments, made('vars')))?.spec?.template.spec?.containers[0]
    assert.is(container?.env?.find(({ name }) => name === 'NOTE')?.value, '/.workspace-data/variables/file/NOTE')
    assert.not.match(JSON.stringify(await kube.get(Workspaces, { name: 'vars', namespace })), /before|after/)
    await set('vars', { desiredState: 'Terminated' })
    await becomes('vars', 'Terminated')
    assert.is(await kube.get(Secrets, { name: 'workspace-vars-variables', namespace }), undefined)
  })

  it('goes on with new credentials', async () => {
    await create('rotated')
    await becomes('rotated', 'Running')
    await kube.patch(Secrets, { name: 'credentials', namespace }, { metadata: { annotations: { rotated: 'yes' } } })
    await set('rotated', { desiredState: 'Stopped' })
    await becomes('rotated', 'Stopped')
  })

  it('takes no more workspaces than its class allows, the oldest first', async () => {
    await kube.patch(WorkspaceClasses, { name: className() }, { spec: { workspacesQuota: 1 } })
    await eventually(() => operator.caches.of(WorkspaceClasses).get({ name: className() })?.spec.workspacesQuota === 1)
    await create('first')
    await becomes('first', 'Running')
    await create('second')
    await reason('second', 'WorkspaceQuotaExceeded')
    await set('first', { desiredState: 'Terminated' })
    await becomes('second', 'Running')
  })
})
