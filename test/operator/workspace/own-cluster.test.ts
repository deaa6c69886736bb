import { isDeepStrictEqual } from 'node:util'
import { equal, is, ok } from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import {
  conditionOf,
  Deployments,
  DeploymentTargets,
  NetworkPolicies,
  Secrets,
  ServiceAccounts,
  WorkspaceClasses,
  type WorkspaceSpec,
  Workspaces,
} from '../../../src/api/index.ts'
import type { ControllerContext } from '../../../src/engines/controller/index.ts'
import { targetLifecycle } from '../../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../../src/operator/deployment-target-claim/binding/index.ts'
import { workspaces } from '../../../src/operator/workspace/index.ts'
import { Failure, minutes } from '../../../src/std/index.ts'
import { deployer } from '../../support/builders/credentials.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { sweep } from '../../support/sweep.ts'
import { eventually, expectObject } from '../../support/verbs.ts'
import { prepareNamespace, workspaceNamed } from './fixture.ts'

/** One object, for all workspaces: how the proxy is reached over SSH. */
const GATEWAY = '/namespaces/berth-system/configmaps?fieldSelector=metadata.name%3Dberth-proxy-ssh&'

describe("targets in the operator's own cluster", (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let homes: string[] = []
  /** Requests to targets by verb. A pod that is slow to start is watched there, too. */
  let asked: Record<string, number> = {}
  /** What the operator watches as itself: at this moment, and what it has watched twice at a time. */
  let watches = new Set<string>()
  let twice = new Set<string>()

  it.beforeEach(async () => {
    homes = [await cluster.namespace('own-one'), await cluster.namespace('own-two')]
    asked = {}
    watches = new Set()
    twice = new Set()
  })
  it.afterEach(async () => {
    await operator.stop()
    for (const namespace of homes) {
      for (const { metadata } of await kube.list(Workspaces, { namespace }))
        await kube.patch(Workspaces, metadata, { metadata: { finalizers: null } })
      await sweep(kube, namespace)
      await kube.delete(WorkspaceClasses, { name: namespace })
    }
  })
  it.after(() => cluster.close())

  const meter = ({ verb }: { verb: string }) => {
    asked[verb] = (asked[verb] ?? 0) + 1
  }
  const everybody = (context: ControllerContext) => [
    claimBinding(context),
    targetLifecycle(context),
    workspaces(context, { own: [kube.server], meter }),
  ]
  const open = async (via = (own: Kube): Kube => own) => {
    const [namespace = '', ...neighbours] = homes
    const options = { kubeconfig: cluster.kubeconfig, namespace, neighbours, controllers: everybody }
    operator = await startOperator({ ...options, via: (own) => noting(via(own)) })
  }
  const noting = (own: Kube): Kube => ({
    ...own,
    async stream(path, options) {
      const watch = path.replace(/&?resourceVersion=[^&]*/, '')
      if (watches.has(watch)) twice.add(watch)
      const lines = await own.stream(path, options)
      watches.add(watch)
      return (async function* () {
        try {
          yield* lines
        } finally {
          // One that the server closes is opened again.
          watches.delete(watch)
        }
      })()
    },
  })
  const watchesAllPods = () => [...watches].some((path) => path.startsWith('/api/v1/pods?'))
  const create = (namespace: string, spec?: WorkspaceSpec) => kube.create(Workspaces, workspaceNamed(namespace, 'web', spec))
  const becomes = (namespace: string, state: string) =>
    expectObject(kube, Workspaces, { name: 'web', namespace }, ({ status }) => status?.actualState === state)

  /** Each is seen to run, is stopped by itself, and repaired. */
  const liveIn = async (namespace: string) => {
    await prepareNamespace(cluster, namespace)
    await create(namespace)
    await becomes(namespace, 'Running')
    const made = { name: 'workspace-web', namespace }
    await kube.patch(Deployments, made, { spec: { replicas: 0 } })
    await expectObject(kube, Deployments, made, ({ spec }) => spec?.replicas === 1)
    await kube.patch(Workspaces, { name: 'web', namespace }, { spec: { desiredState: 'Stopped' } })
    await becomes(namespace, 'Stopped')
  }

  it('share one watch per kind, whatever their credentials', async () => {
    await open()
    for (const home of homes) await liveIn(home)
    equal(
      [...watches].filter((path) => path.includes('/namespaces/') && !path.includes(GATEWAY)),
      [],
    )
    await eventually(watchesAllPods)
    equal([...twice], [])
  })

  it('have what a workspace has beside its pods put back while it runs, whoever has removed or changed it', async () => {
    await open()
    const [namespace = ''] = homes
    await prepareNamespace(cluster, namespace)
    await create(namespace)
    await becomes(namespace, 'Running')
    const made = { name: 'workspace-web', namespace }
    const policy = await expectObject(kube, NetworkPolicies, made, () => true)
    const account = await expectObject(kube, ServiceAccounts, made, () => true)
    await eventually(() => [...watches].some((path) => path.startsWith('/api/v1/serviceaccounts?labelSelector=berth.dev')))
    await kube.delete(ServiceAccounts, made)
    await kube.patch(NetworkPolicies, made, { spec: { ingress: [{}] } })
    const patient = { within: minutes(1) }
    await eventually(async () => {
      const now = await kube.get(ServiceAccounts, made)
      return now !== undefined && now.metadata.uid !== account.metadata.uid
    }, patient)
    await eventually(async () => isDeepStrictEqual((await kube.get(NetworkPolicies, made))?.spec, policy.spec), patient)
    equal(
      [...watches].filter((path) => path.includes('/namespaces/') && !path.includes(GATEWAY)),
      [],
    )
    equal([...twice], [])
  })

  it('share it also when the API server was away as the operator began', async () => {
    let isAway = true
    await open((own) => ({
      ...own,
      read(path, options) {
        if (!isAway || !path.includes('limit=1&')) return own.read(path, options)
        isAway = false
        return Promise.reject(new Failure('unavailable', 'too many requests'))
      },
    }))
    await liveIn(homes[0] ?? '')
    is(isAway, false)
    await eventually(watchesAllPods)
  })

  it('are watched one by one where the operator itself may not see all', async () => {
    await open((own) => ({
      ...own,
      // Lists go this way, too; what only asks whether it may does so for one.
      read: (path, options) =>
        path.includes('limit=1&') ? Promise.reject(new Failure('forbidden', 'pods is forbidden')) : own.read(path, options),
    }))
    await liveIn(homes[0] ?? '')
    is(watchesAllPods(), false)
    ok((asked.watch ?? 0) >= 2, JSON.stringify(asked))
  })

  it('show nothing that their own credentials could not see', async () => {
    await open()
    const [one = '', two = ''] = homes
    await liveIn(one)
    // A token that is good for nothing there, in a target that says it leads there.
    const { kubeconfig } = await deployer(kube, two, { name: 'stranger' })
    await prepareNamespace(cluster, two)
    await kube.patch(Secrets, { name: 'credentials', namespace: two }, { data: { kubeconfig: encoded(kubeconfig) } })
    await kube.patch(
      DeploymentTargets,
      { name: 'here', namespace: two },
      { spec: { kubernetesCredentials: { defaultNamespace: one } } },
    )
    // Or it may rightly go by what was there before.
    const { caches } = operator
    const data = () => caches.of(Secrets, { fields: 'type=Opaque' }).get({ name: 'credentials', namespace: two })?.data
    await eventually(() => data()?.kubeconfig === encoded(kubeconfig))
    const here = () => caches.of(DeploymentTargets).get({ name: 'here', namespace: two })?.spec.kubernetesCredentials
    await eventually(() => here()?.defaultNamespace === one)
    await create(two)
    const { status } = await expectObject(kube, Workspaces, { name: 'web', namespace: two }, (workspace) =>
      /forbidden/.test(conditionOf(workspace.status?.conditions, 'Ready')?.message ?? ''),
    )
    is(conditionOf(status?.conditions, 'Ready')?.reason, 'Connecting')
    is(status?.actualState, 'CreationRequested')
  })
})

const encoded = (text: string): string => Buffer.from(text).toString('base64')
