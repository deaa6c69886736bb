import * as assert from 'uvu/assert'
import { ConfigMaps, Namespaces } from '../../src/api/index.ts'
import { configMap, kubectl } from '../support/builders/snapshots.ts'
import { testCluster } from '../support/control-plane.ts'
import { helm, lacksHelm } from '../support/helm.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectGone, expectObject } from '../support/verbs.ts'
import { type ForeignKas, foreignKas } from './foreign-kas.ts'
import { type RunningAgent, runAgent } from './running-agent.ts'

const lacking = await lacksHelm()

describe('agents and repositories', (it) => {
  const cluster = testCluster()
  const { kube, kubeconfig } = cluster
  let kas: ForeignKas
  let agents: RunningAgent[] = []
  let namespace = ''

  it.beforeEach(async () => {
    namespace = await cluster.namespace('modes')
    kas = await foreignKas({ reports: true })
    agents = []
  })
  it.afterEach(async () => {
    await Promise.all(agents.map((agent) => agent.stop()))
    await kas.stop()
  })
  it.after(() => cluster.close())

  const begin = async (given: Partial<Parameters<typeof runAgent>[0]> = {}) => {
    const agent = await runAgent({ kas: kas.address, kubeconfig, namespace, ...given })
    agents.push(agent)
    return agent
  }
  const background = { prunePropagationPolicy: 'background' }
  const told = (id: string, check: (report: NonNullable<ReturnType<ForeignKas['project']>>) => boolean) =>
    eventually(() => {
      const report = kas.project(id)
      return report && check(report) ? report : undefined
    })

  it('one agent follows several repositories, and a broken one touches only itself', async () => {
    kas.configure({ gitops: { manifestProjects: ['a', 'b', 'c'].map((id) => ({ id, defaultNamespace: namespace })) } })
    kas.push('a', { 'a.yaml': configMap('from-a') })
    kas.push('b', { 'b.yaml': 'kind: [' })
    kas.push('c', { 'c.yaml': configMap('from-c') })
    await begin()
    await expectObject(kube, ConfigMaps, { name: 'from-a', namespace }, () => true)
    await expectObject(kube, ConfigMaps, { name: 'from-c', namespace }, () => true)
    const report = await told('b', ({ reason }) => reason === 'RenderFailed')
    assert.match(report.message, /^b\.yaml:/)
    const healthy = await told('a', ({ health, objects }) => health === 'Healthy' && objects === 1)
    assert.is(healthy.reason, '')

    kas.push('b', { 'b.yaml': configMap('from-b') })
    await expectObject(kube, ConfigMaps, { name: 'from-b', namespace }, () => true)
    await told('b', ({ reason, objects }) => reason === '' && objects === 1)
  })

  it('while a commit is refused, what is changed in the objects of the one before is set back, and nothing is deleted', async () => {
    kas.configure({ gitops: { manifestProjects: [{ id: 'shop', defaultNamespace: namespace }] } })
    kas.push('shop', { 'a.yaml': configMap('a', { n: '1' }), 'b.yaml': configMap('b') })
    await begin()
    await told('shop', ({ health, objects }) => health === 'Healthy' && objects === 2)
    kas.push('shop', { 'a.yaml': configMap('a', { n: '2' }), 'odd.yaml': 'kind: [' })
    await told('shop', ({ reason }) => reason === 'RenderFailed')
    await kube.patch(ConfigMaps, { name: 'a', namespace }, { data: { n: 'edited' } })
    await expectObject(kube, ConfigMaps, { name: 'a', namespace }, ({ data }) => data?.n === '1')
    assert.ok(await kube.get(ConfigMaps, { name: 'b', namespace }))
    await told('shop', ({ reason }) => reason === 'RenderFailed')
    kas.push('shop', { 'a.yaml': configMap('a', { n: '2' }) })
    await expectObject(kube, ConfigMaps, { name: 'a', namespace }, ({ data }) => data?.n === '2')
    await expectGone(kube, ConfigMaps, { name: 'b', namespace })
  })

  it('two agents of one cluster sync one repository, each into its own namespace', async () => {
    const other = await foreignKas()
    const there = await cluster.namespace('modes')
    kas.configure({ gitops: { manifestProjects: [{ id: 'shop', defaultNamespace: namespace, ...background }] } })
    other.configure({ gitops: { manifestProjects: [{ id: 'shop', defaultNamespace: there, ...background }] } })
    for (const one of [kas, other]) one.push('shop', { 'a.yaml': configMap('one'), 'b.yaml': configMap('two') })
    await begin()
    const second = await begin({ kas: other.address, namespace: there })
    try {
      for (const name of ['one', 'two'])
        for (const where of [namespace, there]) await expectObject(kube, ConfigMaps, { name, namespace: where }, () => true)
      kas.push('shop', { 'a.yaml': configMap('one') })
      await expectGone(kube, ConfigMaps, { name: 'two', namespace })
      assert.ok(await kube.get(ConfigMaps, { name: 'two', namespace: there }), 'the other agent still wants it')
    } finally {
      await second.stop()
      await other.stop()
    }
  })

  it('in namespaced mode nothing outside the namespaces is touched, and the rest is brought about', async () => {
    const outside = await cluster.namespace('modes')
    kas.configure({ gitops: { namespaces: [namespace], manifestProjects: [{ id: 'shop', ...background }] } })
    kas.push('shop', {
      'a.yaml': configMap('inside'),
      'b.yaml': configMap('outside', {}, outside),
      'c.yaml': { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${namespace}-made` } },
    })
    await begin()
    await expectObject(kube, ConfigMaps, { name: 'inside', namespace }, () => true)
    const report = await told('shop', ({ undone }) => undone === 2)
    assert.match(report.message, /outside the destination|cluster-scoped/)
    assert.is(await kube.get(ConfigMaps, { name: 'outside', namespace: outside }), undefined)
    assert.is(await kube.get(Namespaces, { name: `${namespace}-made` }), undefined)
  })

  it('only allowed kinds are brought about, and the report says what to change', async () => {
    kas.configure({
      gitops: {
        allowedKinds: [{ group: '', kind: 'ConfigMap' }],
        manifestProjects: [{ id: 'shop', defaultNamespace: namespace, ...background }],
      },
    })
    kas.push('shop', {
      'a.yaml': configMap('allowed'),
      'b.yaml': { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'refused' } },
    })
    await begin()
    await expectObject(kube, ConfigMaps, { name: 'allowed', namespace }, () => true)
    const report = await told('shop', ({ undone }) => undone === 1)
    assert.match(report.message, /ServiceAccount .*gitops\.allowed_kinds of the agent configuration/)
  })

  it('a kustomize path is rendered, beside globs', async () => {
    kas.configure({
      gitops: {
        manifestProjects: [
          { id: 'shop', defaultNamespace: namespace, paths: [{ kustomize: 'overlay' }, { glob: 'plain/*.yaml' }], ...background },
        ],
      },
    })
    kas.push('shop', {
      'overlay/kustomization.yaml': { namePrefix: 'made-', resources: ['../base'] },
      'base/kustomization.yaml': { resources: ['map.yaml'] },
      'base/map.yaml': configMap('map'),
      'plain/other.yaml': configMap('other'),
    })
    await begin({ kubectl: await kubectl() })
    await expectObject(kube, ConfigMaps, { name: 'made-map', namespace }, () => true)
    await expectObject(kube, ConfigMaps, { name: 'other', namespace }, () => true)
    assert.is(await kube.get(ConfigMaps, { name: 'map', namespace }), undefined, 'what the kustomization reads is no manifest')
  })

  if (lacking === undefined)
    it('a chart is rendered, with the files that its values come from', async () => {
      const chart = { path: 'charts/web', valueFiles: ['../../values/dev.yaml'] }
      kas.configure({
        gitops: {
          manifestProjects: [
            { id: 'shop', defaultNamespace: namespace, paths: [{ chart }, { glob: '**/*.yaml' }], ...background },
          ],
        },
      })
      kas.push('shop', {
        'charts/web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
        'charts/web/values.yaml': 'mode: chart\n',
        'charts/web/templates/map.yaml':
          'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-map}\ndata: {mode: {{ .Values.mode }}, in: {{ .Release.Namespace }}}\n',
        'values/dev.yaml': 'mode: dev\n',
        'plain/other.yaml': configMap('other'),
      })
      await begin({ kubectl: await kubectl(), helm: await helm() })
      const { data } = await expectObject(kube, ConfigMaps, { name: 'web-map', namespace }, () => true)
      assert.equal(data, { mode: 'dev', in: namespace })
      await expectObject(kube, ConfigMaps, { name: 'other', namespace }, () => true)
    })
  else console.log(`LEFT OUT ${lacking}`)

  it('a dry run writes nothing and says what it would do', async () => {
    kas.configure({
      gitops: { manifestProjects: [{ id: 'shop', defaultNamespace: namespace, dryRunStrategy: 'server', ...background }] },
    })
    kas.push('shop', { 'a.yaml': configMap('one'), 'b.yaml': configMap('two') })
    await begin()
    const report = await told('shop', ({ reason }) => reason === 'DryRun')
    assert.match(report.message, /2 would be created/)
    assert.is(await kube.get(ConfigMaps, { name: 'one', namespace }), undefined)
  })

  it('a commit without any object waits, until somebody confirms it', async () => {
    kas.configure({ gitops: { manifestProjects: [{ id: 'shop', defaultNamespace: namespace, ...background }] } })
    kas.push('shop', { 'a.yaml': configMap('precious') })
    await begin()
    await expectObject(kube, ConfigMaps, { name: 'precious', namespace }, () => true)
    const commit = kas.push('shop', { 'a.yaml': '# nothing\n' })
    const report = await told('shop', ({ reason }) => reason === 'PruneWithheld')
    assert.match(report.message, /kubectl annotate configmap inventory-.* gitops\.berth\.dev\/confirm-prune=/)
    assert.ok(await kube.get(ConfigMaps, { name: 'precious', namespace }))
    await kube.patch(
      ConfigMaps,
      { name: `inventory-${kas.agentId}-1`, namespace },
      { metadata: { annotations: { 'gitops.berth.dev/confirm-prune': commit } } },
    )
    await expectGone(kube, ConfigMaps, { name: 'precious', namespace })
  })

  it('an inventory moves with the default namespace', async () => {
    const there = await cluster.namespace('modes')
    const at = (where: string) => ({ gitops: { manifestProjects: [{ id: 'shop', defaultNamespace: where, ...background }] } })
    kas.configure(at(namespace))
    kas.push('shop', { 'a.yaml': configMap('one') })
    await begin()
    await expectObject(kube, ConfigMaps, { name: 'one', namespace }, () => true)
    await told('shop', ({ objects }) => objects === 1)
    kas.configure(at(there))
    await expectObject(kube, ConfigMaps, { name: 'one', namespace: there }, () => true)
    await expectGone(kube, ConfigMaps, { name: 'one', namespace })
    await expectGone(kube, ConfigMaps, { name: `inventory-${kas.agentId}-1`, namespace })
  })
})
