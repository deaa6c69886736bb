import { equal, is, match } from 'uvu/assert'
import { createRenderer, type Render } from '../../../src/engines/render/index.ts'
import { asChecked, reachOf } from '../../../src/engines/render/kustomization.ts'
import { createYamlReader } from '../../../src/std/index.ts'
import { configMap, kubectl, snapshot } from '../../support/builders/snapshots.ts'
import { plainServer, type StrangeServer } from '../../support/builders/strange-server.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('what kustomize gets', (it) => {
  let render: Render
  let internal: StrangeServer
  let url = ''
  it.before(async () => {
    render = createRenderer({ kubectl: await kubectl() })
    internal = await plainServer((_, response) => response.end(JSON.stringify(configMap('internal'))))
    url = `${internal.url}/x.yaml`
  })
  it.after(async () => {
    await internal.close()
    is(internal.seen, 0, 'nothing was fetched')
  })
  const refused = async (files: Record<string, string | object>, said: RegExp, why?: string) => {
    const failure = await failureOf(() => render(snapshot({ 'a.yaml': configMap('a'), ...files }), '.'))
    is(failure.reason, 'SourceRefused', `${why}: ${failure.message}`)
    match(failure.message, said)
  }
  const generator = (fields: object) => ({
    apiVersion: 'builtin',
    kind: 'ConfigMapGenerator',
    metadata: { name: 'x' },
    ...fields,
  })

  it('holds no value that JSON does not have, wherever it stands', async () => {
    const hidden = `!!binary ${base64(url)}`
    const made = (value: string) => `apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: x}\nfiles: [${value}]\n`
    for (const [files, said] of [
      [{ 'kustomization.yaml': `resources:\n  - ${hidden}\n` }, /^kustomization\.yaml:2:\d+: Only what JSON has a value for/],
      [{ 'kustomization.yaml': `!!binary ${base64('resources')}: ["${url}"]\n` }, /^kustomization\.yaml:1:\d+: Only what JSON/],
      [{ 'kustomization.yaml': `resources: [!own "${url}"]\n` }, /^kustomization\.yaml:1:\d+: Only what JSON/],
      [{ 'kustomization.yaml': 'generators: [x.yaml]\n', 'x.yaml': made(hidden) }, /^x\.yaml:4:\d+: Only what JSON/],
      [
        { 'kustomization.yaml': JSON.stringify({ generators: [made(hidden)] }) },
        /^kustomization\.yaml: line 4 of what stands there in place of a path: Only what JSON/,
      ],
    ] as const)
      await refused(files, said)
  })

  it('holds no reference that is put together after it was looked for', async () => {
    const port = url.split('/')[2]
    for (const [field, value] of Object.entries({
      patches: [{ target: { kind: 'ConfigMapGenerator' }, patch: `[{op: add, path: /files/-, value: !!binary ${base64(url)}}]` }],
      replacements: [
        {
          source: { kind: 'ConfigMapGenerator', name: 'x', fieldPath: 'behavior' },
          targets: [{ select: { name: 'x' }, fieldPaths: ['files.0'], options: { delimiter: '/', index: 1 } }],
        },
      ],
      configMapGenerator: [{ name: 'y', literals: ['a=b'] }],
    }))
      await refused(
        {
          'kustomization.yaml': 'generators: [made]\n',
          'made/kustomization.yaml': JSON.stringify({ resources: ['x.yaml'], [field]: value }),
          'made/x.yaml': generator({ files: ['http:/x'], behavior: `/${port}/x.yaml` }),
        },
        /^made\/kustomization\.yaml: "\w+" may not change what configures a generator/,
        field,
      )
  })

  it('holds no bytes that are no text, but for what becomes data', async () => {
    const latin = (before: string) => Buffer.from(`${before}caf\u00e9`, 'latin1')
    const resource = { source: 'b.yaml', data: latin('# a\n# ') }
    const kustomization = (text: string) => ({ source: 'kustomization.yaml', data: Buffer.from(text) })
    for (const [files, said] of [
      [[kustomization('resources: [b.yaml]\n'), resource], /^b\.yaml:2: is not UTF-8/],
      [[{ source: 'kustomization.yaml', data: latin('# ') }], /^kustomization\.yaml:1: is not UTF-8/],
    ] as const) {
      const failure = await failureOf(() => render({ commitId: 'c', files: [...files] }, '.'))
      is(failure.reason, 'SourceRefused')
      match(failure.message, said)
    }
    const generated = kustomization('configMapGenerator: [{name: x, files: [b.yaml]}]\n')
    const [made] = await render({ commitId: 'c', files: [generated, resource] }, '.')
    equal(made?.object.binaryData, { 'b.yaml': Buffer.from(resource.data).toString('base64') })
  })

  it('holds no kustomization that nothing checked', async () => {
    const files = { 'kustomization.yaml': 'resources: [a.yaml]\n', 'b/kustomization.yaml': `resources: ["${url}"]\n` }
    equal((await render(snapshot({ 'a.yaml': configMap('a'), ...files }), '.')).length, 1)
  })

  it('is not a configuration and the content of a ConfigMap at once', async () => {
    await refused(
      { 'kustomization.yaml': 'configMapGenerator: [{name: x, files: [kustomization.yaml]}]\n' },
      /^kustomization\.yaml: is both a configuration for kustomize and the content of a ConfigMap or Secret$/,
    )
  })

  it('is no text of several lines that is none of YAML, in place of a path', async () => {
    for (const text of ['a: [1\nb: 2\n', 'only\nwords\n'])
      await refused({ 'kustomization.yaml': JSON.stringify({ transformers: [text] }) }, /in place of a path/, text)
  })

  it('means what is written, with every sign that text may hold', async () => {
    const signs = '\ufeff "quoted" \\ \u{1f6a2} é ~ : #\n- no list\t'
    const patch = `${JSON.stringify({ ...configMap('a'), data: { gone: null, signs } })}\n`
    const files = snapshot({
      'kustomization.yaml': JSON.stringify({
        resources: ['a.yaml'],
        configMapGenerator: [{ name: 'made', files: ['raw.txt'] }],
        generatorOptions: { disableNameSuffixHash: true },
        patchesStrategicMerge: [patch],
      }),
      'a.yaml': configMap('a', { gone: 'x', kept: 'y' }),
      'raw.txt': 'a: !!binary stays\n# as it is\n',
    })
    const found = (await render(files, '.')).map(({ object }) => object)
    equal(found.find(({ metadata }) => metadata.name === 'a')?.data, { kept: 'y', signs })
    const made = found.find(({ metadata }) => metadata.name === 'made')
    equal(made?.data, { 'raw.txt': 'a: !!binary stays\n# as it is\n' })
  })

  it('is JSON without a sign that YAML takes for a line break', async () => {
    const { files } = snapshot({ 'kustomization.yaml': 'namePrefix: "\u0085\u2028\u2029é"\n' })
    const byPath = new Map(files.map((file) => [file.source, file]))
    const [written] = asChecked(files, await reachOf(byPath, '.', createYamlReader()))
    is(Buffer.from(written?.data ?? []).toString('utf8'), '{"namePrefix":"\\u0085\\u2028\\u2029é"}\n')
  })
})
