import { is, match, ok } from 'uvu/assert'
import {
  conditionOf,
  Deployments,
  DeploymentTargetClaims,
  type Workspace,
  WorkspaceClasses,
  Workspaces,
} from '../../../../src/api/index.ts'
import { hours, systemClock } from '../../../../src/std/index.ts'
import { testCluster } from '../../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../../support/operator.ts'
import { describe } from '../../../support/suite.ts'
import { expectObject } from '../../../support/verbs.ts'
import { everybody, INLINE, prepareNamespace, words } from '../fixture.ts'

const WRONG = { inline: 'components: []' }

describe('workspace: whose objects cannot be made', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''
  /** Milliseconds by which the operator's clock is ahead. */
  let ahead = 0
  const { at, create, set, becomes, expect, deleteAll } = words(cluster, () => namespace)

  it.beforeEach(async () => {
    ahead = 0
    namespace = await cluster.namespace('workspace-standing')
    await prepareNamespace(cluster, namespace, { maxActiveHoursBeforeStop: 1 })
    const clock = { ...systemClock, now: () => systemClock.now() + ahead }
    operator = await startOperator({ kubeconfig: cluster.kubeconfig, namespace, clock, controllers: everybody })
  })
  it.afterEach(async () => {
    await deleteAll()
    await operator.stop()
    await kube.delete(WorkspaceClasses, { name: namespace })
  })
  it.after(() => cluster.close())

  const objects = ({ status }: Workspace) => conditionOf(status?.conditions, 'ObjectsCurrent')
  const failing = (name: string, reason: string) => expect(name, ({ status }) => status?.failure?.reason === reason)
  const isDown = () => expectObject(kube, Deployments, at('workspace-web'), ({ spec }) => spec?.replicas === 0)

  it('runs on as it was made before, says so, and stops all the same', async () => {
    await create('web', { ports: [{ name: 'web', port: 8080 }] })
    const { status: before } = await becomes('web', 'Running')
    await set('web', { devfile: WRONG })
    const { status } = await failing('web', 'DevfileInvalid')
    is(status?.actualState, 'Running')
    is(status?.url, before?.url)
    is(conditionOf(status?.conditions, 'Ready')?.status, 'True')
    is(conditionOf(status?.conditions, 'DevfileValid')?.status, 'False')
    const { message } = objects({ ...(await becomes('web', 'Running')) }) ?? {}
    match(message ?? '', /^what runs was made before, and changes have no effect now: DevfileValid: spec\.devfile\.inline has/)

    await set('web', { desiredState: 'Stopped' })
    const stopped = await becomes('web', 'Stopped')
    is(stopped.status?.failure, undefined)
    ok(stopped.status?.stoppedAt)
    await isDown()

    await set('web', { desiredState: 'Running' })
    is((await failing('web', 'DevfileInvalid')).status?.actualState, 'Error')
    await set('web', { devfile: { inline: INLINE } })
    const mended = await becomes('web', 'Running')
    is(objects(mended)?.status, 'True')
  })

  it('is stopped when its time is over', async () => {
    await create('web')
    await becomes('web', 'Running')
    await set('web', { devfile: WRONG })
    await failing('web', 'DevfileInvalid')
    ahead = hours(2)
    await kube.patch(Workspaces, at('web'), { metadata: { annotations: { look: 'again' } } })
    const { status } = await becomes('web', 'Stopped')
    match(status?.stoppedBecause ?? '', /^MaxActiveHours/)
    await isDown()
  })

  it('is stopped though the target refuses a change of it', async () => {
    await create('web')
    await becomes('web', 'Running')
    const refused = `${INLINE}\nattributes: { pod-overrides: { spec: { nodeSelector: { "no good": x } } } }`
    await set('web', { devfile: { inline: refused } })
    is((await failing('web', 'ApplyFailed')).status?.actualState, 'Running')
    await set('web', { desiredState: 'Stopped' })
    await becomes('web', 'Stopped')
    await isDown()
  })

  it('is Stopped at once where there never was anything, and tries again when it is started', async () => {
    await create('web', { variables: [{ name: 'GL_OWN', value: 'x' }] })
    is((await failing('web', 'VariableInvalid')).status?.actualState, 'Error')
    await set('web', { desiredState: 'Stopped' })
    await becomes('web', 'Stopped')
    await set('web', { desiredState: 'Running' })
    await failing('web', 'VariableInvalid')

    await create('late', { target: { claimName: 'later' } })
    await failing('late', 'ClaimNotFound')
    await set('late', { desiredState: 'Stopped' })
    is((await becomes('late', 'Stopped')).status?.failure, undefined)
    await set('late', { desiredState: 'Running' })
    await failing('late', 'ClaimNotFound')
    is((await kube.list(DeploymentTargetClaims, { namespace })).length, 1)
  })
})
