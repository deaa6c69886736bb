import { equal, is, ok } from 'uvu/assert'
import {
  annotations,
  DeploymentTargetClaims,
  Environments,
  GitOpsDeployments,
  GitProjects,
  type Kind,
  Previews,
} from '../../../src/api/index.ts'
import type { ControllerContext } from '../../../src/engines/controller/index.ts'
import { deploymentSets } from '../../../src/operator/gitops-deployment-set/index.ts'
import { previews } from '../../../src/operator/preview/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { deathsOf, dieAtEach, lifeOf, startMortalOperator } from '../../support/mortal.ts'
import { namesInMemory } from '../../support/names-in-memory.ts'
import { preview } from '../../support/previews.ts'
import { describe } from '../../support/suite.ts'
import { sweep } from '../../support/sweep.ts'
import { eventually, expectObject } from '../../support/verbs.ts'

/** Lives that are lived at the same time. */
const AT_ONCE = 8

describe('an operator that is killed after any write for a Preview', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  it.after(() => cluster.close())

  /** Two branches, one that is ended, one more push, a branch that goes, and a repository that is made anew, under an operator that dies and is replaced; how many writes. */
  async function live(writes: number): Promise<number> {
    const namespace = await cluster.namespace('preview-sweep')
    const life = lifeOf(writes)
    const names = namesInMemory()
    const controllers = (context: ControllerContext) => [previews(context, names.source), deploymentSets(context, names.source)]
    const operator = await startMortalOperator({ kubeconfig: cluster.kubeconfig, namespace, controllers }, life)
    const ref = { name: 'shop', namespace }
    const tell = (...branches: string[]) =>
      names.tell(
        'shop refs/heads/* ** false',
        branches.map((branch) => `refs/heads/${branch}`),
      )
    const settled = (environments: string[], expired: string[]) =>
      eventually(async () => {
        for (const kind of [Environments, DeploymentTargetClaims, GitOpsDeployments] as Kind[]) {
          const there = await kube.list(kind, { namespace })
          equal(there.map(({ metadata }) => metadata.name).sort(), environments)
        }
        await expectObject(kube, Previews, ref, ({ status }) => {
          equal(
            status?.environments?.map(({ name }) => name),
            environments,
          )
          equal(
            status?.expired?.map(({ branch }) => branch),
            expired,
          )
        })
        return true
      })
    const project = { apiVersion: 'berth.dev/v1alpha1', kind: 'GitProject', metadata: ref }
    await kube.create(GitProjects, { ...project, spec: { url: 'https://example.com/shop', path: `${namespace}/shop` } })
    await kube.create(Previews, preview(namespace, 'shop'))
    await tell('a 1', 'b 1')
    await settled(['shop-a', 'shop-b'], [])
    const first = await expectObject(kube, DeploymentTargetClaims, { name: 'shop-a', namespace }, () => true)
    await kube.patch(
      Environments,
      { name: 'shop-b', namespace },
      { metadata: { annotations: { [annotations.previewExpire]: '1' } } },
    )
    await settled(['shop-a'], ['b'])
    await tell('a 2', 'b 1', 'c 1')
    await settled(['shop-a', 'shop-c'], ['b'])
    const claim = await expectObject(kube, DeploymentTargetClaims, { name: 'shop-a', namespace }, () => true)
    is(claim.metadata.uid, first.metadata.uid, 'what stays is never made anew')
    await tell('c 1')
    await settled(['shop-c'], [])
    await tell('c 1', 'd 1')
    await settled(['shop-c', 'shop-d'], [])
    await tell('e 1')
    await settled(['shop-c', 'shop-d', 'shop-e'], [])
    await kube.patch(Previews, ref, { spec: { removal: { allowEmpty: true } } })
    await settled(['shop-e'], [])
    await operator.stop()
    await kube.delete(Previews, ref)
    await sweep(kube, namespace)
    return life.written
  }

  it('leaves what one that lives on leaves', async () => {
    const whole = await live(Number.POSITIVE_INFINITY)
    ok(whole >= 12, `a whole life has ${whole} writes`)
    await dieAtEach(deathsOf(whole), AT_ONCE, live)
  })
})
