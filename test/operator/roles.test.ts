import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import {
  annotations,
  ClusterRoleBindings,
  conditionOf,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  DeploymentTargets,
  labels,
  Namespaces,
  SANDBOX_PROVISIONER,
  SpaceRequests,
  SpaceTiers,
  tenantRoles,
} from '../../src/api/index.ts'
import type { Controller, ControllerContext } from '../../src/engines/controller/index.ts'
import { controllersOf } from '../../src/operator/controllers.ts'
import { parseConfig } from '../../src/operator/index.ts'
import { letUsersIn } from '../support/builders/credentials.ts'
import { CLAIM_CONTROLLERS } from '../support/claim-controllers.ts'
import { testCluster } from '../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../support/operator.ts'
import { listeningForRefusals } from '../support/refusal.ts'
import { spaceRequest, spaceTier } from '../support/spaces.ts'
import { describe } from '../support/suite.ts'
import { sweep } from '../support/sweep.ts'
import { claim, targetClass } from '../support/targets.ts'
import { apply, eventually, expectGone, expectObject } from '../support/verbs.ts'

const ROLES = new URL('../../deploy/operator/roles/', import.meta.url)
/** Each is built alone: what the others watch, its role may not. */
const CONTROLLERS = Object.keys(CLAIM_CONTROLLERS)

/** Namespaces are deleted by the cluster, one after the other. */

describe('roles', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const operators: RunningOperator[] = []
  const { log: listening, refusals } = listeningForRefusals()
  let namespace = ''
  let suffix = ''

  it.before(async () => {
    namespace = await cluster.namespace('roles')
    suffix = namespace.slice(-8)
    for (const name of CONTROLLERS) {
      await apply(kube, readFileSync(new URL(`${name}.yaml`, ROLES), 'utf8'))
      await kube.create(ClusterRoleBindings, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: `${name}-${suffix}` },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `berth-${name}` },
        subjects: [{ kind: 'User', name: `${name}-${suffix}`, apiGroup: 'rbac.authorization.k8s.io' }],
      })
    }
    const users = CONTROLLERS.map((name) => `${name}-${suffix}`)
    await letUsersIn(kube, namespace, users)
    await kube.create(SpaceTiers, spaceTier(`tier-${suffix}`))
    const spec = { provisioner: SANDBOX_PROVISIONER, parameters: { tierName: `tier-${suffix}` } }
    await kube.create(DeploymentTargetClasses, targetClass(`class-${suffix}`, spec))
    for (const [name, factory] of Object.entries(CLAIM_CONTROLLERS)) operators.push(await openFor(name, factory))
  })
  it.after(async () => {
    await Promise.all(operators.map((operator) => operator.stop()))
    await sweep(kube, namespace)
    for (const name of CONTROLLERS) await kube.delete(ClusterRoleBindings, { name: `${name}-${suffix}` })
    await kube.delete(DeploymentTargetClasses, { name: `class-${suffix}` })
    await kube.delete(SpaceTiers, { name: `tier-${suffix}` })
    await cluster.close()
  })

  const openFor = (name: string, factory: (context: ControllerContext) => Controller) =>
    startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      log: listening,
      tenantRole: tenantRoles.operator,
      via: (admin) => admin.as({ user: `${name}-${suffix}`, groups: ['system:authenticated'] }),
      controllers: (context) => [factory(context)],
    })

  it('every controller has a role of its own', async () => {
    const operator = await startOperator({ kubeconfig: cluster.kubeconfig, namespace, controllers: () => [] })
    const names = controllersOf(operator, parseConfig({}, {}), { follow: () => Promise.resolve() }).map(({ name }) => name)
    await operator.stop()
    const without = names.filter((name) => !existsSync(fileURLToPath(new URL(`${name}.yaml`, ROLES))))
    assert.equal(without, [])
  })

  it('each controller of a claim, with nothing but its role, does its part from creation to the end', async () => {
    const dev = { name: 'dev', namespace }
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { deploymentTargetClassName: `class-${suffix}` }))
    const { spec } = await expectObject(kube, DeploymentTargetClaims, dev, ({ status }) => status?.phase === 'Bound')
    assert.is(spec.targetName, 'dev-dt')
    const [request] = await kube.list(SpaceRequests, { namespace })
    const space = request?.status?.namespaceAccess?.[0]?.name ?? ''
    const made = await kube.get(Namespaces, { name: space })
    assert.is(made?.metadata.labels?.[labels.spaceRequestNamespace], namespace)
    assert.is(made?.metadata.annotations?.[annotations.spaceRequest], `${namespace}/${request?.metadata.name}`)
    await kube.delete(DeploymentTargetClaims, dev)
    await expectGone(kube, DeploymentTargetClaims, dev)
    await expectGone(kube, DeploymentTargets, { name: 'dev-dt', namespace })
    await expectGone(kube, SpaceRequests, { name: request?.metadata.name ?? '', namespace })
    assert.equal(refusals, [])
  })

  it('a tier gives away no more than the operator may bind, and is told what to do', async () => {
    await kube.create(SpaceTiers, spaceTier(`mighty-${suffix}`, { clusterRole: 'cluster-admin' }))
    // Or the request may rightly be told first that there is none.
    const spaces = operators[CONTROLLERS.indexOf('space-request')]
    await eventually(() => spaces?.caches.of(SpaceTiers).get({ name: `mighty-${suffix}` }))
    await kube.create(SpaceRequests, spaceRequest(namespace, 'mighty', { tierName: `mighty-${suffix}` }))
    const refused = await expectObject(
      kube,
      SpaceRequests,
      { name: 'mighty', namespace },
      ({ status }) => conditionOf(status?.conditions, 'Ready')?.reason === 'UnableToProvision',
    )
    const { message = '' } = conditionOf(refused.status?.conditions, 'Ready') ?? {}
    assert.match(message, /ClusterRole berth-space-keeper, verb bind/)
    assert.is(refused.status?.namespaceAccess, undefined)
    await kube.delete(SpaceRequests, { name: 'mighty', namespace })
    await expectGone(kube, SpaceRequests, { name: 'mighty', namespace })
    await kube.delete(SpaceTiers, { name: `mighty-${suffix}` })
  })
})
