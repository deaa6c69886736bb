import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { type ChartSettings, createRenderer, patternsFor, type Render, type Snapshot } from '../../../src/engines/render/index.ts'
import { createYamlReader, minutes } from '../../../src/std/index.ts'
import { configMap, kubectl, snapshot } from '../../support/builders/snapshots.ts'
import { helm, lacksHelm, wholeHelm } from '../../support/helm.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { CHARTS, shop } from './charts.ts'

const CAPABILITIES = { kubeVersion: 'v1.36.0', apiVersions: ['apps/v1', 'apps/v1/Deployment', 'example.com/v1/Widget'] }

const settings = (more: Partial<ChartSettings> = {}): ChartSettings => ({
  releaseName: 'web',
  namespace: 'team-a',
  valueFiles: [],
  values: [],
  skipCrds: false,
  isExpected: true,
  capabilities: async () => CAPABILITIES,
  ...more,
})

const inline = (values: object) => [{ from: 'spec.source.helm.values', text: JSON.stringify(values) }]

const lacking = await lacksHelm()

const charts: Parameters<typeof describe>[1] = (it) => {
  let programs: { ours: string; whole: string }
  let render: Render
  let home = ''
  it.before(async () => {
    home = await mkdtemp(join(tmpdir(), 'berth-charts-'))
    programs = { ours: await helm(), whole: await wholeHelm() }
    render = createRenderer({ kubectl: await kubectl(), helm: programs.ours })
  })

  it.after(() => rm(home, { recursive: true }))

  const rendered = async (of: Snapshot, path: string, more?: Partial<ChartSettings>) =>
    (await render(of, path, { chart: settings(more) })).map(({ object }) => object)
  const refusal = async (files: Record<string, string | object>, more?: Partial<ChartSettings>) => {
    const failure = await failureOf(() => render(snapshot({ ...shop, ...files }), 'shop', { chart: settings(more) }))
    assert.is(failure.code === 'invalid' || failure.code === 'too-large', true, String(failure))
    return `${failure.reason}: ${failure.message}`
  }

  for (const [name, { files, values = {} }] of Object.entries(CHARTS))
    it(`are rendered as helm template does it, byte for byte: ${name}`, async () => {
      const folder = await mkdtemp(join(home, 'chart-'))
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(folder, path)), { recursive: true })
        await writeFile(join(folder, path), content)
      }
      const words = [
        ...['template', 'web', join(folder, 'shop'), '--namespace', 'team-a', '--skip-tests', '--include-crds'],
        ...['--kube-version', 'v1.36.0', '--api-versions', 'example.com/v1/Widget', '--values', '-'],
      ]
      const print = async (program: string) => {
        const running = promisify(execFile)(program, words, { timeout: minutes(1) })
        running.child.stdin?.end(JSON.stringify(values))
        return (await running).stdout
      }
      const [ours, whole] = await Promise.all([print(programs.ours), print(programs.whole)])
      assert.is(ours, whole)
      assert.ok(ours.includes('kind: '), ours)
    })

  it('take values from files, then from elsewhere, then from the spec, mappings within mappings', async () => {
    const files = snapshot({
      ...shop,
      'shop/values-prod.yaml': 'settings: {mode: prod, from: file}\n',
      'values/all.yaml': 'settings: {colour: red}\n',
      'values/other.yaml': 'settings: {mode: other}\n',
    })
    const [map] = await rendered(files, 'shop', {
      valueFiles: ['values-prod.yaml', '../values/all.yaml'],
      values: [
        { from: 'Secret a', text: 'settings:\n  from: secret\n  secret: yes it is\n' },
        { from: 'Secret b', text: '' },
        ...inline({ settings: { mode: 'spec' } }),
      ],
    })
    assert.equal(map?.data, { colour: 'red', from: 'secret', mode: 'spec', secret: 'yes it is', release: 'web.team-a' })
  })

  it('know what the target can do, and render anew when it can do more', async () => {
    const files = snapshot({
      ...shop,
      'shop/templates/widget.yaml': `{{ if .Capabilities.APIVersions.Has "example.com/v2" }}
apiVersion: example.com/v2
kind: Widget
metadata: {name: web, annotations: {version: {{ .Capabilities.KubeVersion.Version }}}}
{{ end }}`,
    })
    const names = async (apiVersions: string[]) =>
      (await rendered(files, 'shop', { capabilities: async () => ({ ...CAPABILITIES, apiVersions }) })).map(
        ({ kind, metadata }) => `${kind} ${metadata.annotations?.version ?? ''}`,
      )
    assert.equal(await names(['apps/v1']), ['ConfigMap '])
    assert.equal(await names(['apps/v1', 'example.com/v2']), ['ConfigMap ', 'Widget v1.36.0'])
  })

  it('are rendered once for the same files and values', async () => {
    const before = await render(snapshot(shop), 'shop', { chart: settings() })
    assert.is(await render(snapshot({ ...shop, 'README.md': 'new' }), 'shop', { chart: settings() }), before)
    assert.is.not(await render(snapshot(shop), 'shop', { chart: settings({ releaseName: 'other' }) }), before)
  })

  it('bring their CRDs, unless these are to be left out, and no tests', async () => {
    const files = snapshot(CHARTS['CRDs, hooks and tests']?.files ?? {})
    const kinds = async (skipCrds: boolean) => (await rendered(files, 'shop', { skipCrds })).map(({ kind }) => kind).sort()
    assert.equal(await kinds(false), ['ConfigMap', 'CustomResourceDefinition', 'Job', 'Job'])
    assert.equal(await kinds(true), ['ConfigMap', 'Job', 'Job'])
  })

  it('say of each object in which template it is', async () => {
    const odd = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n'
    const all = await render(snapshot({ ...shop, 'shop/templates/odd.yaml': odd }), 'shop', { chart: settings() })
    assert.equal(all.map(({ source }) => source).sort(), [
      'in what helm made of shop/templates/odd.yaml',
      'in what helm made of shop/templates/settings.yaml',
    ])
  })

  it('are not looked for beside a kustomization, unless somebody says how they are rendered', async () => {
    const files = snapshot({
      ...shop,
      'shop/kustomization.yaml': 'resources: [other.yaml]\n',
      'shop/other.yaml': configMap('other'),
    })
    const names = async (isExpected: boolean) =>
      (await rendered(files, 'shop', { isExpected })).map(({ metadata }) => metadata.name)
    assert.equal(await names(false), ['other'])
    assert.equal(await names(true), ['web'])
  })

  it('are asked for with the files that their values come from', async () => {
    const patterns = await patternsFor([], 'shop', createYamlReader(), ['shop/values-prod.yaml', 'values/all.yaml'])
    assert.equal(patterns, ['shop/**', 'values/all.yaml'])
  })

  it('are refused with the file, the line and a remedy', async () => {
    assert.match(
      await refusal({}, { valueFiles: ['values-prod.yaml'] }),
      'is not in the repository: there is no shop/values-prod.yaml',
    )
    assert.match(await refusal({}, { valueFiles: ['../../etc/passwd'] }), '"../../etc/passwd" leads out of the repository')
    assert.match(await refusal({}, { values: [{ from: 'Secret a', text: 'a: [' }] }), /SourceRefused: Secret a: line 1: /)
    assert.match(
      await refusal({}, { values: [{ from: 'Secret a', text: '[1]' }] }),
      'Secret a: must be one YAML mapping, and is [1]',
    )
    assert.match(await refusal({}, { releaseName: 'a'.repeat(54) }), 'has 54 characters, and Helm takes 53')
    assert.match(await refusal({ 'shop/Chart.yaml': 'name: shop\n' }), /RenderFailed: helm: .*version is required/)
    assert.match(await refusal({ 'shop/values.yaml': 'a: [\n' }), /RenderFailed: helm: .*values\.yaml/)
    assert.match(
      await refusal({ 'shop/values.schema.json': '{"required": ["size"]}' }),
      /RenderFailed: helm: .*schema.* missing property 'size'/,
    )
    assert.match(await refusal({ 'shop/templates/a.yaml': '{{ fail "no size" }}' }), /RenderFailed: helm: .*a\.yaml:1.*no size/)
    assert.match(
      await refusal({ 'shop/Chart.yaml': `${shop['shop/Chart.yaml']}dependencies: [{name: redis, version: 1.0.0}]\n` }),
      'missing in charts/ directory: redis',
    )
    assert.match(await refusal({ 'shop/templates/link.yaml': { link: 'symbolic link' } }), 'is a symbolic link')
  })

  it('that are expected where there is none are refused', async () => {
    const failure = await failureOf(() => render(snapshot({ 'a/b.yaml': configMap('b') }), 'a', { chart: settings() }))
    assert.match(failure.message, 'path "a" is to be rendered by Helm, and holds no Chart.yaml')
  })

  it('see neither the machine nor its network', async () => {
    const peek = `apiVersion: v1
kind: ConfigMap
metadata: {name: peek}
data:
  file: {{ .Files.Get "../../../../../../etc/hostname" | quote }}
  glob: {{ len (.Files.Glob "../../**") | quote }}
  host: {{ getHostByName "localhost" | quote }}
  lookup: {{ lookup "v1" "Secret" "kube-system" "" | len | quote }}
`
    const all = await rendered(snapshot({ ...shop, 'shop/templates/peek.yaml': peek }), 'shop')
    assert.equal(all.find(({ metadata }) => metadata.name === 'peek')?.data, { file: '', glob: '0', host: '', lookup: '0' })
    assert.match(await refusal({ 'shop/templates/a.yaml': '{{ env "HOME" }}' }), 'function "env" not defined')
  })

  it('that never end, or take all memory, are ended', async () => {
    const small = createRenderer({
      kubectl: await kubectl(),
      helm: programs.ours,
      limits: { time: 3000, memory: 160 * 2 ** 20, bytes: 2 ** 20 },
    })
    const failing = (template: string) =>
      failureOf(() => small(snapshot({ ...shop, 'shop/templates/a.yaml': template }), 'shop', { chart: settings() }))
    const endless = await failing('{{ range until 2000000000 }}{{ end }}')
    assert.match(endless.message, /helm (was ended after 3 s|took too much)/)
    const large = await failing('{{ $s := "xxxxxxxxxxxxxxxx" }}{{ range until 60 }}{{ $s = print $s $s }}{{ end }}')
    assert.match(large.message, /helm (took too much of 160 MiB of memory|was ended after 3 s)/)
    const wordy = await failing('# {{ repeat 2000000 "x" }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n')
    assert.match(wordy.message, 'helm wrote more than 1048576 bytes')
  })

  it('say that there is no helm where there is none', async () => {
    const without = createRenderer({ kubectl: await kubectl(), helm: 'no-such-helm' })
    const failure = await failureOf(() => without(snapshot(shop), 'shop', { chart: settings() }))
    assert.is(failure.reason, 'HelmNotFound')
    assert.match(failure.message, 'charts cannot be rendered: there is no program no-such-helm')
  })
}

describe('Helm charts', charts, lacking)
