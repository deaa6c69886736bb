import { equal } from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import {
  conditionOf,
  type GitOpsDeployment,
  type GitOpsDeploymentSet,
  type GitOpsDeploymentSetSpec,
  GitOpsDeploymentSets,
  GitOpsDeployments,
} from '../../../src/api/index.ts'
import { deploymentSets } from '../../../src/operator/gitops-deployment-set/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { namesInMemory } from '../../support/names-in-memory.ts'
import { type OperatorOptions, type RunningOperator, startOperator } from '../../support/operator.ts'
import type { It } from '../../support/suite.ts'
import { eventually, expectObject } from '../../support/verbs.ts'

export const source = { repoURL: 'https://example.com/shop', path: '${env}' }
export const list = (...elements: Record<string, string>[]) => ({ list: { elements } })
export const envs = (...names: string[]) => [list(...names.map((env) => ({ env })))]

/** The controller of GitOpsDeploymentSets at work for the tests of a file, and the words of these. */
export function setStage(it: It, options: Pick<OperatorOptions, 'via'> = {}) {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  const names = namesInMemory()

  const start = () =>
    startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [deploymentSets(context, names.source)],
      ...options,
    })
  it.beforeEach(async () => {
    namespace = await cluster.namespace('set')
    operator = await start()
  })
  it.afterEach(() => operator.stop())
  it.after(() => cluster.close())

  return {
    kube,
    names,
    ...wordsFor(kube, () => namespace),
    get namespace() {
      return namespace
    },
    get operator() {
      return operator
    },
    async restart() {
      await operator.stop()
      operator = await start()
    },
  }
}

/** What is done with the set `shop` in that namespace, and what is seen of it. */
function wordsFor(kube: Kube, namespaceNow: () => string) {
  const ref = (name: string) => ({ name, namespace: namespaceNow() })
  const create = (spec: Partial<GitOpsDeploymentSetSpec>) =>
    kube.create(GitOpsDeploymentSets, {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'GitOpsDeploymentSet',
      metadata: ref('shop'),
      spec: {
        generators: envs('dev', 'prod'),
        template: { metadata: { name: 'shop-${env}', labels: { env: '${env}' } }, spec: { source, type: 'automated' } },
        ...spec,
      },
    })
  const change = (spec: object) => kube.patch(GitOpsDeploymentSets, ref('shop'), { spec })
  const namesNow = async () =>
    (await kube.list(GitOpsDeployments, { namespace: namespaceNow() })).map(({ metadata }) => metadata.name).sort()
  const there = (...wanted: string[]) => eventually(async () => String(await namesNow()) === String(wanted))
  const deployment = (name: string, check: (one: GitOpsDeployment) => unknown = () => true) =>
    expectObject(kube, GitOpsDeployments, ref(name), check)
  const said = (reason: string, check: (one: GitOpsDeploymentSet, message: string) => unknown = () => true) =>
    expectObject(kube, GitOpsDeploymentSets, ref('shop'), (one) => {
      const ready = conditionOf(one.status?.conditions, 'Ready')
      equal([ready?.reason, ready?.observedGeneration], [reason, one.metadata.generation], ready?.message)
      return check(one, ready?.message ?? '')
    })
  /** As the controller of GitOpsDeployments would say it. */
  const report = async (name: string, status: 'True' | 'False', message = 'as the test has it') => {
    const { metadata } = await deployment(name)
    const observedGeneration = metadata.generation ?? 0
    const condition = { type: 'Ready', status, reason: 'Tested', message, observedGeneration }
    const conditions = [{ ...condition, lastTransitionTime: '2030-01-01T00:00:00Z' }]
    await kube.patch(GitOpsDeployments, ref(name), { status: { observedGeneration, conditions } }, { subresource: 'status' })
  }
  const eventOf = (reason: string) =>
    eventually(async () => {
      const path = `/api/v1/namespaces/${namespaceNow()}/events`
      const { items } = await kube.read<{ items: { reason: string }[] }>(path)
      return items.some((event) => event.reason === reason)
    })
  const pathOf = ({ spec }: GitOpsDeployment) => spec.source.path
  return { ref, create, change, namesNow, there, deployment, said, report, eventOf, pathOf }
}
