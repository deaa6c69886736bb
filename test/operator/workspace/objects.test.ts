import { readdirSync, readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import {
  ConfigMaps,
  Deployments,
  GitProjects,
  type Kind,
  NetworkPolicies,
  Pods,
  ResourceQuotas,
  Secrets,
  ServiceAccounts,
  Services,
  type Workspace,
  WorkspaceClasses,
  type WorkspaceClassSpec,
  type WorkspaceSpec,
  Workspaces,
} from '../../../src/api/index.ts'
import { testCluster } from '../../support/control-plane.ts'
import { type RunningOperator, startOperator } from '../../support/operator.ts'
import { describe } from '../../support/suite.ts'
import { documents, eventually, expectGone, expectObject } from '../../support/verbs.ts'
import { workspaceClass } from '../../support/workspaces.ts'
import { everybody, giveTarget } from './fixture.ts'

const GOLDEN = new URL('./desired/golden/', import.meta.url)
const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('workspace: its objects in a target', (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let operator: RunningOperator
  let namespace = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('workspace-objects')
    await giveTarget(cluster, namespace)
    operator = await startOperator({
      kubeconfig: cluster.kubeconfig,
      namespace,
      controllers: everybody,
    })
  })
  it.afterEach(async () => {
    await kube.delete(Workspaces, made('web', ''))
    await expectGone(kube, Workspaces, made('web', ''))
    await operator.stop()
    await kube.delete(WorkspaceClasses, { name: namespace })
  })
  it.after(() => cluster.close())

  const made = (name: string, prefix = 'workspace-') => ({ name: `${prefix}${name}`, namespace })
  const inlined = (components: string, more = '') => `schemaVersion: 2.3.0\ncomponents:\n${components}\n${more}`
  const TOOLS = '  - { name: tools, container: { image: "example.com/tools:1" } }'

  async function running(
    inline: string,
    spec: Partial<WorkspaceSpec> = {},
    settings: WorkspaceClassSpec = {},
  ): Promise<Workspace> {
    await kube.create(WorkspaceClasses, workspaceClass(namespace, { deploymentTargetClassName: 'by-hand', ...settings }))
    await kube.create(Workspaces, {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'Workspace',
      metadata: made('web', ''),
      spec: { workspaceClassName: namespace, target: { claimName: 'shared' }, devfile: { inline }, ...spec },
    })
    return becomes('Running')
  }
  const becomes = (state: string) =>
    expectObject(kube, Workspaces, made('web', ''), ({ status }) => status?.actualState === state)
  const set = (spec: Partial<WorkspaceSpec>) => kube.patch(Workspaces, made('web', ''), { spec })
  const podSpec = async () => (await kube.get(Deployments, made('web')))?.spec?.template.spec

  it('are all taken by the API server, whatever the devfile', async () => {
    for (const file of readdirSync(GOLDEN).filter((name) => name.endsWith('.objects.yaml'))) {
      for (const object of documents(readFileSync(new URL(file, GOLDEN), 'utf8'))) {
        const kind = await kube.resolve(object.apiVersion, object.kind)
        assert.ok(kind, file)
        if (!kind) continue
        const placed = { ...object, metadata: { ...object.metadata, namespace } }
        await kube.apply(kind, placed, { manager: 'golden', dryRun: true })
      }
    }
  })

  it('go when the devfile wants them no more, and come when it wants others', async () => {
    const apart =
      '  - { name: db, container: { image: "example.com/db:1", dedicatedPod: true, endpoints: [{ name: sql, targetPort: 5432 }] } }'
    const commands = 'commands: [{ id: a, exec: { component: tools, commandLine: "true" } }]\nevents: { postStart: [a] }'
    await running(inlined(`${TOOLS}\n${apart}`, commands))
    const deployments = async () => (await kube.list(Deployments, { namespace })).map(({ metadata }) => metadata.name).sort()
    assert.is((await deployments()).length, 2)
    assert.is((await kube.list(Services, { namespace })).length, 1)
    assert.ok(await kube.get(ConfigMaps, made('web-scripts')))
    assert.is((await kube.list(Pods, { namespace })).length, 2)
    await set({ devfile: { inline: inlined(TOOLS) } })
    await eventually(async () => (await deployments()).length === 1)
    await expectGone(kube, ConfigMaps, made('web-scripts'))
    await eventually(async () => (await kube.list(Services, { namespace })).length === 0)
    await becomes('Running')
  })

  it('are all there again after a stop and a start, and after a restart, though nobody sees that they went', async () => {
    const endpoints = '[{ name: web, targetPort: 8080 }]'
    await running(inlined(`  - { name: tools, container: { image: "example.com/tools:1", endpoints: ${endpoints} } }`))
    const lost: Kind[] = [ServiceAccounts, Services, NetworkPolicies]
    const lose = () => Promise.all(lost.map((kind) => kube.delete(kind, made('web'))))
    const areThere = async () => (await Promise.all(lost.map((kind) => kube.get(kind, made('web'))))).every(Boolean)
    await lose()
    await set({ desiredState: 'Stopped' })
    await becomes('Stopped')
    await set({ desiredState: 'Running' })
    await becomes('Running')
    assert.ok(await areThere())
    await lose()
    await set({ desiredState: 'RestartRequested' })
    await expectObject(kube, Workspaces, made('web', ''), ({ spec }) => spec.desiredState === 'Running')
    await becomes('Running')
    await eventually(areThere)
  })

  it('have no second pod after a quick start while the one before it ends', async () => {
    await running(inlined(TOOLS))
    const pods = () => kube.list(Pods, { namespace })
    const [first] = await pods()
    const ref = { name: first?.metadata.name ?? '', namespace }
    await kube.patch(Pods, ref, { metadata: { finalizers: ['example.com/held'] } })
    await set({ desiredState: 'Stopped' })
    await expectObject(kube, Pods, ref, (pod) => pod.metadata.deletionTimestamp !== undefined)
    const { metadata } = await set({ desiredState: 'Running' })
    const isSeen = ({ status }: Workspace) =>
      status?.observedGeneration === metadata.generation && status?.actualState !== 'Running'
    await expectObject(kube, Workspaces, made('web', ''), isSeen)
    assert.is((await kube.get(Deployments, made('web')))?.spec?.replicas, 0)
    assert.is((await pods()).length, 1)
    await kube.patch(Pods, ref, { metadata: { finalizers: [] } })
    await becomes('Running')
    assert.is.not((await pods())[0]?.metadata.uid, first?.metadata.uid)
  })

  it('are Running only when the pods beside the main one are, and say what is wrong there', async () => {
    const apart = (image: string) => inlined(`${TOOLS}\n  - { name: db, container: { image: "${image}", dedicatedPod: true } }`)
    await running(apart('example.com/db:1'))
    await set({ devfile: { inline: apart('fate.invalid/image-pull-failure') } })
    const { status } = await becomes('Failed')
    assert.is(status?.failure?.reason, 'ImageNotFound')
    await set({ devfile: { inline: apart('example.com/db:1') } })
    await becomes('Running')
    const [other] = (await kube.list(Deployments, { namespace })).filter(({ metadata }) => metadata.name !== 'workspace-web')
    await kube.patch(Deployments, { name: other?.metadata.name ?? '', namespace }, { spec: { replicas: 0 } })
    await expectObject(kube, Deployments, { name: other?.metadata.name ?? '', namespace }, ({ spec }) => spec?.replicas === 1)
    await set({ desiredState: 'Stopped' })
    await becomes('Stopped')
    assert.equal(await kube.list(Pods, { namespace }), [])
  })

  it('run what preStart applies before the others', async () => {
    const commands = 'commands: [{ id: a, apply: { component: prep } }]\nevents: { preStart: [a] }'
    await running(inlined(`${TOOLS}\n  - { name: prep, container: { image: "example.com/prep:1" } }`, commands))
    const [pod] = await kube.list(Pods, { namespace })
    assert.equal(
      pod?.spec?.initContainers?.map(({ name }) => name),
      ['prestart-1-prep'],
    )
    assert.equal(
      pod?.spec?.containers.map(({ name }) => name),
      ['tools'],
    )
  })

  it('keep copies of the pull secrets of the class, as they are now', async () => {
    const type = 'kubernetes.io/dockerconfigjson'
    const data = (text: string) => ({ '.dockerconfigjson': base64(text) })
    const imagePullSecrets = ['registry', 'missing'].map((name) => ({ name, namespace }))
    await kube.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'registry', namespace },
      type,
      data: data('{"auths":{}}'),
    })
    await eventually(
      () => operator.caches.of(Secrets, { fields: `type=${type}` }).get({ name: 'registry', namespace }) !== undefined,
    )
    await running(inlined(TOOLS), {}, { imagePullSecrets })
    const [copy] = (await podSpec())?.imagePullSecrets ?? []
    const ref = { name: copy?.name ?? '', namespace }
    assert.equal((await kube.get(Secrets, ref))?.data, data('{"auths":{}}'))
    await kube.patch(Secrets, { name: 'registry', namespace }, { data: data('{"auths":{"a":{}}}') })
    await expectObject(kube, Secrets, ref, (secret) => secret.data?.['.dockerconfigjson'] === base64('{"auths":{"a":{}}}'))
    await kube.delete(Secrets, { name: 'registry', namespace })
    await expectGone(kube, Secrets, ref)
  })

  it('have a quota only where the namespace is theirs alone', async () => {
    const most = { cpu: 2, memory: '2Gi' }
    const usual = { cpu: 1, memory: '1Gi' }
    await running(
      inlined(TOOLS),
      {},
      {
        maxResourcesPerWorkspace: { requests: most, limits: most },
        defaultResourcesPerWorkspaceContainer: { requests: usual, limits: usual },
      },
    )
    assert.equal(await kube.list(ResourceQuotas, { namespace }), [])
    await set({
      devfile: { inline: inlined(`${TOOLS}\n  - { name: more, container: { image: "example.com/a:1", cpuLimit: "4" } }`) },
    })
    const { status } = await expectObject(kube, Workspaces, made('web', ''), (now) => now.status?.failure !== undefined)
    // It runs on as it is.
    assert.is(status?.actualState, 'Running')
    assert.match(status?.failure?.message ?? '', /containers' cpuLimit is more than the 2 that the class allows a workspace/)
  })

  /** Whom the API server takes the tests for: the owner of what they create. */
  const me = async (): Promise<string> => {
    const apiVersion = 'authentication.k8s.io/v1'
    const review = { apiVersion, kind: 'SelfSubjectReview' }
    const { status } = await kube.post<{ status: { userInfo: { username: string } } }>(
      `/apis/${apiVersion}/selfsubjectreviews`,
      review,
    )
    return status.userInfo.username
  }

  it('inherit variables, the nearest winning, and freeze them until they are asked for anew', async () => {
    const secret = (called: string, level: string, of: string, data: Record<string, string>, type = 'environment') =>
      kube.create(Secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: called,
          namespace,
          labels: { 'berth.dev/variables': level },
          annotations: { 'berth.dev/variables-of': of, 'berth.dev/variables-type': type },
        },
        data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
      })
    await kube.create(GitProjects, {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'GitProject',
      metadata: { name: 'web', namespace },
      spec: { path: `${namespace}/sub/web`, url: 'https://git.example.com/web.git' },
    })
    await eventually(() => operator.caches.of(GitProjects).get({ name: 'web', namespace }) !== undefined)
    await secret('everyone', 'group', '', { A: 'all', B: 'all', C: 'all', D: 'all', E: 'all' })
    await secret('inner', 'group', `${namespace}/sub`, { B: 'inner', C: 'inner', D: 'inner', E: 'inner' })
    await secret('outer', 'group', namespace, { B: 'outer' })
    await secret('strangers', 'group', `${namespace}/su`, { A: 'strange' })
    await secret('project', 'project', 'web', { C: 'project', D: 'project', E: 'project', 'bad-name-': 'x', GL_X: 'x' })
    await secret('mine', 'user', await me(), { D: 'sasha', E: 'sasha' })
    await secret('hers', 'user', 'alex', { A: 'alex' })
    await secret('files', 'group', '', { CA: 'certificate' }, 'file')
    const spec = { project: { gitProject: 'web' }, variables: [{ name: 'E', value: 'own' }] }
    const { status } = await running(inlined(TOOLS), spec)
    const frozen = async (called: string) => {
      const found = await kube.get(Secrets, { name: called, namespace })
      return Object.fromEntries(
        Object.entries(found?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
      )
    }
    const all = { A: 'all', B: 'inner', C: 'project', CA: 'certificate', D: 'sasha', E: 'own', 'bad-name-': 'x' }
    assert.equal(await frozen('workspace-web-variables'), all)
    const told = status?.variables?.list?.find((each) => each.name === 'E')
    assert.equal(told, { name: 'E', type: 'environment', level: 'workspace', overrides: ['group', 'project', 'user'] })
    assert.match(status?.variables?.leftOut?.[0] ?? '', /^GL_X of Secret project \(project\): its name is reserved/)
    const container = (await podSpec())?.containers[0]
    assert.equal(container?.envFrom, [{ secretRef: { name: 'workspace-web-variables' } }])
    assert.is(container?.env?.find((each) => each.name === 'CA')?.value, '/.workspace-data/variables/file/CA')

    await kube.patch(Secrets, { name: 'mine', namespace }, { data: { D: base64('later') } })
    await set({ desiredState: 'RestartRequested' })
    await expectObject(kube, Workspaces, made('web', ''), (now) => now.spec.desiredState === 'Running')
    await becomes('Running')
    assert.is((await frozen('workspace-web-variables')).D, 'sasha')

    const annotations = { 'berth.dev/refresh-variables': '2030-01-01T00:00:00Z' }
    await kube.patch(Workspaces, made('web', ''), { metadata: { annotations } })
    await expectObject(kube, Workspaces, made('web', ''), (now) => now.status?.variables?.refresh === '2030-01-01T00:00:00Z')
    const name = (await podSpec())?.containers[0]?.envFrom?.[0]?.secretRef?.name ?? ''
    assert.is((await frozen(name)).D, 'later')
    await expectGone(kube, Secrets, made('web-variables'))
    const whole = JSON.stringify(await kube.get(Workspaces, made('web', '')))
    assert.not.match(whole, /certificate|later|sasha\.|inner/)
  })
})
