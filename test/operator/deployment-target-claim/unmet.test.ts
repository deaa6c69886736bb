import { randomUUID } from 'node:crypto'
import { equal, is, match } from 'uvu/assert'
import {
  conditionOf,
  type DeploymentTargetClaim,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  isTrue,
  type KubeObject,
  Nodes,
  Secrets,
} from '../../../src/api/index.ts'
import { targetLifecycle } from '../../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../../src/operator/deployment-target-claim/binding/index.ts'
import { minutes, seconds, systemClock } from '../../../src/std/index.ts'
import { berth } from '../../cli/berth.ts'
import { type SteppedClock, steppedClock } from '../../support/clock.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { sweep } from '../../support/sweep.ts'
import { claim, credentialsSecret, target, targetClass } from '../../support/targets.ts'
import { eventually, expectObject } from '../../support/verbs.ts'

const SANDBOX = 'appstudio.redhat.com/devsandbox'

describe('a claim that cannot be bound', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let clock: SteppedClock
  let namespace = ''
  let ofClass = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('unmet')
    ofClass = `unmet-${randomUUID().slice(0, 8)}`
    clock = steppedClock(systemClock.now())
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      clock,
      controllers: (context) => [claimBinding(context), targetLifecycle(context)],
    })
  })
  it.afterEach(async () => {
    await operator.stop()
    await sweep(kube, namespace)
    await kube.delete(DeploymentTargetClasses, { name: ofClass })
  })
  it.after(() => cluster.close())

  const create = async (provisioner: string, spec: Partial<DeploymentTargetClaim['spec']> = {}) => {
    await kube.create(DeploymentTargetClasses, targetClass(ofClass, { provisioner }))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { deploymentTargetClassName: ofClass, ...spec }))
  }
  const reason = (wanted: string) =>
    expectObject(kube, DeploymentTargetClaims, { name: 'dev', namespace }, ({ status }) =>
      is(conditionOf(status?.conditions, 'Ready')?.reason, wanted),
    )
  /** Who lost a race looks again after a while, by the clock. */
  const isBound = () =>
    eventually(async () => {
      await clock.step(seconds(10))
      const found = await kube.get(DeploymentTargetClaims, { name: 'dev', namespace })
      return found?.status?.phase === 'Bound' && found
    })
  const message = ({ status }: DeploymentTargetClaim) => conditionOf(status?.conditions, 'Ready')?.message ?? ''
  const warns = (wanted: string) =>
    eventually(async () => {
      const { items } = await kube.read<{ items: { reason: string; type: string; involvedObject: { kind: string } }[] }>(
        `/api/v1/namespaces/${namespace}/events`,
      )
      return items.some(
        ({ reason: told, type, involvedObject }) =>
          told === wanted && type === 'Warning' && involvedObject.kind === DeploymentTargetClaims.kind,
      )
    })
  /** What the doctor tells of the claim, at once. */
  const doctor = async (): Promise<string[]> => {
    const { stdout } = await berth(['doctor', '-o', 'json', '--kubeconfig', cluster.kubeconfig])
    const found: { object?: { kind: string; name: string; reason: string } }[] = JSON.parse(stdout)
    return found.flatMap(({ object }) => {
      const isIt = object?.kind === DeploymentTargetClaims.kind && object.name === `${namespace}/dev`
      return object && isIt ? [object.reason] : []
    })
  }

  it('says what is wrong with the target that would do, and is bound when that is mended', async () => {
    await kube.create(
      DeploymentTargets,
      target(namespace, 'static', { deploymentTargetClassName: ofClass, resources: { requests: { memory: '1Gi' } } }),
    )
    await create('example.com/none')
    const dev = await reason('SecretNotFound')
    match(message(dev), 'DeploymentTarget static would do, but has SecretNotFound: ')
    match(message(dev), 'names Secret "credentials", which does not exist')
    equal(await doctor(), ['SecretNotFound'])
    await warns('SecretNotFound')
    await kube.create(Secrets, credentialsSecret(namespace))
    is(isTrue((await isBound()).status?.conditions, 'ErrorOccurred'), false)
  })

  it('says after ten minutes that nobody answers for its provisioner, and is bound when somebody does', async () => {
    await create('example.com/nobody')
    await reason('Provisioning')
    await operator.quiet()
    await clock.step(minutes(9))
    await reason('Provisioning')
    await clock.step(minutes(1))
    const absent = await reason('ProvisionerAbsent')
    match(
      message(absent),
      'nobody has answered for provisioner example.com/nobody in 10 minutes. Install or start what serves that name',
    )
    equal(await doctor(), ['ProvisionerAbsent'])
    await warns('ProvisionerAbsent')
    await kube.create(Secrets, credentialsSecret(namespace))
    await kube.create(DeploymentTargets, target(namespace, 'late', { deploymentTargetClassName: ofClass }))
    await isBound()
  })

  it('says that no node has the architecture that it asks for', async () => {
    const name = `node-${namespace}`
    // Nothing is to run there, whoever else uses the cluster meanwhile.
    const node: KubeObject & { spec: object } = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'kubernetes.io/arch': 'arm64' } },
      spec: { unschedulable: true, taints: [{ key: 'berth.dev/test', effect: 'NoSchedule' }] },
    }
    await kube.create(Nodes, node)
    try {
      await create(SANDBOX, { arch: 's390x' })
      const dev = await reason('ArchNotAvailable')
      match(
        message(dev),
        /^no node here has arch "s390x"; there is .*arm64.*\. Make a claim that asks for one of these, or for none/,
      )
      is(dev.metadata.annotations?.['provisioner.appstudio.redhat.com/dt-provisioner'], undefined)
      equal(await doctor(), ['ArchNotAvailable'])
      await warns('ArchNotAvailable')
      await kube.patch(Nodes, { name }, { metadata: { labels: { 'kubernetes.io/arch': 's390x' } } })
      await operator.quiet()
      await clock.step(minutes(1))
      await reason('Provisioning')
    } finally {
      await kube.delete(Nodes, { name })
    }
  })
})
