import { equal, is, match } from 'uvu/assert'
import {
  conditionOf,
  DeploymentTargetClasses,
  type WorkspaceClass,
  WorkspaceClasses,
  Workspaces,
} from '../../../../src/api/index.ts'
import { workspaceClasses } from '../../../../src/operator/workspace/index.ts'
import { testCluster } from '../../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../../support/operator.ts'
import { describe } from '../../../support/suite.ts'
import { expectGone, expectObject } from '../../../support/verbs.ts'
import { everybody, prepareNamespace, words } from '../fixture.ts'

describe('workspace class: its status', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  const { at, create, becomes } = words(cluster, () => namespace)
  const says = (so: (found: WorkspaceClass) => boolean) => expectObject(kube, WorkspaceClasses, { name: namespace }, so)
  const ready = ({ status }: WorkspaceClass) => conditionOf(status?.conditions, 'Ready')
  const set = (spec: Partial<WorkspaceClass['spec']>) => kube.patch(WorkspaceClasses, { name: namespace }, { spec })

  it.before(async () => {
    namespace = await cluster.namespace('class-status')
    await prepareNamespace(cluster, namespace)
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [...everybody(context), workspaceClasses(context)],
    })
  })
  it.after(async () => {
    await kube.delete(Workspaces, at('web'))
    await expectGone(kube, Workspaces, at('web'))
    await operator.stop()
    await kube.delete(WorkspaceClasses, { name: namespace })
    await kube.delete(DeploymentTargetClasses, { name: namespace })
    await cluster.close()
  })

  it('says everything that is wrong in it, of this generation, until it is mended', async () => {
    await says((found) => ready(found)?.status === 'True')
    await set({
      deploymentTargetClassName: namespace,
      imagePullSecrets: [{ namespace, name: 'registry' }],
      devfile: 'schemaVersion: 2.2.0\ncomponents: [{ name: A, container: { image: a } }]',
      networkPolicy: { egress: [{ allow: '10.0.0.0/8', except: ['11.0.0.0/8'] }] },
      schedule: { stop: 'at seven', timeZone: 'UTC' },
    })
    const wrong = await says((now) => ready(now)?.status === 'False')
    is(wrong.status?.observedGeneration, wrong.metadata.generation)
    const message = ready(wrong)?.message ?? ''
    for (const said of [
      `spec.deploymentTargetClassName: there is no DeploymentTargetClass ${namespace}`,
      `spec.imagePullSecrets: there is no Secret ${namespace}/registry with credentials of a registry`,
      'spec.devfile: line 2, column ',
      '11.0.0.0/8 is not a part of 10.0.0.0/8',
      'spec.schedule.',
    ])
      match(message, said)
    await set({
      imagePullSecrets: [],
      devfile: '',
      networkPolicy: { egress: [] },
      schedule: { stop: '0 19 * * *', timeZone: 'UTC' },
    })
    await says((found) => ready(found)?.message.startsWith('spec.deploymentTargetClassName') === true)
    await kube.create(DeploymentTargetClasses, {
      apiVersion: 'appstudio.redhat.com/v1alpha1',
      kind: 'DeploymentTargetClass',
      metadata: { name: namespace },
      spec: { provisioner: 'appstudio.redhat.com/devsandbox', reclaimPolicy: 'Delete' },
    })
    await says((found) => ready(found)?.status === 'True')
    await set({ enabled: false })
    await says((found) => ready(found)?.reason === 'Disabled')
    await set({ enabled: true, deploymentTargetClassName: '' })
  })

  it('counts its workspaces by state', async () => {
    await create('web')
    await becomes('web', 'Running')
    const { status } = await says((found) => found.status?.workspaces?.byState?.Running === 1)
    equal(status?.workspaces, { total: 1, byState: { Running: 1 } })
    await kube.patch(Workspaces, at('web'), { spec: { desiredState: 'Terminated' } })
    await says((found) => found.status?.workspaces?.total === 0)
  })
})
