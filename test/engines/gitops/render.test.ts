import * as assert from 'uvu/assert'
import { createRenderer, patternsFor, type Render, type Snapshot, type SourceFile } from '../../../src/engines/render/index.ts'
import { createYamlReader, Failure } from '../../../src/std/index.ts'
import { configMap, kubectl, snapshot } from '../../support/builders/snapshots.ts'
import { effort } from '../../support/effort.ts'
import { describe } from '../../support/suite.ts'

const failureOf = async (work: Promise<unknown>): Promise<Failure> => {
  try {
    await work
  } catch (thrown) {
    return Failure.from(thrown)
  }
  throw new Failure('internal', 'it did not fail')
}

const overlay = (files: Record<string, string | object> = {}) =>
  snapshot({
    'shop/base/kustomization.yaml': 'resources: [settings.yaml]\n',
    'shop/base/settings.yaml': configMap('settings', { mode: 'base' }),
    'shop/overlays/dev/kustomization.yaml': 'resources: [../../base]\nnamePrefix: dev-\n',
    ...files,
  })

const mapNamed = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`

describe('rendering', (it) => {
  let render: Render
  it.before(async () => {
    render = createRenderer({ kubectl: await kubectl() })
  })
  const names = async (of: Snapshot, path: string) => (await render(of, path)).map(({ object }) => object.metadata.name)

  it('reads plain YAML and JSON, several documents, Lists and empty documents', async () => {
    const files = snapshot({
      'app/a.yaml': `# a comment\n---\n---\n${JSON.stringify(configMap('a'))}\n---\n${JSON.stringify(configMap('b'))}\n`,
      'app/deep/c.json': { apiVersion: 'v1', kind: 'List', items: [configMap('c'), configMap('d')] },
      'app/README.md': 'not: [a manifest',
      'other/e.yaml': configMap('e'),
    })
    assert.equal(await names(files, 'app'), ['a', 'b', 'c', 'd'])
    assert.equal(await names(files, './app/'), ['a', 'b', 'c', 'd'])
    assert.equal(await names(files, '.'), ['a', 'b', 'c', 'd', 'e'])
  })

  it('takes the kind of items that have none from their list, as kubectl does', async () => {
    const files = snapshot({
      'a.yaml': {
        apiVersion: 'v1',
        kind: 'ConfigMapList',
        items: [{ metadata: { name: 'a' }, data: { x: 'y' } }, configMap('b'), { ...configMap('s'), kind: 'Secret' }],
      },
    })
    const found = (await render(files, '.')).map(({ object }) => [object.apiVersion, object.kind, object.metadata.name])
    assert.equal(found, [
      ['v1', 'ConfigMap', 'a'],
      ['v1', 'ConfigMap', 'b'],
      ['v1', 'Secret', 's'],
    ])
    const half = (list: string, item: object) =>
      render(snapshot({ 'a.yaml': { apiVersion: 'v1', kind: list, items: [item] } }), '.')
    assert.match((await failureOf(half('List', { metadata: { name: 'a' } }))).message, /has no apiVersion/)
    assert.match(
      (await failureOf(half('ConfigMapList', { kind: 'Secret', metadata: { name: 'a' } }))).message,
      /has no apiVersion/,
    )
  })

  it('understands numbers and booleans as kubectl does', async () => {
    const text = 'apiVersion: v1\nkind: X\nmetadata: {name: x}\nspec: {mode: 0644, on: yes, port: 22:22, day: 2024-01-01}\n'
    const [manifest] = await render(snapshot({ 'a.yaml': text }), '.')
    assert.equal(manifest?.object.spec, { mode: 420, true: true, port: '22:22', day: '2024-01-01' })
  })

  it('builds a kustomize overlay with its base in another folder', async () => {
    assert.equal(await names(overlay(), 'shop/overlays/dev'), ['dev-settings'])
    const [first] = await render(overlay(), 'shop/overlays/dev')
    // Nobody has that text before him: a line of it would lead nowhere.
    assert.is(first?.source, 'in what kustomize made of shop/overlays/dev')
  })

  it('builds what lies below a plain path with a kustomization of its own, beside the plain files', async () => {
    const files = overlay({
      'shop/plain.yaml': configMap('plain'),
      'shop/deep/er/plain.yaml': configMap('deeper'),
      'shop/overlays/dev/kustomization.yaml': 'resources: [../../../common, made.yaml]\nnamePrefix: dev-\n',
      'shop/overlays/dev/made.yaml': configMap('made'),
      'shop/overlays/dev/unused/kustomization.yaml': 'resources: [missing.yaml]\n',
      'common/kustomization.yaml': 'resources: [c.yaml]\n',
      'common/c.yaml': configMap('common'),
    })
    assert.equal((await names(files, 'shop')).sort(), ['deeper', 'dev-common', 'dev-made', 'plain', 'settings'])
    assert.equal(await patternsFor(files.files, 'shop', createYamlReader()), ['common/**', 'shop/**'])
    const lost = overlay({ 'shop/overlays/dev/kustomization.yaml': 'resources: [nowhere]\n' })
    assert.match(
      (await failureOf(render(lost, 'shop'))).message,
      /^shop\/overlays\/dev\/kustomization\.yaml: "nowhere" is not in/,
    )
  })

  it('runs nothing again for the same files', async () => {
    const first = await render(overlay(), 'shop/overlays/dev')
    const second = await render(overlay({ 'unrelated.txt': 'changed' }), 'shop/overlays/dev')
    assert.is(first, second)
  })

  it('names file, line and column of a YAML mistake', async () => {
    const failure = await failureOf(render(snapshot({ 'app/bad.yaml': 'a: 1\nb: [1\nc: 2\n' }), 'app'))
    assert.is(failure.code, 'invalid')
    assert.match(failure.message, /^app\/bad\.yaml:3:1: document 1: /)
    const text = `${JSON.stringify(configMap('a'))}\n---\nb: [1\nc: 2\n---\nkind: none\n`
    const several = await failureOf(render(snapshot({ 'app/several.yaml': text }), 'app'))
    assert.match(several.message, /app\/several\.yaml:4:1: document 2: .*; app\/several\.yaml:6: document 3 has no apiVersion/)
  })

  it('goes on beside an object without a name', async () => {
    const text = `${JSON.stringify(configMap('a'))}\n---\napiVersion: v1\nkind: Pod\nmetadata: {labels: {}}\n`
    const [first, second] = await render(snapshot({ 'app/two.yaml': text }), 'app')
    assert.is(first?.problem, undefined)
    assert.equal([second?.source, second?.problem], ['app/two.yaml:3', 'has no metadata.name'])
  })

  it('makes a name of generateName and the content, the same each time', async () => {
    const named = async (image: string) => {
      const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { generateName: 'x'.repeat(70) }, spec: { image } }
      return (await render(snapshot({ 'app/job.yaml': job }), 'app'))[0]?.object.metadata.name ?? ''
    }
    assert.match(await named('a'), /^x{54}[0-9a-f]{8}$/)
    assert.is(await named('a'), await named('a'))
    assert.not.equal(await named('a'), await named('b'))
  })

  it('never quotes the content of a file in a message', async () => {
    const text = 'apiVersion: v1\nkind: Secret\nstringData: {password: hunter2-canary\n'
    const { message } = await failureOf(render(snapshot({ 'secret.yaml': text }), '.'))
    assert.not.match(message, 'hunter2-canary')
  })

  it('refuses remote bases, whatever their field and spelling, before anything runs', async () => {
    const remotes = [
      'resources: ["https://example.com/base.yaml"]',
      'resources: [github.com/org/repo//base?ref=main]',
      'resources: ["git@github.com:org/repo"]',
      'bases: ["git::https://example.com/org/repo"]',
      'components: ["ssh://git@example.com/org/repo"]',
      'patches: [{path: "https://example.com/patch.yaml"}]',
      'configMapGenerator: [{name: x, files: ["key=https://example.com/file"]}]',
      'generators: ["apiVersion: builtin\\nkind: ConfigMapGenerator\\nfiles: [https://example.com/x]\\n"]',
      'openapi: {path: "https://example.com/openapi.json"}',
      'resources: [example.com/org/repo]',
      'resources: ["me@github.com/org/repo"]',
      'resources: ["me@elsewhere:repo"]',
      'resources: ["me@@elsewhere:repo"]',
      'Resources: ["https://example.com/base.yaml"]',
      'configMapGenerator: [{name: x, FILES: ["key=https://example.com/file"]}]',
    ]
    const never = createRenderer({ kubectl: '/nonexistent/kubectl' })
    for (const line of remotes) {
      const failure = await failureOf(never(snapshot({ 'kustomization.yaml': `${line}\n` }), '.'))
      assert.is(failure.reason, 'SourceRefused', `${line} → ${failure.message}`)
    }
  })

  it('refuses a remote base that hides behind a base of the repository', async () => {
    const files = overlay({ 'shop/base/kustomization.yaml': 'resources: ["https://example.com/x.yaml"]\n' })
    assert.match((await failureOf(render(files, 'shop/overlays/dev'))).message, /shop\/base\/kustomization\.yaml.*remote/)
  })

  it('refuses a remote file that a generator in a folder of its own names', async () => {
    const files = snapshot({
      'kustomization.yaml': 'generators: [made]\n',
      'made/kustomization.yaml': 'resources: [../other]\n',
      'other/kustomization.yaml': 'resources: [settings.yaml]\n',
      'other/settings.yaml': 'kind: ConfigMapGenerator\nfiles: ["key=http://127.0.0.1:1/file"]\n',
    })
    assert.match((await failureOf(render(files, '.'))).message, /other\/settings\.yaml.*remote/)
  })

  it('takes a URL for a value where nothing would be loaded', async () => {
    const env = { name: 'API', value: 'https://api.example.com/?ref=main' }
    const deployment = (container: object) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { template: { spec: { containers: [{ name: 'web', ...container }] } } },
    })
    const patch = JSON.stringify(deployment({ env: [env] }))
    const config = { apiVersion: 'builtin', metadata: { name: 'x' } }
    const note = { 'example.com/docs': 'https://docs.example.com', 'example.com/repo': 'git@github.com:org/repo' }
    const annotating = (key: keyof typeof note) => ({
      ...config,
      metadata: { name: key.replaceAll('/', '-') },
      kind: 'AnnotationsTransformer',
      annotations: { [key]: note[key] },
      fieldSpecs: [{ path: 'metadata/annotations', create: true }],
    })
    const made = { ...config, kind: 'ConfigMapGenerator', metadata: { name: 'made' }, literals: ['URL=https://example.com'] }
    const files = snapshot({
      'kustomization.yaml': JSON.stringify({
        resources: ['web.yaml'],
        patchesStrategicMerge: [`${patch}\n`],
        generators: ['made.yaml'],
        transformers: ['notes', `${JSON.stringify(annotating('example.com/repo'))}\n`],
      }),
      'web.yaml': deployment({ image: 'example.com/web' }),
      'made.yaml': made,
      'notes/kustomization.yaml': 'resources: [docs.yaml]\n',
      'notes/docs.yaml': annotating('example.com/docs'),
    })
    const found = (await render(files, '.')).map(({ object }) => object)
    const [web] = found.filter(({ kind }) => kind === 'Deployment')
    assert.equal(web?.metadata.annotations, note)
    assert.ok(JSON.stringify(web).includes(env.value))
    assert.ok(JSON.stringify(found).includes('"URL":"https://example.com"'))
  })

  it('refuses every field by which a plug-in loads something, in any case', async () => {
    for (const [field, value] of Object.entries({
      files: ['key=https://example.com/x'],
      ENVS: ['https://example.com/x'],
      env: 'https://example.com/x',
      path: 'https://example.com/x',
      paths: ['https://example.com/x'],
      targetFilePath: 'https://example.com/x',
      replacements: [{ path: 'https://example.com/x' }],
    })) {
      const files = snapshot({
        'kustomization.yaml': 'transformers: [one.yaml]\n',
        'one.yaml': { kind: 'Any', [field]: value },
      })
      assert.match((await failureOf(render(files, '.'))).message, /one\.yaml.*remote/, field)
    }
  })

  it('refuses what leads out of the repository', async () => {
    for (const line of ['resources: [../../../../etc/passwd]', 'configMapGenerator: [{name: x, files: [/etc/passwd]}]']) {
      const failure = await failureOf(render(overlay({ 'shop/overlays/dev/kustomization.yaml': line }), 'shop/overlays/dev'))
      assert.is(failure.reason, 'SourceRefused', failure.message)
    }
    assert.is((await failureOf(render(overlay(), '../x'))).reason, 'SourceRefused')
  })

  it('ends where kustomizations lead back to themselves', async () => {
    const leading = (path: string, to: string) => ({ [`${path}/kustomization.yaml`]: `resources: [${to}]\n` })
    const circles = [leading('app', '../app'), { ...leading('app', '../base'), ...leading('base', '../app') }]
    for (const files of circles) {
      const failure = await failureOf(render(snapshot(files), 'app'))
      assert.is(failure.code, 'invalid', failure.message)
      assert.match(failure.message, /cycle/)
    }
  })

  it('looks for many references among many files in little time, and refuses more', async () => {
    const many = (count: number) => JSON.stringify({ resources: Array.from({ length: count }, (_, at) => `no${at}`) })
    const files = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`app/f${at}/x`, '']))
    const spent = effort()
    const absent = await failureOf(render(snapshot({ ...files, 'app/kustomization.yaml': many(9000) }), 'app'))
    assert.match(absent.message, /app\/kustomization\.yaml: "no0" is not in the repository/)
    assert.ok(spent() < 10_000, `${spent()} ms`)
    const refusal = await failureOf(render(snapshot({ 'app/kustomization.yaml': many(10_001) }), 'app'))
    assert.match(refusal.message, /app\/kustomization\.yaml: there are more than 10000 references in all/)
  })

  it('refuses paths of files that no checkout may hold', async () => {
    for (const path of ['../x.yaml', 'a/../../x.yaml', '.git/config', 'a/.GIT/hooks/x', '/etc/x.yaml', 'a\\b.yaml', 'git~1/x'])
      assert.is((await failureOf(render(snapshot({ [path]: configMap('x') }), '.'))).reason, 'SourceRefused', path)
  })

  it('refuses symbolic links where the rendering needs them', async () => {
    const link = { source: 'app/settings.yaml', data: Buffer.alloc(0), link: 'symbolic link' }
    const plain = { commitId: 'c', files: [link] }
    assert.match((await failureOf(render(plain, 'app'))).message, /symbolic link/)
    const kustomization = { source: 'app/kustomization.yaml', data: Buffer.from('resources: [settings.yaml]') }
    assert.match((await failureOf(render({ commitId: 'c', files: [kustomization, link] }, 'app'))).message, /symbolic link/)
  })

  it('refuses links anywhere below the path, where bases are, and above both, naming file and rule', async () => {
    const link = (source: string, kind: string) => ({ source, data: Buffer.alloc(0), link: kind })
    const base = { source: 'app/kustomization.yaml', data: Buffer.from('resources: [../base]') }
    const table: [files: SourceFile[], path: string, said: RegExp][] = [
      [
        [...snapshot({ 'app/a.yaml': configMap('a') }).files, link('app/README', 'symbolic link')],
        'app',
        /^app\/README: is a symbolic link; below/,
      ],
      [
        [...snapshot({ 'app/a.yaml': configMap('a') }).files, link('app/sub', 'submodule')],
        'app',
        /^app\/sub: is a submodule; below/,
      ],
      [[link('app', 'submodule')], 'app/deep', /^app: is a submodule/],
      [[base, link('base', 'submodule')], 'app', /^base: is a submodule/],
    ]
    for (const [files, path, said] of table) {
      const failure = await failureOf(render({ commitId: 'c', files }, path))
      assert.is(failure.reason, 'SourceRefused')
      assert.match(failure.message, said)
    }
    const beside = [...snapshot({ 'app/a.yaml': configMap('a') }).files, link('apple', 'submodule')]
    assert.is((await render({ commitId: 'c', files: beside }, 'app')).length, 1)
  })

  it('says so when the path holds nothing', async () => {
    const failure = await failureOf(render(overlay(), 'shop/nowhere'))
    assert.is(failure.reason, 'PathNotFound')
  })

  it("tells kustomize's own complaint without our folders", async () => {
    const { message } = await failureOf(
      render(overlay({ 'shop/overlays/dev/kustomization.yaml': 'nameprefix: [x' }), 'shop/overlays/dev'),
    )
    assert.not.match(message, 'berth-render')
    const failure = await failureOf(
      render(snapshot({ 'kustomization.yaml': 'resources: [a]\n', 'a/x.txt': 'no kustomization here' }), '.'),
    )
    assert.is(failure.reason, 'RenderFailed')
    assert.not.match(failure.message, 'berth-render')
  })

  it('tells the complaint, and not the warning before it', async () => {
    const files = snapshot({ 'kustomization.yaml': 'commonLabels: {a: b}\nresources: [a]\n', 'a/x.txt': 'nothing' })
    const { message } = await failureOf(render(files, '.'))
    assert.not.match(message, 'Warning')
    assert.match(message, /kustomize: .*accumulat/)
  })

  it('ends a rendering that takes too long', async () => {
    const hasty = createRenderer({ kubectl: await kubectl(), limits: { time: 1 } })
    assert.match((await failureOf(hasty(overlay(), 'shop/overlays/dev'))).message, /ended after/)
  })

  it('ends a rendering that writes too much', async () => {
    const narrow = createRenderer({ kubectl: await kubectl(), limits: { bytes: 10 } })
    assert.is((await failureOf(narrow(overlay(), 'shop/overlays/dev'))).code, 'too-large')
  })

  it('ends a rendering that takes too much memory', async () => {
    const many = Array.from({ length: 5000 }, (_, index) => JSON.stringify(configMap(`m${index}`))).join('\n---\n')
    const files = snapshot({ 'a/kustomization.yaml': 'resources: [many.yaml]', 'a/many.yaml': many })
    const narrow = createRenderer({ kubectl: await kubectl(), limits: { memory: 2 ** 20 } })
    const failure = await failureOf(narrow(files, 'a'))
    assert.is(failure.code, 'too-large')
    assert.match(failure.message, /took too much of 1 MiB of memory/)
  })

  it('G14: parses again only the documents that changed, and counts lines and documents through the file', async () => {
    const documents = ['# first\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n', ...['b', 'c'].map(mapNamed)]
    const plain = createRenderer({ kubectl: await kubectl() })
    const before = await plain(snapshot({ 'x/all.yaml': documents.join('---\n') }), 'x')
    assert.equal(
      before.map(({ source }) => source),
      ['x/all.yaml:2', 'x/all.yaml:6', 'x/all.yaml:10'],
    )
    const changed = [documents[0], `data: {}\n${documents[1]}`, documents[2]].join('---\n')
    const after = await plain(snapshot({ 'x/all.yaml': changed }), 'x')
    assert.is(after[0]?.object, before[0]?.object)
    assert.is.not(after[1]?.object, before[1]?.object)
    assert.is(after[2]?.object, before[2]?.object)
    assert.is(after[2]?.source, 'x/all.yaml:11')
    const broken = failureOf(plain(snapshot({ 'x/all.yaml': `${documents.join('---\n')}---\nkind: Nothing\n` }), 'x'))
    assert.match((await broken).message, /x\/all\.yaml:14: document 4 has no apiVersion/)
  })

  it('does not take a text apart that begins with directives', async () => {
    const text = '%TAG ! tag:example.com,2030:\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n'
    const found = await createRenderer({ kubectl: await kubectl() })(snapshot({ 'x/a.yaml': text + mapNamed('b') }), 'x')
    assert.equal(
      found.map(({ object }) => object.metadata.name),
      ['a', 'b'],
    )
  })

  it('asks for the folders of bases as the kustomizations reveal them', async () => {
    const patterns = (known: readonly SourceFile[], path: string) => patternsFor(known, path, createYamlReader())
    const { files } = overlay()
    assert.equal(await patterns([], 'shop/overlays/dev'), ['shop/overlays/dev/**'])
    const first = files.filter(({ source }) => source === 'shop/overlays/dev/kustomization.yaml')
    assert.equal(await patterns(first, 'shop/overlays/dev'), ['shop/base/**', 'shop/overlays/dev/**'])
    assert.equal(await patterns(files, 'shop/overlays/dev'), ['shop/base/**', 'shop/overlays/dev/**'])
    assert.equal(await patterns([], '.'), ['**'])
  })
})
