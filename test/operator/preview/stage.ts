import { equal } from 'uvu/assert'
import type { Kube } from '../../../src/adapters/kube/index.ts'
import {
  annotations,
  conditionOf,
  DeploymentTargetClaims,
  Environments,
  GitOpsDeployments,
  GitProjects,
  type Kind,
  type Preview,
  type PreviewSpec,
  Previews,
} from '../../../src/api/index.ts'
import { deploymentSets } from '../../../src/operator/gitops-deployment-set/index.ts'
import { previews } from '../../../src/operator/preview/index.ts'
import { type Failure, systemClock } from '../../../src/std/index.ts'
import { allowUse } from '../../support/builders/credentials.ts'
import { testCluster } from '../../support/control-plane.ts'
import { namesInMemory } from '../../support/names-in-memory.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import type { It } from '../../support/suite.ts'
import { eventually, expectObject } from '../../support/verbs.ts'

/** Not of the group system:authenticated, which may use all classes here. */
const ADA = 'ada\ndevelopers'
const BRANCHES = 'shop refs/heads/* ** false'

/** Previews and sets at work for the tests of a file, and the words of these. */
export function previewStage(it: It) {
  const cluster = testCluster()
  const { kube } = cluster
  let names: ReturnType<typeof namesInMemory>
  let namespace = ''
  let ahead = 0
  let operator: RunningOperator
  const start = async () => {
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [previews(context, names.source), deploymentSets(context, names.source)],
      clock: { ...systemClock, now: () => systemClock.now() + ahead },
    })
  }
  it.beforeEach(async () => {
    namespace = await cluster.namespace('preview')
    await allowUse(kube, namespace, 'ada', { group: 'appstudio.redhat.com', resource: 'deploymenttargetclasses', name: 'dev' })
    ahead = 0
    names = namesInMemory()
    await start()
  })
  it.afterEach(() => operator.stop())
  it.after(() => cluster.close())

  return {
    kube,
    ...wordsFor(kube, () => namespace),
    get namespace() {
      return namespace
    },
    /** As kas would. */
    tell: (branches: readonly string[] | Failure) => names.tell(BRANCHES, branches),
    /** An operator of the same name, so much later. */
    async restart(later = 0) {
      await operator.stop()
      ahead += later
      await start()
    },
  }
}

const wordsFor = (kube: Kube, namespaceOf: () => string) => {
  const ref = (name: string) => ({ name, namespace: namespaceOf() })
  return {
    ref,
    async create(spec: Partial<PreviewSpec> = {}) {
      const project = { apiVersion: 'berth.dev/v1alpha1', kind: 'GitProject', metadata: ref('shop') }
      await kube.create(GitProjects, { ...project, spec: { url: 'https://example.com/shop', path: `${namespaceOf()}/shop` } })
      await kube.create(Previews, {
        apiVersion: 'berth.dev/v1alpha1',
        kind: 'Preview',
        metadata: { ...ref('shop'), annotations: { [annotations.requester]: ADA } },
        spec: {
          branches: { project: 'shop', except: ['main'] },
          deploymentTargetClassName: 'dev',
          template: {
            spec: { source: { path: 'deploy', targetRevision: 'main' }, variables: { values: { host: '${environment}' } } },
          },
          ...spec,
        },
      })
    },
    change: (spec: object) => kube.patch(Previews, ref('shop'), { spec }),
    said: (reason: string, check: (one: Preview, message: string) => unknown = () => true) =>
      expectObject(kube, Previews, ref('shop'), (one) => {
        const ready = conditionOf(one.status?.conditions, 'Ready')
        equal([ready?.reason, ready?.observedGeneration], [reason, one.metadata.generation], ready?.message)
        return check(one, ready?.message ?? '')
      }),
    branches:
      (...wanted: string[]) =>
      (one: Preview) =>
        equal(
          one.status?.environments?.map(({ branch }) => branch),
          wanted,
        ),
    there: (...wanted: string[]) =>
      eventually(async () => {
        const kinds: Kind[] = [Environments, DeploymentTargetClaims, GitOpsDeployments]
        const lists = await Promise.all(kinds.map((kind) => kube.list(kind, { namespace: namespaceOf() })))
        return lists.every((list) => String(list.map(({ metadata }) => metadata.name).sort()) === String(wanted))
      }),
    eventOf: (reason: string, message: string) =>
      eventually(async () => {
        const { items } = await kube.read<{ items: { reason: string; message: string }[] }>(
          `/api/v1/namespaces/${namespaceOf()}/events`,
        )
        return items.some((event) => event.reason === reason && event.message.startsWith(message))
      }),
    /** As the controllers of claims and deployments would say it. */
    bind: (name: string) =>
      kube.patch(DeploymentTargetClaims, ref(name), { status: { phase: 'Bound' } }, { subresource: 'status' }),
    async report(name: string, status: 'True' | 'False', message = 'as the test has it') {
      const { metadata } = await expectObject(kube, GitOpsDeployments, ref(name), () => true)
      const observedGeneration = metadata.generation ?? 0
      const conditions = [
        { type: 'Ready', status, reason: 'Tested', message, observedGeneration, lastTransitionTime: '2030-01-01T00:00:00Z' },
      ]
      await kube.patch(GitOpsDeployments, ref(name), { status: { observedGeneration, conditions } }, { subresource: 'status' })
    },
  }
}
