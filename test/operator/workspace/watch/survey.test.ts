import { equal, is, ok } from 'uvu/assert'
import { createStrangeMemory, type Memory } from '../../../../src/adapters/kube/index.ts'
import {
  Deployments,
  isTrue,
  labels,
  NetworkPolicies,
  refOf,
  Services,
  WorkspaceClasses,
  Workspaces,
} from '../../../../src/api/index.ts'
import type { ControllerContext } from '../../../../src/engines/controller/index.ts'
import { targetLifecycle } from '../../../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../../../src/operator/deployment-target-claim/binding/index.ts'
import { workspaces } from '../../../../src/operator/workspace/index.ts'
import { type Clock, minutes, systemClock } from '../../../../src/std/index.ts'
import { testCluster } from '../../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../../support/operator.ts'
import { describe } from '../../../support/suite.ts'
import { sweep } from '../../../support/sweep.ts'
import { eventually } from '../../../support/verbs.ts'
import { countedMemory, prepareNamespace, words } from '../fixture.ts'

const MANY = 12

describe('workspace: a restart of the operator', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let namespace = ''
  let operator: RunningOperator
  /** Requests to the target by verb. */
  let asked: Record<string, number> = {}
  const { create, expect } = words(cluster, () => namespace)

  it.after(async () => {
    await operator.stop()
    for (const { metadata } of await kube.list(Workspaces, { namespace }))
      await kube.patch(Workspaces, metadata, { metadata: { finalizers: null } })
    await kube.delete(WorkspaceClasses, { name: namespace })
    await sweep(kube, namespace)
    await cluster.close()
  })

  const meter = ({ verb }: { verb: string }) => {
    asked[verb] = (asked[verb] ?? 0) + 1
  }
  const open = async (settings: Parameters<typeof workspaces>[1] = {}, clock = systemClock) => {
    asked = {}
    const controllers = (context: ControllerContext) => [
      claimBinding(context),
      targetLifecycle(context),
      workspaces(context, { meter, ...settings }),
    ]
    operator = await startOperator({ kubeconfig: cluster.kubeconfig, namespace, controllers, clock })
  }

  it('repairs what was changed meanwhile, from one list per kind, and writes nothing else', async () => {
    namespace = await cluster.namespace('workspace-survey')
    await prepareNamespace(cluster, namespace)
    await open()
    const names = Array.from({ length: MANY }, (_each, n) => `web-${n}`)
    const ports = [{ name: 'web', port: 8080 }]
    await Promise.all(names.map((name) => create(name, { desiredState: 'Stopped', ports })))
    // One that is to be stopped is so from the beginning; at the end its objects are there, and its status says so.
    for (const name of names)
      await expect(name, ({ status }) => status?.actualState === 'Stopped' && isTrue(status.conditions, 'Applied'))
    // The cluster has looked at what was made, and nothing more is heard of it.
    await eventually(async () => {
      const made = await kube.list(Deployments, { namespace })
      return made.every(({ metadata, status }) => status?.observedGeneration === metadata.generation)
    })
    await operator.quiet()
    await operator.stop()
    const before = await kube.list(Workspaces, { namespace })

    const policies = () => kube.list(NetworkPolicies, { namespace })
    for (const policy of await policies()) await kube.delete(NetworkPolicies, refOf(policy))
    const service = { name: 'workspace-web-0', namespace }
    const selector = async () => (await kube.get(Services, service))?.spec?.selector?.[labels.workspaceUid]
    const uid = await selector()
    await kube.patch(Services, service, { spec: { selector: { [labels.workspaceUid]: 'nobody' } } })
    await open()
    await eventually(async () => (await policies()).length === MANY)
    await eventually(async () => (await selector()) === uid)
    await operator.quiet()
    const { get = 0, watch, ...writes } = asked
    is(watch, 2)
    equal(writes, { patch: MANY + 1 })
    // What is not there is looked for by itself; a pod list and a Deployment list come with the watches.
    ok(get <= MANY + 16, `${get} reads of the target`)
    is(operator.requests.patch, undefined, 'the status of nobody is written')
    const versions = async () => (await kube.list(Workspaces, { namespace })).map(({ metadata }) => metadata.resourceVersion)
    equal(
      await versions(),
      before.map(({ metadata }) => metadata.resourceVersion),
    )
  })

  it('gives the memory of the tenant back as soon as what was listed is used', async () => {
    await operator.stop()
    const { memory, held } = countedMemory(createStrangeMemory())
    let most = 0
    const take: Memory['take'] = (...how) => {
      const isTaken = memory.take(...how)
      most = Math.max(most, held.of(namespace))
      return isTaken
    }
    // What is watched there takes the operator's own memory.
    const reach = { refuseLocal: false, memory: { ...memory, take } }
    // The time after which it is given back anyway does not come.
    const after: Clock['after'] = (ms, run) => (ms === minutes(1) ? () => undefined : systemClock.after(ms, run))
    await open({ own: [kube.server], reach }, { ...systemClock, after })
    await eventually(() => most > 0 && held.of(namespace) === 0)
  })
})
