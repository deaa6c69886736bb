import * as assert from 'uvu/assert'
import { ConfigMaps, type GitOpsDeployment, GitOpsDeployments, Jobs, Secrets } from '../../../src/api/index.ts'
import { createRenderer } from '../../../src/engines/render/index.ts'
import { configMap, kubectl } from '../../support/builders/snapshots.ts'
import { testCluster } from '../../support/control-plane.ts'
import { at, dryRun, openStage, type Stage } from '../../support/deployments.ts'
import { helm, lacksHelm } from '../../support/helm.ts'
import { refusalOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { eventually, expectGone, expectObject } from '../../support/verbs.ts'

/** A chart in the path that stages follow. */
const CHART = {
  'deploy/Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
  'deploy/values.yaml': 'mode: chart\ndatabase: {host: localhost, password: none}\n',
  'deploy/values-prod.yaml': 'mode: prod\n',
  'deploy/templates/settings.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-settings}
data:
  mode: {{ .Values.mode }}
  host: {{ .Values.database.host }}
  namespace: {{ .Release.Namespace }}
`,
  'deploy/templates/secret.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-url}
data: {url: "postgres://{{ .Values.database.password }}@{{ .Values.database.host }}"}
`,
}

type Helm = GitOpsDeployment['spec']['source']['helm']

const charts: Parameters<typeof describe>[1] = (it) => {
  const cluster = testCluster()
  const { kube } = cluster
  let stage: Stage
  it.beforeEach(async () => {
    const render = createRenderer({ kubectl: await kubectl(), helm: await helm() })
    stage = await openStage(cluster, { settings: { render } })
  })
  it.afterEach(() => stage.stop())
  it.after(() => cluster.close())

  const deploy = (given?: Helm, name?: string) => {
    const { source } = at('deploy')
    assert.ok(source)
    return stage.deploy({ source: { ...source, ...(given && { helm: given }) } }, name)
  }
  const data = async (name: string) => (await stage.configMap(name))?.data
  const secret = (name: string, text: string) =>
    kube.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: stage.namespace },
      data: { 'values.yaml': Buffer.from(text).toString('base64') },
    })
  const setValues = (name: string, text: string) =>
    kube.patch(Secrets, { name, namespace: stage.namespace }, { data: { 'values.yaml': Buffer.from(text).toString('base64') } })

  const becomes = (read: () => Promise<string | undefined>, wanted: string) =>
    eventually(async () => {
      assert.is(await read(), wanted)
      return true
    })

  it('are applied with their own values where nobody says anything, and pruned like everything else', async () => {
    await deploy()
    await stage.synced(await stage.git.push(CHART))
    assert.equal(await data('shop-settings'), { mode: 'chart', host: 'localhost', namespace: stage.namespace })
    const { 'deploy/templates/secret.yaml': _, ...rest } = CHART
    await stage.synced(await stage.git.push(rest))
    assert.is(await stage.configMap('shop-url'), undefined)
  })

  it('take values from files, ConfigMaps, Secrets and the spec, and follow each', async () => {
    const name = 'values'
    await kube.create(ConfigMaps, {
      ...configMap(name, { here: 'database: {host: db-1}\nmode: map\n' }),
      metadata: { name, namespace: stage.namespace },
    })
    await secret('database', 'database: {password: hunter2-for-all}\n')
    const valuesFrom: NonNullable<Helm>['valuesFrom'] = [
      { kind: 'ConfigMap', name, valuesKey: 'here' },
      { kind: 'Secret', name: 'database' },
      { kind: 'Secret', name: 'nowhere', optional: true },
    ]
    await deploy({
      releaseName: 'web',
      valueFiles: ['values-prod.yaml', '../more/values.yaml'],
      valuesFrom,
      values: { mode: 'spec' },
    })
    const files = { ...CHART, 'more/values.yaml': 'database: {host: more}\n' }
    await stage.synced(await stage.git.push(files))
    assert.equal(await data('web-settings'), { mode: 'spec', host: 'db-1', namespace: stage.namespace })
    assert.equal(await data('web-url'), { url: 'postgres://hunter2-for-all@db-1' })

    await setValues('database', 'database: {password: changed-for-all}\n')
    await becomes(async () => (await data('web-url'))?.url, 'postgres://changed-for-all@db-1')
    await kube.patch(ConfigMaps, { name, namespace: stage.namespace }, { data: { here: 'mode: map\n' } })
    await becomes(async () => (await data('web-settings'))?.host, 'more')
    await stage.git.push({ ...files, 'more/values.yaml': 'database: {host: less}\n' })
    await becomes(async () => (await data('web-settings'))?.host, 'less')
  })

  it('never tell a value that came from a Secret', async () => {
    await secret('database', 'database: {password: hunter2-for-all}\n')
    await deploy({ valuesFrom: [{ kind: 'Secret', name: 'database' }] })
    const fails = '{{ fail (printf "the password is %s" .Values.database.password) }}'
    await stage.git.push({ ...CHART, 'deploy/templates/fail.yaml': fails })
    assert.match(
      (await stage.complains('RenderFailed')).message,
      'helm: execution error at (shop/templates/fail.yaml:1:3): the password is ***',
    )

    await stage.synced(await stage.git.push(CHART))
    await kube.patch(GitOpsDeployments, { name: 'shop', namespace: stage.namespace }, { spec: { suspend: true } })
    await kube.patch(
      ConfigMaps,
      { name: 'shop-url', namespace: stage.namespace },
      { data: { url: 'by hand, without hunter2-for-all' } },
    )
    const status = await dryRun(cluster, stage)
    assert.match(JSON.stringify(status), '"path":"/data/url"')
    assert.not.match(JSON.stringify([status, await stage.status(), await stage.events('SyncFailed')]), 'hunter2')
  })

  it('see what their target can do', async () => {
    const asked = `apiVersion: v1
kind: ConfigMap
metadata: {name: capabilities}
data:
  version: {{ .Capabilities.KubeVersion.Version }}
  ours: {{ .Capabilities.APIVersions.Has "berth.dev/v1alpha1/GitProject" | quote }}
  none: {{ .Capabilities.APIVersions.Has "example.com/v1" | quote }}
`
    await deploy()
    await stage.synced(await stage.git.push({ ...CHART, 'deploy/templates/asked.yaml': asked }))
    const { gitVersion } = await kube.read<{ gitVersion: string }>('/version')
    assert.equal(await data('capabilities'), { version: gitVersion, ours: 'true', none: 'false' })
  })

  it('say that lookup finds nothing', async () => {
    const looking =
      '{{ if not (lookup "v1" "Secret" .Release.Namespace "a") }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: looked}\n{{ end }}'
    await deploy()
    await stage.synced(await stage.git.push({ ...CHART, 'deploy/templates/looking.yaml': looking }))
    assert.ok(await stage.configMap('looked'))
    const [told, ...others] = await stage.events('LookupFindsNothing')
    assert.match(told ?? '', 'deploy/templates/looking.yaml asks the cluster for objects by lookup, which finds nothing')
    assert.is(others.length, 0)
    await stage.synced(await stage.git.push(CHART))
    assert.is((await stage.events('LookupFindsNothing')).length, 1)
  })

  it('run their hooks', async () => {
    const hook = `apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-migrate
  annotations: {"helm.sh/hook": "pre-install,pre-upgrade", "helm.sh/hook-weight": "1"}
spec:
  managedBy: example.com/test
  template: {spec: {restartPolicy: Never, containers: [{name: a, image: "migrate:1"}]}}
`
    await deploy()
    const commit = await stage.git.push({ ...CHART, 'deploy/templates/hook.yaml': hook })
    const ref = { name: 'shop-migrate', namespace: stage.namespace }
    await expectObject(kube, Jobs, ref, () => undefined)
    assert.is(await stage.configMap('shop-settings'), undefined)
    const startTime = new Date().toISOString()
    const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: startTime, lastProbeTime: startTime })
    await kube.patch(
      Jobs,
      ref,
      {
        status: {
          startTime,
          completionTime: startTime,
          succeeded: 1,
          conditions: ['SuccessCriteriaMet', 'Complete'].map(condition),
        },
      },
      { subresource: 'status' },
    )
    await stage.synced(commit)
    assert.ok(await stage.configMap('shop-settings'))
  })

  it('say which ConfigMap or Secret, file or chart is not there', async () => {
    const files = { ...CHART, 'plain/map.yaml': configMap('plain') }
    await stage.git.push(files)
    await deploy({ valuesFrom: [{ kind: 'Secret', name: 'none' }] }, 'no-secret')
    await secret('empty', 'a: b\n')
    await deploy({ valuesFrom: [{ kind: 'Secret', name: 'empty', valuesKey: 'prod' }] }, 'no-key')
    await secret('broken', 'a: [\n')
    await deploy({ valuesFrom: [{ kind: 'Secret', name: 'broken' }] }, 'no-yaml')
    await deploy({ valueFiles: ['none.yaml'] }, 'no-file')
    await stage.deploy(
      { source: { ...at('plain').source, repoURL: at('').source?.repoURL ?? '', path: 'plain', helm: {} } },
      'no-chart',
    )
    assert.match(
      (await stage.complains('VariablesNotFound', 'no-secret')).message,
      'spec.source.helm.valuesFrom[0]: there is no Secret none',
    )
    assert.match((await stage.complains('ValuesNotFound', 'no-key')).message, 'valuesFrom[0]: Secret empty has no key prod')
    assert.match((await stage.complains('SourceRefused', 'no-yaml')).message, 'Secret broken, key values.yaml: line ')
    assert.match((await stage.complains('SourceRefused', 'no-file')).message, '"none.yaml" is not in the repository')
    assert.match(
      (await stage.complains('SourceRefused', 'no-chart')).message,
      'path "plain" is to be rendered by Helm, and holds no Chart.yaml',
    )
  })

  it('have so many bytes of a namespace, however few they are made of', async () => {
    const large = '# {{ repeat 700000 "x" }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-large}\n'
    await stage.stop()
    const render = createRenderer({ kubectl: await kubectl(), helm: await helm() })
    stage = await openStage(cluster, { settings: { render, mostFiles: 1 } })
    await stage.deploy({}, 'one')
    const commit = await stage.git.push({ ...CHART, 'deploy/templates/large.yaml': large })
    await stage.synced(commit, 'one')
    await stage.deploy({}, 'two')
    const { message } = await stage.complains('RenderedTooLarge', 'two')
    assert.match(message, `and that of all GitOpsDeployments of namespace ${stage.namespace} may have 1048576 together`)
    await kube.delete(GitOpsDeployments, { name: 'one', namespace: stage.namespace })
    await expectGone(kube, GitOpsDeployments, { name: 'one', namespace: stage.namespace })
    await kube.patch(GitOpsDeployments, { name: 'two', namespace: stage.namespace }, { spec: { interval: '11m' } })
    await stage.synced(commit, 'two')
  })

  it('are refused where a spec can be no good', async () => {
    assert.match(await refusalOf(deploy({ valueFiles: ['/etc/passwd'] })), "write them relative to the chart's directory")
    assert.match(await refusalOf(deploy({ releaseName: 'Web' })), 'spec.source.helm.releaseName')
    assert.match(await refusalOf(deploy({ releaseName: 'a'.repeat(54) })), 'spec.source.helm.releaseName')
  })
}

describe('GitOpsDeployments of charts', charts, await lacksHelm())
