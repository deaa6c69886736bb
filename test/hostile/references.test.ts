import { is } from 'uvu/assert'
import { ConfigMaps } from '../../src/api/index.ts'
import { configMap } from '../support/builders/snapshots.ts'
import { plainServer, type StrangeServer } from '../support/builders/strange-server.ts'
import { describe } from '../support/suite.ts'
import { bringUp, type Installation, sourceOf } from './installation.ts'

/** What listens on the operator's own machine is reached by whoever gets kustomize to load a URL. */
describe('hostile: references that hide', (it) => {
  let berth: Installation
  let internal: StrangeServer
  let url = ''
  it.before(async () => {
    internal = await plainServer((_, response) => response.end(JSON.stringify(configMap('from-loopback'))))
    url = `${internal.url}/x.yaml`
    berth = await bringUp(['evil'])
  })
  it.after(async () => {
    await internal.close()
    await berth.stop()
    is(internal.seen, 0, 'nothing asked for the URL')
  })

  /** Its repository is followed as it stands, and the reason why nothing comes of it is told. */
  const isRefused = async (name: string, files: Record<string, string>, words: RegExp) => {
    const { url: from } = await berth.repository('evil', name, files)
    await berth.follow('evil', name, { source: sourceOf(from) })
    await berth.told('evil', name, words)
    is(await berth.kube.get(ConfigMaps, { name: 'from-loopback', namespace: 'evil' }), undefined)
  }
  const hidden = () => `!!binary ${Buffer.from(url).toString('base64')}`
  const generator = (...fields: string[]) =>
    ['apiVersion: builtin', 'kind: ConfigMapGenerator', 'metadata: {name: x}', ...fields, ''].join('\n')

  it('are not followed from a value that is written as bytes', () =>
    isRefused('value', { 'kustomization.yaml': `resources:\n  - ${hidden()}\n` }, /kustomization\.yaml:2:\d+: Only what JSON/))

  it('are not followed from a field whose name is written as bytes', async () => {
    const field = `!!binary ${Buffer.from('resources').toString('base64')}`
    await isRefused('field', { 'kustomization.yaml': `${field}: ["${url}"]\n` }, /kustomization\.yaml:1:\d+: Only what JSON/)
  })

  it('are not followed from a generator that stands in place of its path', () =>
    isRefused(
      'inline',
      { 'kustomization.yaml': JSON.stringify({ generators: [generator(`files: [${hidden()}]`)] }) },
      /line 4 of what stands there in place of a path: Only what JSON/,
    ))

  it('are not put together by a replacement', async () => {
    const targets = [{ select: { name: 'x' }, fieldPaths: ['files.0'], options: { delimiter: '/', index: 1 } }]
    const replacements = [{ source: { kind: 'ConfigMapGenerator', name: 'x', fieldPath: 'behavior' }, targets }]
    const files = {
      'kustomization.yaml': 'generators: [made]\n',
      'made/kustomization.yaml': JSON.stringify({ resources: ['x.yaml'], replacements }),
      'made/x.yaml': generator('files: ["http:/x"]', `behavior: ${url.slice('http:/'.length)}`),
    }
    await isRefused('replaced', files, /replacements\\?" may not change what configures a generator/)
  })

  it('are not followed from where a value that is added is read', async () => {
    const adding = ['apiVersion: builtin', 'kind: ValueAddTransformer', 'metadata: {name: x}', `targetFilePath: ${url}`, '']
    const files = { 'kustomization.yaml': 'transformers: [x.yaml]\n', 'x.yaml': adding.join('\n') }
    await isRefused('added', files, /x\.yaml: .* is remote; only files of the repository are used/)
  })
})
