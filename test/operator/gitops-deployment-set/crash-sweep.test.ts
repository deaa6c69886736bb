import { equal, ok } from 'uvu/assert'
import { type GitOpsDeployment, GitOpsDeploymentSets, GitOpsDeployments, isTrue } from '../../../src/api/index.ts'
import { deploymentSets } from '../../../src/operator/gitops-deployment-set/index.ts'
import { pause, systemClock } from '../../../src/std/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { memoryRepository } from '../../support/deployments.ts'
import { deathsOf, dieAtEach, lifeOf, startMortalOperator } from '../../support/mortal.ts'
import { describe } from '../../support/suite.ts'
import { sweep } from '../../support/sweep.ts'
import { eventually, expectObject } from '../../support/verbs.ts'

/** Lives that are lived at the same time. */
const AT_ONCE = 8

describe('an operator that is killed after any write for a GitOpsDeploymentSet', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  it.after(() => cluster.close())

  /** The controller of GitOpsDeployments, for which all is well at once. */
  const playDeployments = (namespace: string) => {
    const ending = new AbortController()
    const told = (async () => {
      while (!ending.signal.aborted) {
        for (const one of await kube.list(GitOpsDeployments, { namespace })) await report(one)
        await pause(systemClock, 50, ending.signal)
      }
    })()
    return async () => {
      ending.abort()
      await told
    }
  }
  const report = async ({ metadata, status }: GitOpsDeployment) => {
    const observedGeneration = metadata.generation ?? 0
    if (status?.observedGeneration === observedGeneration) return
    const condition = { type: 'Ready', status: 'True' as const, reason: 'Tested', message: '', observedGeneration }
    const conditions = [{ ...condition, lastTransitionTime: '2030-01-01T00:00:00Z' }]
    const { name, namespace } = metadata
    const how = { subresource: 'status' } as const
    await kube
      .patch(GitOpsDeployments, { name, namespace }, { status: { observedGeneration, conditions } }, how)
      .catch(() => undefined)
  }

  /** Three in two steps, a change of them all, and one that leaves, under an operator that dies and is replaced; how many writes. */
  async function live(writes: number): Promise<number> {
    const namespace = await cluster.namespace('set-sweep')
    const life = lifeOf(writes)
    const controllers = (context: Parameters<typeof deploymentSets>[0]) => [deploymentSets(context, memoryRepository().source)]
    const operator = await startMortalOperator({ kubeconfig: cluster.kubeconfig, namespace, controllers }, life)
    const stop = playDeployments(namespace)
    const ref = { name: 'shop', namespace }
    const list = (...names: string[]) => [{ list: { elements: names.map((env) => ({ env })) } }]
    const pathsOf = async () =>
      (await kube.list(GitOpsDeployments, { namespace }))
        .map(({ metadata, spec }) => `${metadata.name} ${spec.source.path}`)
        .sort()
    const settled = (...paths: string[]) =>
      eventually(async () => {
        equal(await pathsOf(), paths)
        await expectObject(kube, GitOpsDeploymentSets, ref, ({ metadata, status }) => {
          ok(isTrue(status?.conditions, 'Ready') && status?.observedGeneration === metadata.generation)
          equal(status?.deployments, { total: paths.length, updated: paths.length, ready: paths.length })
        })
        return true
      })
    const template = {
      metadata: { name: '${env}' },
      spec: { source: { repoURL: 'https://example.com/shop', path: 'v1' }, type: 'manual' },
    }
    await kube.create(GitOpsDeploymentSets, {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'GitOpsDeploymentSet',
      metadata: ref,
      spec: { generators: list('a', 'b', 'c'), template, rollout: { steps: [{ maxAtOnce: 2 }] } },
    })
    await settled('a v1', 'b v1', 'c v1')
    await kube.patch(GitOpsDeploymentSets, ref, { spec: { template: { spec: { source: { path: 'v2' } } } } })
    await settled('a v2', 'b v2', 'c v2')
    await kube.patch(GitOpsDeploymentSets, ref, { spec: { generators: list('a', 'c') } })
    await settled('a v2', 'c v2')
    await operator.stop()
    await stop()
    await kube.delete(GitOpsDeploymentSets, ref)
    await sweep(kube, namespace)
    return life.written
  }

  it('leaves what one that lives on leaves', async () => {
    const whole = await live(Number.POSITIVE_INFINITY)
    ok(whole >= 7, `a whole life has ${whole} writes`)
    await dieAtEach(deathsOf(whole), AT_ONCE, live)
  })
})
