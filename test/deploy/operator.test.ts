import { equal, match } from 'uvu/assert'
import { isAllowed, requestToken } from '../../src/adapters/kube/index.ts'
import {
  apiVersionOf,
  ClusterRoleBindings,
  ConfigMaps,
  DeploymentTargetClaims,
  DeploymentTargetClasses,
  Environments,
  GitOpsDeploymentManagedEnvironments,
  type Kind,
  type KubeObject,
  labels,
  Namespaces,
  NetworkPolicies,
  ResourceQuotas,
  RoleBindings,
  Roles,
  SANDBOX_PROVISIONER,
  Secrets,
  ServiceAccounts,
  SpaceRequests,
  SpaceTiers,
  tenantRoles,
} from '../../src/api/index.ts'
import { controllersOf } from '../../src/operator/controllers.ts'
import { parseConfig } from '../../src/operator/index.ts'
import { letBerthIn } from '../support/builders/credentials.ts'
import { environment, viaClaim } from '../support/builders/environments.ts'
import { testCluster } from '../support/control-plane.ts'
import { onlyIn, type RunningOperator, startOperator } from '../support/operator.ts'
import { listeningForRefusals, refusalOf } from '../support/refusal.ts'
import { leaveForPrivileged, spaceTier } from '../support/spaces.ts'
import { describe } from '../support/suite.ts'
import { claim, targetClass } from '../support/targets.ts'
import { apply, eventually, expectGone, expectObject } from '../support/verbs.ts'

const OPERATOR = 'system:serviceaccount:berth-system:berth-operator'
const GROUPS = ['system:serviceaccounts', 'system:serviceaccounts:berth-system', 'system:authenticated']

describe('the rights of the operator', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const asOperator = kube.as({ user: OPERATOR, groups: GROUPS })
  const { log: listening, refusals } = listeningForRefusals()
  let operator: RunningOperator
  let namespace = ''
  let foreign = ''
  let closed = ''
  let space = ''
  let kept: string[] = []

  it.before(async () => {
    namespace = await cluster.namespace('rights')
    foreign = await cluster.namespace('foreign')
    closed = await cluster.namespace('closed')
    for (const home of [namespace, foreign]) await letBerthIn(kube, home)
    const suffix = namespace.slice(-8)
    kept = [`rights-${suffix}`, `privileged-${suffix}`]
    for (const [at, podSecurityLevel] of (['baseline', 'privileged'] as const).entries()) {
      const name = kept[at] ?? ''
      await kube.create(SpaceTiers, spaceTier(name, { podSecurityLevel }))
      const spec = { provisioner: SANDBOX_PROVISIONER, parameters: { tierName: name } }
      await kube.create(DeploymentTargetClasses, targetClass(name, spec))
    }
    const follow = () => Promise.resolve()
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      log: listening,
      tenantRole: tenantRoles.operator,
      via: (admin) => admin.as({ user: OPERATOR, groups: GROUPS }),
      controllers: (context) =>
        // Namespaces are of no namespace: those of other tests are for other operators.
        controllersOf(context, parseConfig({}, {}), { follow }).map((each) =>
          each.kind === Namespaces ? onlyIn([namespace, foreign, closed], each) : each,
        ),
    })
    await kube.create(DeploymentTargetClaims, claim(namespace, 'dev', { deploymentTargetClassName: kept[0] ?? '' }))
    await kube.create(Environments, environment(namespace, 'dev', viaClaim('dev')))
    await expectObject(kube, DeploymentTargetClaims, { name: 'dev', namespace }, ({ status }) => status?.phase === 'Bound')
    const [request] = await kube.list(SpaceRequests, { namespace })
    space = request?.status?.namespaceAccess?.[0]?.name ?? ''
  })
  it.after(async () => {
    await operator.stop()
    for (const name of kept) {
      await kube.delete(DeploymentTargetClasses, { name })
      await kube.delete(SpaceTiers, { name })
    }
    await kube.delete(ClusterRoleBindings, { name: 'berth-privileged-spaces' })
    await cluster.close()
  })

  const object = (kind: Kind, home: string, name: string, rest: Partial<KubeObject> & object = {}): KubeObject => ({
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    ...rest,
    metadata: { name, namespace: home, ...rest.metadata },
  })
  const roleBinding = (home: string) => ({
    ...object(RoleBindings, home, 'mine'),
    roleRef: { apiGroup: Roles.group, kind: 'ClusterRole' as const, name: 'berth-space-keeper' },
    subjects: [{ kind: 'ServiceAccount' as const, namespace: 'berth-system', name: 'berth-operator' }],
  })
  const impersonating = (home: string) => ({
    group: '',
    resource: 'serviceaccounts',
    verb: 'impersonate',
    namespace: home,
    name: 'default',
  })
  const tokenOf = (home: string, name: string, audiences?: string[]) =>
    requestToken(asOperator, { namespace: home, name }, { audiences, seconds: 600 })

  it('let it make a space, and what goes with an Environment', async () => {
    await expectObject(kube, GitOpsDeploymentManagedEnvironments, { name: 'managed-environment-dev', namespace }, () => true)
    const { roleRef, subjects } = await expectObject(kube, RoleBindings, { name: 'berth-operator', namespace: space }, () => true)
    equal(roleRef.name, 'berth-space-keeper')
    equal(subjects, [{ kind: 'ServiceAccount', name: 'berth-operator', namespace: 'berth-system' }])
  })

  it('are put back when whoever has the space takes them away, and so is what it made there', async () => {
    const mine = { name: 'berth-operator', namespace: space }
    const before = await kube.get(RoleBindings, mine)
    await kube.delete(RoleBindings, mine)
    await expectObject(kube, RoleBindings, mine, ({ metadata }) => metadata.uid !== before?.metadata.uid)
    await kube.delete(ServiceAccounts, { name: 'namespace-manager', namespace: space })
    await expectObject(kube, ServiceAccounts, { name: 'namespace-manager', namespace: space }, () => true)
  })

  it('let it make, change and delete no namespace that it did not make', async () => {
    const name = `stranger-${foreign}`
    match(await refusalOf(asOperator.create(Namespaces, object(Namespaces, '', name))), /only; of others it writes/)
    const change = (metadata: object) => asOperator.patch(Namespaces, { name: foreign }, { metadata })
    match(await refusalOf(asOperator.delete(Namespaces, { name: foreign })), /only; of others it writes/)
    match(await refusalOf(change({ labels: { [labels.spaceRequestUid]: 'mine' } })), /only; of others it writes/)
    match(await refusalOf(change({ annotations: { 'example.com/note': '1' } })), /only; of others it writes/)
    await change({ annotations: { 'berth.dev/onboarded': 'development' } })
    const made = asOperator.patch(Namespaces, { name: space }, { metadata: { labels: { [labels.spaceRequestUid]: null } } })
    match(await refusalOf(made), /only; of others it writes/)
  })

  it('give it no rights in a namespace that it did not make', async () => {
    for (const home of [foreign, 'kube-system', 'berth-system'])
      match(await refusalOf(asOperator.create(RoleBindings, roleBinding(home))), /in namespaces that it made only/, home)
    for (const kind of [Roles, NetworkPolicies, ResourceQuotas])
      match(await refusalOf(asOperator.create(kind, object(kind, foreign, 'mine'))), /orbidden/, kind.kind)
  })

  it('give it no tokens of others', async () => {
    await kube.create(ServiceAccounts, object(ServiceAccounts, foreign, 'mighty'))
    await asOperator.create(ServiceAccounts, object(ServiceAccounts, foreign, 'berth-space-1'))
    match(await refusalOf(tokenOf(foreign, 'mighty')), /asks for tokens in namespaces that it made only/)
    match(await refusalOf(tokenOf(foreign, 'berth-space-1')), /asks for tokens in namespaces that it made only/)
    for (const [home, name] of [
      ['kube-system', 'default'],
      ['berth-system', 'berth-kas'],
      [closed, 'default'],
    ] as const)
      match(await refusalOf(tokenOf(home, name)), /cannot create resource "serviceaccounts\/token"/, home)
    await tokenOf(foreign, 'berth-space-1', ['berth-kas'])
    await tokenOf('berth-system', 'berth-operator', ['berth-kas'])
    match(
      await refusalOf(asOperator.create(ServiceAccounts, object(ServiceAccounts, foreign, 'mine'))),
      /makes those named berth-space/,
    )
  })

  it('let it read no Secret, and act as nobody, in a namespace that did not let it in', async () => {
    for (const home of ['', closed, 'kube-system', 'berth-system', space]) {
      match(await refusalOf(asOperator.list(Secrets, { namespace: home })), /cannot list resource "secrets"/, home)
      equal(await isAllowed(kube, { user: OPERATOR, groups: GROUPS }, impersonating(home)), false, home)
    }
    for (const home of [namespace, foreign]) {
      await asOperator.list(Secrets, { namespace: home })
      equal(await isAllowed(kube, { user: OPERATOR, groups: GROUPS }, impersonating(home)), true, home)
    }
  })

  it('let it write no Secret and no ConfigMap that is not its own', async () => {
    const marked = { metadata: { name: 'theirs', labels: { [labels.spaceRequestUid]: '1' } } }
    for (const kind of [Secrets, ConfigMaps]) await kube.create(kind, object(kind, foreign, 'theirs'))
    match(await refusalOf(asOperator.create(Secrets, object(Secrets, foreign, 'mine'))), /those that it made for a SpaceRequest/)
    match(await refusalOf(asOperator.patch(Secrets, { name: 'theirs', namespace: foreign }, marked)), /those that it made/)
    match(await refusalOf(asOperator.delete(Secrets, { name: 'theirs', namespace: foreign })), /those that it made/)
    for (const home of ['kube-system', 'berth-system', closed])
      match(await refusalOf(asOperator.create(Secrets, object(Secrets, home, 'theirs', marked))), /cannot create/, home)
    match(await refusalOf(asOperator.create(ConfigMaps, object(ConfigMaps, foreign, 'mine'))), /gitops.berth.dev\/inventory only/)
    const own = { metadata: { name: 'ours', labels: { 'gitops.berth.dev/inventory': 'true' } } }
    await asOperator.create(ConfigMaps, object(ConfigMaps, foreign, 'ours', own))
    for (const home of ['kube-system', 'berth-system'])
      match(await refusalOf(asOperator.create(ConfigMaps, object(ConfigMaps, home, 'ours', own))), /none in kube-system/, home)
    const inventory = { metadata: { labels: { 'gitops.berth.dev/inventory': 'true' } } }
    match(await refusalOf(asOperator.patch(ConfigMaps, { name: 'theirs', namespace: foreign }, inventory)), /inventory only/)
  })

  it('let it make privileged namespaces only where an administrator says so', async () => {
    await kube.create(DeploymentTargetClaims, claim(namespace, 'mighty', { deploymentTargetClassName: kept[1] ?? '' }))
    const told = await eventually(async () => {
      const all = await kube.list(SpaceRequests, { namespace })
      return all.find(({ spec, status }) => spec.tierName === kept[1] && (status?.conditions?.length ?? 0) > 0)
    })
    match(JSON.stringify(told?.status), /the operator makes no privileged namespaces/)
    match(JSON.stringify(told?.status), /verb use on podsecuritylevels.berth.dev named privileged/)
    await apply(kube, leaveForPrivileged())
    for (const { metadata } of (await kube.list(SpaceRequests, { namespace })).filter(({ spec }) => spec.tierName === kept[1]))
      await kube.patch(SpaceRequests, { name: metadata.name, namespace }, { metadata: { annotations: { again: '1' } } })
    await expectObject(kube, DeploymentTargetClaims, { name: 'mighty', namespace }, ({ status }) => status?.phase === 'Bound')
  })

  it('let it take everything away again', async () => {
    for (const name of ['mighty', 'dev']) await kube.delete(DeploymentTargetClaims, { name, namespace })
    await expectGone(kube, DeploymentTargetClaims, { name: 'dev', namespace })
    await eventually(async () => {
      const [left] = await kube.list(Namespaces, { fields: `metadata.name=${space}` })
      return left === undefined || left.metadata.deletionTimestamp !== undefined
    })
    equal(refusals, [])
  })
})
