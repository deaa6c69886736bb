import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, ok } from 'uvu/assert'
import {
  ConfigMaps,
  Deployments,
  RoleBindings,
  Roles,
  WorkspaceClasses,
  type WorkspaceSpec,
  Workspaces,
} from '../../../../src/api/index.ts'
import { targetLifecycle } from '../../../../src/operator/deployment-target/lifecycle/index.ts'
import { claimBinding } from '../../../../src/operator/deployment-target-claim/binding/index.ts'
import { workspaces } from '../../../../src/operator/workspace/index.ts'
import type { DevfileSource } from '../../../../src/operator/workspace/project/devfile-source.ts'
import { Failure, seconds } from '../../../../src/std/index.ts'
import { createProject, type RunningKas, runKas } from '../../../kas/running-kas.ts'
import { portOf } from '../../../support/addresses.ts'
import { selfSigned } from '../../../support/builders/certificate.ts'
import { accountToken, tokenOf } from '../../../support/builders/credentials.ts'
import { testCluster } from '../../../support/control-plane.ts'
import { type GitHost, gitHost, type TestRepository } from '../../../support/git-host.ts'
import { type RunningOperator, startOperator } from '../../../support/operator.ts'
import { describe } from '../../../support/suite.ts'
import { eventually, expectGone, expectObject } from '../../../support/verbs.ts'
import { prepareNamespace } from '../fixture.ts'

const OWN = `schemaVersion: 2.2.0
parent: { uri: ../base/devfile.yaml, components: [{ name: tools, container: { memoryLimit: 1Gi } }] }
`
const BASE = `schemaVersion: 2.2.0
parent: { uri: 'berth://git/NAMESPACE/parents/-/root.yaml?ref=v1' }
components: [{ name: extra, container: { image: 'example.com/extra:1' } }]
`
const ROOT = `schemaVersion: 2.2.0
components:
  - { name: tools, container: { image: 'example.com/tools:1' } }
  - { name: cache, kubernetes: { uri: k8s/cache.yaml } }
`
const TOOLS = `schemaVersion: 2.2.0\ncomponents: [{ name: tools, container: { image: 'example.com/tools:1' } }]\n`
const object = (name: string, value = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\ndata: { a: '${value}' }\n`
/** Without parents, with objects beside it. */
const BESIDE = `schemaVersion: 2.2.0
variables: { mode: fast }
components:
  - { name: tools, container: { image: 'example.com/tools:1' } }
  - { name: settings, kubernetes: { uri: ../k8s/settings.yaml } }
`

const WEB = `schemaVersion: 2.3.0
components:
  - { name: tools, container: { image: 'example.com/tools:1' } }
  - { name: remote, kubernetes: { uri: cache.yaml } }
`
const CACHE = object('remote')

describe('workspace: devfiles of projects', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let host: GitHost
  let operator: RunningOperator
  let kas: RunningKas
  let devfiles: DevfileSource
  let repository: TestRepository
  let namespace = ''
  let folder = ''
  let first = ''
  let web: Server
  let registry = ''

  it.before(async () => {
    namespace = await cluster.namespace('devfile')
    host = await gitHost()
    repository = await host.repository('shop')
    first = await repository.commit({
      'large.yaml': `# ${'x'.repeat(100_000)}`,
      '.devfile/web.yaml': OWN,
      'base/devfile.yaml': BASE.replace('NAMESPACE', namespace),
      '.devfile/beside.yaml': BESIDE,
      'k8s/settings.yaml': object('settings', '{{ mode }}'),
    })
    const parents = await host.repository('parents')
    await parents.tag('v1', await parents.commit({ 'root.yaml': ROOT, 'k8s/cache.yaml': object('cache') }))
    await createProject(kube, namespace, 'shop', { url: repository.url })
    await createProject(kube, namespace, 'parents', { url: parents.url })

    await prepareNamespace(cluster, namespace)
    await allow()

    const { key, cert } = selfSigned('127.0.0.1')
    web = createServer({ key, cert }, ({ url }, response) => response.end(url === '/devfiles/base/1.0.0' ? WEB : CACHE))
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
    registry = `127.0.0.1:${portOf(web)}`
    folder = await mkdtemp(join(tmpdir(), 'berth-ca-'))
    const devfileCa = join(folder, 'ca.pem')
    await writeFile(devfileCa, cert)
    const flags = { operator: `${namespace}/operator`, devfileHosts: registry, devfileCa }
    kas = await runKas({ kubeconfig: cluster.kubeconfig, namespace, flags })
    devfiles = kas.stream(await accountToken(kube, namespace, 'operator', ['berth-kas']))
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: (context) => [claimBinding(context), targetLifecycle(context), workspaces(context, { devfiles })],
    })
  })
  it.after(async () => {
    for (const { metadata } of await kube.list(Workspaces, { namespace })) {
      await kube.delete(Workspaces, { name: metadata.name, namespace })
      await expectGone(kube, Workspaces, { name: metadata.name, namespace })
    }
    await operator.stop()
    await kas.stop()
    await host.close()
    await new Promise((resolve) => web.close(resolve))
    await rm(folder, { recursive: true })
    await kube.delete(WorkspaceClasses, { name: namespace })
    await cluster.close()
  })

  /** kas looks again after an interval: until then, who asks is answered from the commit before. */
  const push = async (files: Record<string, string>): Promise<string> => {
    const commit = await repository.commit(files)
    const wanted = {
      projectId: `${namespace}/shop`,
      ref: { kind: 'default' },
      globs: [],
      files: Object.keys(files),
      namespace,
    } as const
    await eventually(async () => (await devfiles.fetchObjects(wanted, AbortSignal.timeout(seconds(20))))?.commitId === commit)
    return commit
  }
  const allow = async () => {
    const rbac = 'rbac.authorization.k8s.io'
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'patch', 'delete'] }]
    const metadata = { name: 'owner', namespace }
    await kube.create(Roles, { apiVersion: `${rbac}/v1`, kind: 'Role', metadata, rules })
    await kube.create(RoleBindings, {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'owner' },
      subjects: [{ kind: 'Group', name: 'system:authenticated', apiGroup: rbac }],
    })
  }
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
      [
        'base/devfile.yaml',
        `berth://git/${namespace}/parents/-/root.yaml?ref=v1`,
        `berth://git/${namespace}/parents/-/k8s/cache.yaml?ref=v1`,
      ],
    )
    const deployment = await kube.get(Deployments, { name: 'workspace-web', namespace })
    const containers = deployment?.spec?.template.spec?.containers.map(({ name, resources }) => [name, resources?.limits?.memory])
    equal(containers, [
      ['tools', '1Gi'],
      ['extra', undefined],
    ])
  })

  it('are the one that lies where all tools look, and else that of the class', async () => {
    const head = await push({ 'devfile.yaml': TOOLS })
    const running = async (name: string, spec: Partial<WorkspaceSpec>) => {
      await create(name, spec)
      const ref = { name, namespace }
      return (await expectObject(kube, Workspaces, ref, (now) => now.status?.actualState === 'Running')).status?.devfile
    }
    const sought = await running('sought', {})
    equal([sought?.path, sought?.commit], ['devfile.yaml', head])
    await create('before', { project: { gitProject: 'shop', ref: first } })
    match(await refused('before'), 'neither the workspace nor its project nor its class has a devfile')
    await kube.patch(WorkspaceClasses, { name: namespace }, { spec: { devfile: TOOLS } })
    await eventually(() => operator.caches.of(WorkspaceClasses).get({ name: namespace })?.spec.devfile === TOOLS)
    const ofClass = await running('of-class', { project: { gitProject: 'shop', ref: first } })
    equal([ofClass?.path, ofClass?.commit, ofClass?.content.includes('example.com/tools:1')], [undefined, undefined, true])
    await push({ '.devfile.yaml': 'schemaVersion: 2.2.0\ncomponents: []\n' })
    await create('wrong-there', {})
    match(await refused('wrong-there'), 'the devfile .devfile.yaml has 1 mistake')
  })

  it('bring their Kubernetes objects along, from where they are themselves', async () => {
    ok(await kube.get(ConfigMaps, { name: 'cache', namespace }))
    await create('beside', { project: { gitProject: 'shop', ref: first }, devfile: { path: '.devfile/beside.yaml' } })
    const { status } = await expectObject(
      kube,
      Workspaces,
      { name: 'beside', namespace },
      (now) => now.status?.actualState === 'Running',
    )
    equal(
      status?.devfile?.sources?.map(({ name }) => name),
      ['k8s/settings.yaml'],
    )
    equal((await kube.get(ConfigMaps, { name: 'settings', namespace }))?.data, { a: 'fast' })
  })

  it('have parents on web servers that kas may ask, and their objects beside them', async () => {
    const parent = `{ id: base, version: 1.0.0, registryUrl: 'https://${registry}' }`
    await create('web-parent', { devfile: { inline: `schemaVersion: 2.3.0\nparent: ${parent}\n` } })
    const { status } = await expectObject(
      kube,
      Workspaces,
      { name: 'web-parent', namespace },
      (now) => now.status?.actualState === 'Running',
    )
    equal(
      status?.devfile?.sources?.map(({ name }) => name),
      [`https://${registry}/devfiles/base/1.0.0`, `https://${registry}/devfiles/base/cache.yaml`],
    )
    ok(await kube.get(ConfigMaps, { name: 'remote', namespace }))
    const token = await tokenOf(kube, { namespace, name: 'default' }, ['berth-kas'])
    const asked = kas.stream(token).fetchDevfile(`https://${registry}/a`, AbortSignal.timeout(5000))
    match(await asked.catch((thrown) => Failure.from(thrown).message), /is not the operator/)
  })

  it('stay as they were when something else is pushed', async () => {
    await push({ '.devfile/web.yaml': 'nonsense' })
    await kube.patch(Workspaces, { name: 'web', namespace }, { spec: { restartedAt: '2030-01-01T00:00:00Z' } })
    const { status } = await eventually(async () => {
      const now = await kube.get(Workspaces, { name: 'web', namespace })
      return now?.status?.restartedAt === '2030-01-01T00:00:00Z' && now
    })
    is(status?.devfile?.commit, first)
    is(status?.failure, undefined)
  })

  it('are read at the commit that the workspace names', async () => {
    await kube.delete(Workspaces, { name: 'web', namespace })
    await expectGone(kube, Workspaces, { name: 'web', namespace })
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
    match(await refused('https'), 'devfiles of example.com are not fetched here')
    await create('closed', parent('berth://git/nobodys/-/devfile.yaml'))
    match(await refused('closed'), 'there is no GitProject with path nobodys')
    const objects = ['absent.yaml', 'https://example.com/a.yaml'].map(
      (uri, i) => `  - { name: k${i}, kubernetes: { uri: '${uri}' } }`,
    )
    const inline = `${ROOT.replace(/ {2}- \{ name: cache.*\n/, '')}${objects.join('\n')}\n`
    await create('objects', { devfile: { inline } })
    const said = await refused('objects')
    match(said, /component "k0" of kind kubernetes: absent\.yaml cannot be read: .*no regular file absent\.yaml/)
    match(
      said,
      /; component "k1" of kind kubernetes: https:\/\/example\.com\/a\.yaml cannot be read: devfiles of example\.com are not fetched here/,
    )
    await create('large', { devfile: { inline: inline.replaceAll(/'[^']*\.yaml'/g, 'large.yaml') } })
    match(await refused('large'), /is 200004 and more characters long; at most 131072 are kept/)
  })
})
