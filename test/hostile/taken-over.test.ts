import { is, match } from 'uvu/assert'
import { type Kube, requestToken } from '../../src/adapters/kube/index.ts'
import {
  Agents,
  apiVersionOf,
  ClusterRoleBindings,
  ClusterRoles,
  ConfigMaps,
  DeploymentTargetClaims,
  GitProjects,
  type Kind,
  type KubeObject,
  labels,
  Namespaces,
  Pods,
  RoleBindings,
  Secrets,
  SpaceTiers,
  userOfAccount,
} from '../../src/api/index.ts'
import { bindingOf, untilMay } from '../support/builders/credentials.ts'
import { refusalOf } from '../support/refusal.ts'
import { spaceTier } from '../support/spaces.ts'
import { describe } from '../support/suite.ts'
import { claim } from '../support/targets.ts'
import { expectObject } from '../support/verbs.ts'
import { bringUp, type Installation, sourceOf } from './installation.ts'

const OPERATOR = { kind: 'ServiceAccount', namespace: 'berth-system', name: 'berth-operator' } as const
const KAS = { ...OPERATOR, name: 'berth-kas' }
/** Nobody let Berth into these. */
const SHUT = ['closed', 'kube-system', 'berth-system']

const secret = (namespace: string, name: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  stringData: { password: 'battery staple' },
})

const bare = (kind: Kind, namespace: string, name: string, rest: object = {}): KubeObject => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata: { name, namespace },
  ...rest,
})

/** Mallory has the kubeconfig that a program was started with, in an installation where namespaces let Berth in themselves. */
describe('hostile: a program that was taken over', (it) => {
  let berth: Installation
  let operator: Kube
  let kas: Kube
  it.before(async () => {
    berth = await bringUp(['team-a', 'closed'])
    operator = berth.holding('operator')
    kas = berth.holding('kas')
    // A local installation trusts its tenants; this one is to be as those are that people share.
    for (const name of ['berth-tenant-operator', 'berth-tenant-kas']) await berth.kube.delete(ClusterRoleBindings, { name })
    await berth.berth('onboard', 'team-a')
    await berth.restartOperator()
    for (const namespace of ['team-a', ...SHUT]) await berth.kube.create(Secrets, secret(namespace, 'hers'))
    for (const namespace of SHUT)
      for (const account of [OPERATOR, KAS])
        await untilMay(berth.kube, namespace, userOfAccount(account), { resource: 'secrets', verb: 'get' }, false)
  })
  it.after(() => berth.stop())

  const shut = async (read: (namespace: string) => Promise<unknown>) => {
    for (const namespace of SHUT) match(await refusalOf(read(namespace)), /cannot|orbidden/, namespace)
  }

  it('reads Secrets where it was let in, and nowhere else', async () => {
    await operator.list(Secrets, { namespace: 'team-a' })
    is((await kas.get(Secrets, { name: 'hers', namespace: 'team-a' }))?.metadata.name, 'hers')
    await shut((namespace) => operator.list(Secrets, { namespace }))
    for (const program of [operator, kas]) {
      await shut((namespace) => program.get(Secrets, { name: 'hers', namespace }))
      match(await refusalOf(program.list(Secrets)), /cannot list/)
    }
    match(await refusalOf(kas.list(Secrets, { namespace: 'team-a' })), /cannot list/)
  })

  it('acts as nobody but the service accounts that it was let in for', async () => {
    const account = (namespace: string) => ({ user: userOfAccount({ namespace, name: 'default' }), groups: [] })
    await operator.as(account('team-a')).list(ConfigMaps, { namespace: 'team-a' })
    await shut((namespace) => operator.as(account(namespace)).list(ConfigMaps, { namespace }))
    for (const program of [operator, kas])
      for (const { user, groups } of [
        { user: 'kubernetes-admin', groups: ['system:masters'] },
        { user: 'system:serviceaccount:kube-system:clusterrole-aggregation-controller', groups: [] },
        { user: userOfAccount(OPERATOR), groups: ['system:masters'] },
      ])
        match(await refusalOf(program.as({ user, groups }).list(Namespaces)), /cannot impersonate/, user)
    match(await refusalOf(kas.as(account('team-a')).list(ConfigMaps, { namespace: 'team-a' })), /cannot impersonate/)
  })

  it('asks for no token but its own, and those of spaces', async () => {
    for (const { namespace, name } of [
      { namespace: 'kube-system', name: 'default' },
      KAS,
      { namespace: 'closed', name: 'default' },
    ])
      match(await refusalOf(requestToken(operator, { namespace, name }, { audiences: undefined, seconds: 600 })), /cannot create/)
    const hers = { namespace: 'team-a', name: 'default' }
    match(await refusalOf(requestToken(operator, hers, { audiences: undefined, seconds: 600 })), /asks for tokens in namespaces/)
    match(await refusalOf(requestToken(kas, hers, { audiences: undefined, seconds: 600 })), /cannot create/)
  })

  it('lets itself in nowhere', async () => {
    for (const [program, subject] of [
      [operator, OPERATOR],
      [kas, KAS],
    ] as const)
      for (const role of ['berth-tenant-operator', 'berth-space-keeper', 'cluster-admin', 'admin'])
        await shut((namespace) => program.create(RoleBindings, bindingOf(namespace, role, [subject], 'mine')))
    const mark = { metadata: { labels: { [labels.spaceRequestUid]: 'mine' } } }
    await shut((name) => operator.patch(Namespaces, { name }, mark))
    await shut((name) => operator.delete(Namespaces, { name }))
    await shut((name) => kas.patch(Namespaces, { name }, mark))
  })

  it('gives itself no right over the cluster', async () => {
    const roleRef = { apiGroup: ClusterRoles.group, kind: 'ClusterRole' as const, name: 'cluster-admin' }
    const metadata = { name: 'mine' }
    for (const [program, subject] of [
      [operator, OPERATOR],
      [kas, KAS],
    ] as const) {
      const binding = { ...bare(ClusterRoleBindings, '', 'mine'), metadata, roleRef, subjects: [subject] }
      match(await refusalOf(program.create(ClusterRoleBindings, binding)), /cannot create/)
      const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
      match(
        await refusalOf(program.create(ClusterRoles, { ...bare(ClusterRoles, '', 'mine'), metadata, rules })),
        /cannot create/,
      )
      match(await refusalOf(program.patch(ClusterRoles, { name: 'berth-operator' }, { rules })), /cannot patch/)
      const tier = spaceTier('mine', { podSecurityLevel: 'privileged' })
      match(await refusalOf(program.create(SpaceTiers, tier)), /cannot create/)
    }
  })

  it('changes neither whom a namespace trusts nor what runs there', async () => {
    await berth.repository('team-a', 'config', { 'README.md': '' })
    const hers = { name: 'config', namespace: 'team-a' }
    const containers = [{ name: 'sh', image: 'busybox' }]
    for (const program of [operator, kas]) {
      match(await refusalOf(program.patch(GitProjects, hers, { spec: { visibility: 'public' } })), /cannot patch/)
      const agent = bare(Agents, 'team-a', 'mine', { spec: { configurationProject: 'team-a/config' } })
      match(await refusalOf(program.create(Agents, agent)), /cannot create/)
      match(await refusalOf(program.create(Pods, bare(Pods, 'team-a', 'mine', { spec: { containers } }))), /cannot create/)
      match(await refusalOf(program.create(Secrets, secret('team-a', 'mine'))), /cannot create|those that it made/)
      match(await refusalOf(program.delete(Secrets, { name: 'hers', namespace: 'team-a' })), /cannot delete|those that it made/)
    }
  })

  it('is of use to who let it in, all the same', async () => {
    await berth.kube.create(
      DeploymentTargetClaims,
      claim('team-a', 'dev', { deploymentTargetClassName: 'isolation-level-namespace' }),
    )
    const bound = { name: 'dev', namespace: 'team-a' }
    await expectObject(berth.kube, DeploymentTargetClaims, bound, ({ status }) => status?.phase === 'Bound')
    const { url } = await berth.repository('team-a', 'shop', { 'cm.yaml': bare(ConfigMaps, 'team-a', 'shop') })
    await berth.follow('team-a', 'shop', { source: sourceOf(url) })
    await expectObject(berth.kube, ConfigMaps, { name: 'shop', namespace: 'team-a' }, () => true)
  })
})
