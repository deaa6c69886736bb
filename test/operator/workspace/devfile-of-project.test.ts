import { readFileSync } from 'node:fs'
import { equal, is, match } from 'uvu/assert'
import { parse } from 'yaml'
import {
  Deployments,
  DeploymentTargetClaims,
  DeploymentTargets,
  Secrets,
  ServiceAccounts,
  type TokenRequest,
  WorkspaceClasses,
  type WorkspaceSpec,
  Workspaces,
} from '../../../src/api/index.ts'
import { targetLifecycle } from '../../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../../src/operator/deployment-target-claim/binding/index.ts'
import { workspaces } from '../../../src/operator/workspace/index.ts'
import { createProject, type RunningKas, runKas } from '../../kas/running-kas.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type GitHost, gitHost, type TestRepository } from '../../support/git-host.ts'
import { describe } from '../../support/suite.ts'
import { claim, credentialsSecret, target } from '../../support/targets.ts'
import { eventually, expectGone, expectObject } from '../../support/verbs.ts'
import { openShop, type RunningShop } from '../../support/workshop.ts'

const OWN = `schemaVersion: 2.2.0
parent: { uri: ../base/devfile.yaml, components: [{ name: tools, container: { memoryLimit: 1Gi } }] }
`
const BASE = `schemaVersion: 2.2.0
parent: { uri: 'berth://git/team/parents/-/root.yaml?ref=v1' }
components: [{ name: extra, container: { image: 'example.com/extra:1' } }]
`
const ROOT = `schemaVersion: 2.2.0
components: [{ name: tools, container: { image: 'example.com/tools:1' } }]
`

describe('workspace: devfiles of projects', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let host: GitHost
  let shop: RunningShop
  let kas: RunningKas
  let repository: TestRepository
  let namespace = ''
  let first = ''

  it.before(async () => {
    namespace = await cluster.namespace('devfile')
    host = await gitHost()
    repository = await host.repository('shop')
    first = await repository.commit({ '.devfile/web.yaml': OWN, 'base/devfile.yaml': BASE })
    const parents = await host.repository('parents')
    await parents.tag('v1', await parents.commit({ 'root.yaml': ROOT }))
    await createProject(kube, namespace, 'shop', { url: repository.url, path: 'team/shop' })
    await createProject(kube, namespace, 'parents', { url: parents.url, path: 'team/parents' })

    const apiURL: string = parse(readFileSync(cluster.kubeconfig, 'utf8')).clusters[0].cluster.server
    const data = { kubeconfig: readFileSync(cluster.kubeconfig).toString('base64') }
    await kube.create(Secrets, { ...credentialsSecret(namespace), data })
    const kubernetesCredentials = { defaultNamespace: namespace, apiURL, clusterCredentialsSecret: 'credentials' }
    await kube.create(DeploymentTargets, target(namespace, 'here', { kubernetesCredentials }))
    await kube.create(DeploymentTargetClaims, claim(namespace, 'shared', { targetName: 'here' }))
    const meta = { apiVersion: 'berth.dev/v1alpha1', kind: 'WorkspaceClass', metadata: { name: namespace } }
    await kube.create(WorkspaceClasses, { ...meta, spec: {} })

    kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace, flags: { operator: `${namespace}/operator` } })
    const metadata = { name: 'operator', namespace }
    await kube.create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata })
    const { status } = await kube.post<TokenRequest>(`/api/v1/namespaces/${namespace}/serviceaccounts/operator/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: ['berth-kas'] },
    })
    const devfiles = kas.stream(status?.token ?? '')
    shop = await openShop({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (workshop) => [claimBinding(workshop), targetLifecycle(workshop), workspaces(workshop, { devfiles })],
    })
  })
  it.after(async () => {
    for (const { metadata } of await kube.list(Workspaces, { namespace })) {
      await kube.delete(Workspaces, { name: metadata.name, namespace })
      await expectGone(kube, Workspaces, { name: metadata.name, namespace })
    }
    await shop.stop()
    await kas.stop()
    await host.close()
    await kube.delete(WorkspaceClasses, { name: namespace })
    await cluster.close()
  })

  const create = (name: string, spec: Partial<WorkspaceSpec>) =>
    kube.create(Workspaces, {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'Workspace',
      metadata: { name, namespace },
      spec: { workspaceClassName: namespace, target: { claimName: 'shared' }, project: { gitProject: 'shop' }, ...spec },
    })
  const refused = async (name: string) => {
    const { status } = await expectObject(kube, Workspaces, { name, namespace }, (now) => now.status?.failure !== undefined)
    return status?.failure?.message ?? ''
  }

  it('are read with their parents, from kas only, and the commit is said', async () => {
    await create('web', { devfile: { path: '.devfile/web.yaml' } })
    const { status } = await expectObject(
      kube,
      Workspaces,
      { name: 'web', namespace },
      (now) => now.status?.actualState === 'Running',
    )
    is(status?.devfile?.commit, first)
    is(status?.devfile?.path, '.devfile/web.yaml')
    equal(
      status?.devfile?.sources?.map(({ name }) => name),
      ['base/devfile.yaml', 'berth://git/team/parents/-/root.yaml?ref=v1'],
    )
    const deployment = await kube.get(Deployments, { name: 'workspace-web', namespace })
    const containers = deployment?.spec?.template.spec?.containers.map(({ name, resources }) => [name, resources?.limits?.memory])
    equal(containers, [
      ['tools', '1Gi'],
      ['extra', undefined],
    ])
  })

  it('stay as they were when something else is pushed', async () => {
    await repository.commit({ '.devfile/web.yaml': 'nonsense' })
    await kube.patch(Workspaces, { name: 'web', namespace }, { spec: { restartedAt: '2030-01-01T00:00:00Z' } })
    const { status } = await eventually(async () => {
      const now = await kube.get(Workspaces, { name: 'web', namespace })
      return now?.status?.restartedAt === '2030-01-01T00:00:00Z' && now
    })
    is(status?.devfile?.commit, first)
    is(status?.failure, undefined)
  })

  it('are read at the commit that the workspace names', async () => {
    await create('at', { project: { gitProject: 'shop', ref: first }, devfile: { path: '.devfile/web.yaml' } })
    await expectObject(kube, Workspaces, { name: 'at', namespace }, (now) => now.status?.devfile?.commit === first)
  })

  it('that are missing, wrong or lead elsewhere are told', async () => {
    await create('missing', { devfile: { path: 'absent.yaml' } })
    match(await refused('missing'), /the devfile absent\.yaml: .*no regular file absent\.yaml/)
    await create('wrong', { devfile: { path: '.devfile/web.yaml' } })
    match(await refused('wrong'), /the devfile \.devfile\/web\.yaml has 1 mistake/)
    const parent = (uri: string) => ({ devfile: { inline: `schemaVersion: 2.2.0\nparent: { uri: '${uri}' }\n` } })
    await create('https', parent('https://example.com/devfile.yaml'))
    match(await refused('https'), 'parents are read from GitProjects only')
    await create('closed', parent('berth://git/nobodys/-/devfile.yaml'))
    match(await refused('closed'), 'there is no GitProject with path nobodys')
  })
})
