import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, ok } from 'uvu/assert'
import {
  BERTH_NAMESPACE,
  type Condition,
  ConfigMaps,
  conditionOf,
  DeploymentTargetClaims,
  DeploymentTargets,
  GitOpsDeploymentManagedEnvironments,
  GitOpsDeployments,
  GitProjects,
  type Kind,
  type KubeObject,
  Namespaces,
  RoleBindings,
  Secrets,
  SpaceRequests,
  secretTypes,
  tenantRoles,
  Workspaces,
} from '../../src/api/index.ts'
import { controllersOf } from '../../src/operator/controllers.ts'
import { parseConfig } from '../../src/operator/index.ts'
import { berth } from '../cli/berth.ts'
import { createProject, createSecret, type RunningKas, runKas } from '../kas/running-kas.ts'
import { bindingOf, deployer, grant, signIn, untilMay } from '../support/builders/credentials.ts'
import { testCluster } from '../support/control-plane.ts'
import { memoryRepository } from '../support/deployments.ts'
import { type GitHost, gitHost } from '../support/git-host.ts'
import { type RunningOperator, startOperator } from '../support/operator.ts'
import { listeningForRefusals } from '../support/refusal.ts'
import { spaceRequest } from '../support/spaces.ts'
import { describe } from '../support/suite.ts'
import { API_URL, claim, credentialsSecret, target } from '../support/targets.ts'
import { expectGone, expectObject } from '../support/verbs.ts'
import { workspace } from '../support/workspaces.ts'

type WithStatus = KubeObject & { status?: { conditions?: Condition[] } }

const REPOSITORY = 'https://git.example.com/team-a/shop'
const CONFIG = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'from-git' }, data: { a: '1' } }
const CLOSED = 'NamespaceNotOnboarded'

/** The programs run by the tokens of their shipped accounts, and have no other rights. */
describe('a namespace', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  const folder = mkdtempSync(join(tmpdir(), 'berth-onboard-'))
  const git = memoryRepository()
  const { log: listening, refusals } = listeningForRefusals()
  let operator: RunningOperator
  let kas: RunningKas
  let host: GitHost
  let namespace = ''
  let forged = ''
  it.before(async () => {
    host = await gitHost()
    namespace = await cluster.namespace('onboard')
    forged = await cluster.namespace('forged')
    await git.push({ 'deploy/config.json': CONFIG })
    for (const home of [namespace, forged]) await fill(home)
    await forge(forged)
    const kubeconfig = fileOf('operator', await signIn(kube, { namespace: BERTH_NAMESPACE, name: 'berth-operator' }))
    operator = await startOperator({
      kubeconfig,
      namespace,
      neighbours: [forged],
      log: listening,
      tenantRole: tenantRoles.operator,
      controllers: (context) => controllersOf(context, parseConfig({}, {}), git.source),
    })
    const server = fileOf('kas', await signIn(kube, { namespace: BERTH_NAMESPACE, name: 'berth-kas' }))
    kas = await runKas({ kubeconfig: server, namespace, flags: { leaseNamespace: BERTH_NAMESPACE } })
  })
  it.after(async () => {
    await kas.stop()
    await operator.stop()
    await host.close()
    rmSync(folder, { recursive: true })
    await cluster.close()
  })

  const fileOf = (name: string, { kubeconfig }: { kubeconfig: string }) => {
    const file = join(folder, name)
    writeFileSync(file, kubeconfig)
    return file
  }

  /** One object of each kind that needs a Secret, or a service account to act as. */
  async function fill(home: string): Promise<void> {
    const metadata = { name: 'shop', namespace: home }
    const repository = await host.repository(home)
    await repository.commit({ 'a.yaml': '' })
    await createSecret(kube, home, 'login', { username: 'u', password: 'p' })
    await createProject(kube, home, 'private', { url: repository.url, credentialsSecretRef: { name: 'login' } })
    await createProject(kube, home, 'shop', { url: REPOSITORY, pollInterval: '24h' })
    await grant(kube, home, 'default', 'admin')
    await kube.create(GitOpsDeployments, {
      apiVersion: 'managed-gitops.redhat.com/v1alpha1',
      kind: 'GitOpsDeployment',
      metadata,
      spec: { source: { repoURL: REPOSITORY, path: 'deploy' }, type: 'automated', prune: true },
    })
    await kube.create(Secrets, { ...credentialsSecret(home, 'far'), type: secretTypes.managedEnvironment })
    await kube.create(GitOpsDeploymentManagedEnvironments, {
      apiVersion: 'managed-gitops.redhat.com/v1alpha1',
      kind: 'GitOpsDeploymentManagedEnvironment',
      metadata,
      spec: { apiURL: API_URL, credentialsSecret: 'far' },
    })
    await kube.create(Secrets, credentialsSecret(home))
    await kube.create(DeploymentTargets, target(home, 'shop'))
    await kube.create(SpaceRequests, spaceRequest(home, 'shop', { tierName: 'appstudio-env' }))
    await kube.create(DeploymentTargetClaims, claim(home, 'shop', { deploymentTargetClassName: 'isolation-level-namespace' }))
    await kube.create(Workspaces, workspace(home, 'shop'))
  }

  /** What looks as if it let the operator in: its role, and an account of its name that is another's. */
  const forge = (home: string) =>
    kube.create(
      RoleBindings,
      bindingOf(home, tenantRoles.operator, [{ kind: 'ServiceAccount', name: 'berth-operator', namespace: home }]),
    )

  const conditionsOf = ({ status }: WithStatus) => status?.conditions ?? []
  const says = (object: WithStatus, reason: string) => conditionsOf(object).some((condition) => condition.reason === reason)
  /** `reason`: what they say while it is closed. kas looks after one of the two namespaces. */
  const whatIsIn = (home: string): { kind: Kind; name: string; reason: string }[] => [
    { kind: GitOpsDeployments, name: 'shop', reason: CLOSED },
    { kind: GitOpsDeploymentManagedEnvironments, name: 'shop', reason: CLOSED },
    { kind: DeploymentTargets, name: 'shop', reason: CLOSED },
    { kind: SpaceRequests, name: 'shop', reason: 'UnableToProvision' },
    { kind: DeploymentTargetClaims, name: 'shop', reason: 'UnableToProvision' },
    { kind: Workspaces, name: 'shop', reason: CLOSED },
    ...(home === namespace ? [{ kind: GitProjects, name: 'private', reason: CLOSED }] : []),
  ]
  async function expectClosed(home: string): Promise<void> {
    const asks = [`namespace ${home} does not let Berth read its Secrets`, `\`berth onboard ${home}\``]
    // Some say the same reason a moment before, while they have not yet met the closed door.
    for (const { kind, name, reason } of whatIsIn(home)) {
      await expectObject<WithStatus>(kube, kind, { name, namespace: home }, (object) =>
        conditionsOf(object).some((one) => one.reason === reason && asks.every((each) => one.message?.includes(each))),
      )
    }
  }

  it('that did not let Berth in has objects that say so, and what to do', async () => {
    await expectClosed(namespace)
    is(await kube.get(ConfigMaps, { name: 'from-git', namespace }), undefined)
  })

  it('is not opened by role bindings that name others', async () => {
    await expectClosed(forged)
  })

  it('is opened by who has the role admin there, and not by who has edit', async () => {
    const [boss, editor] = [
      await deployer(kube, namespace, { name: 'boss', role: 'admin' }),
      await deployer(kube, namespace, { name: 'editor', role: 'edit' }),
    ]
    const refused = await berth(['onboard', namespace, '--kubeconfig', fileOf('editor', editor)])
    is(refused.code, 4)
    match(refused.stderr, `Ask somebody who has the role admin in namespace ${namespace}`)
    const { code, stdout, stderr } = await berth(['onboard', forged, namespace, '--kubeconfig', fileOf('boss', boss)])
    is(code, 4)
    match(stderr, `RoleBinding ${forged}/`)
    match(stdout, `Namespace ${namespace} is open to Berth`)
    const nowhere = await berth(['onboard', 'nowhere-at-all', '--kubeconfig', cluster.kubeconfig])
    match(nowhere.stderr, 'there is no namespace nowhere-at-all')
  })

  it('that lets Berth in goes on by itself', async () => {
    const ready = (type: string) => (object: WithStatus) => conditionOf(object.status?.conditions, type)?.status === 'True'
    await expectObject(kube, GitOpsDeployments, { name: 'shop', namespace }, ready('Ready'))
    ok(await kube.get(ConfigMaps, { name: 'from-git', namespace }))
    const { status } = await expectObject(kube, SpaceRequests, { name: 'shop', namespace }, ready('Ready'))
    ok(await kube.get(Secrets, { name: status?.namespaceAccess?.[0]?.secretRef ?? '', namespace }))
    for (const { kind, name } of whatIsIn(namespace)) {
      const open = (object: WithStatus) => conditionsOf(object).length > 0 && !says(object, CLOSED)
      await expectObject<WithStatus>(kube, kind, { name, namespace }, open)
    }
    await expectClosed(forged)
    equal(refusals, [])
  })

  it('is shut again with --remove, and nothing of its Secrets is kept', async () => {
    const seen = operator.caches.of(Secrets, { fields: `type=${secretTypes.managedEnvironment}` })
    is(seen.in(namespace).length, 1)
    const { code, stderr } = await berth(['onboard', namespace, '--remove', '--kubeconfig', join(folder, 'boss')])
    is(code, 0, stderr)
    // What is bound stays bound, and kas has fetched what it was asked for.
    const asBefore = [GitProjects.kind, DeploymentTargetClaims.kind]
    for (const { kind, name, reason } of whatIsIn(namespace).filter((one) => !asBefore.includes(one.kind.kind)))
      await expectObject<WithStatus>(kube, kind, { name, namespace }, (one) => says(one, reason))
    equal(seen.in(namespace), [])
    await untilMay(
      kube,
      namespace,
      'system:serviceaccount:berth-system:berth-operator',
      { resource: 'secrets', verb: 'get' },
      false,
    )
  })

  it('goes with everything in it, whether its role bindings go first or last', async () => {
    const { code } = await berth(['onboard', namespace, '--kubeconfig', join(folder, 'boss')])
    is(code, 0)
    await expectObject(
      kube,
      SpaceRequests,
      { name: 'shop', namespace },
      (one) => conditionOf(one.status?.conditions, 'Ready')?.status === 'True',
    )
    for (const home of [namespace, forged]) await kube.delete(Namespaces, { name: home })
    for (const home of [namespace, forged]) await expectGone(kube, Namespaces, { name: home })
  })
})
