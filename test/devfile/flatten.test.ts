import * as assert from 'uvu/assert'
import {
  type DevfileFetcher,
  type DevfileReference,
  type Flattened,
  flattenDevfile,
  sentenceOf,
} from '../../src/devfile/index.ts'
import { Failure } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'

const idOf = (reference: DevfileReference): string =>
  reference.by === 'uri'
    ? reference.uri
    : reference.by === 'id'
      ? `${reference.registryUrl ?? ''}#${reference.id}@${reference.version ?? ''}`
      : `${reference.namespace ?? ''}/${reference.name}`

/** Texts by where they are; each is known by its place. */
const from =
  (texts: Record<string, string>, asked: string[] = []): DevfileFetcher =>
  (reference) => {
    const id = idOf(reference)
    asked.push(id)
    const text = texts[id]
    return text === undefined
      ? Promise.reject(new Failure('not-found', `there is no ${id}`))
      : Promise.resolve({ name: id, text })
  }

async function flatten(text: string, texts: Record<string, string>, name = 'devfile.yaml'): Promise<Flattened> {
  const read = await flattenDevfile(text, { fetch: from(texts), name })
  if ('devfile' in read) return read
  throw assert.unreachable(read.problems.map(sentenceOf).join('\n'))
}

async function wrong(text: string, texts: Record<string, string> = {}): Promise<string[]> {
  const read = await flattenDevfile(text, { fetch: from(texts), name: 'devfile.yaml' })
  return 'problems' in read ? read.problems.map(({ file, line, rule, path }) => `${file}:${line} ${rule} ${path}`) : []
}

const BASE = `schemaVersion: 2.1.0
variables: { tag: "1", kept: "k" }
attributes: { a: 1, b: 1 }
components:
  - name: tools
    attributes: { x: 1, y: { z: 1 } }
    container:
      image: tools:{{ tag }}
      args: [one, two]
      env: [{ name: A, value: a }, { name: B, value: b }]
      endpoints: [{ name: web, targetPort: 80, exposure: internal }]
      memoryLimit: 1Gi
  - { name: deploy, kubernetes: { uri: k.yaml } }
commands:
  - { id: init, exec: { commandLine: init, component: tools } }
  - { id: build, exec: { commandLine: build, component: tools, env: [{ name: X, value: x }] } }
  - { id: all, composite: { commands: [init, build] } }
projects:
  - { name: web, git: { remotes: { origin: "https://h/old" } } }
events: { postStart: [init] }
`

describe('devfile: parents', (it) => {
  it('come first, and the main body wins in variables and attributes', async () => {
    const { devfile, sources } = await flatten(
      `schemaVersion: 2.2.0
parent: { uri: base.yaml }
variables: { tag: "2" }
attributes: { b: 2 }
components: [{ name: db, container: { image: "db:{{ kept }}" } }]
commands: [{ id: last, exec: { commandLine: x, component: tools } }]
events: { postStart: [init, last] }
`,
      { 'base.yaml': BASE },
    )
    assert.equal(
      devfile.containers.map(({ name, image }) => `${name} ${image}`),
      ['tools tools:2', 'db db:k'],
    )
    assert.equal(devfile.attributes, { a: 1, b: 2 })
    assert.equal(devfile.events.postStart, ['init', 'last'])
    assert.is(devfile.schemaVersion, '2.2.0')
    assert.is(sources.length, 1)
    assert.match(sources[0]?.sha256 ?? '', /^[0-9a-f]{64}$/)
  })

  it('have the newest version of them all', async () => {
    const { devfile } = await flatten('schemaVersion: 2.0.0\nparent: { uri: base.yaml }', { 'base.yaml': BASE })
    assert.is(devfile.schemaVersion, '2.1.0')
  })

  it('are overridden by a strategic merge', async () => {
    const { devfile, document } = await flatten(
      `schemaVersion: 2.2.0
parent:
  uri: base.yaml
  variables: { tag: "3" }
  attributes: { a: 9 }
  components:
    - name: tools
      attributes: { y: { w: 2 } }
      container:
        args: [three]
        env: [{ name: B, value: other }, { name: C, value: c }]
        endpoints: [{ name: web, targetPort: 81 }]
        memoryLimit: null
    - { name: deploy, kubernetes: { inlined: "a: b" } }
  commands:
    - { id: build, exec: { commandLine: make, env: [{ name: Y, value: y }] } }
    - { id: all, composite: { commands: [build] } }
  projects: [{ name: web, git: { remotes: { fork: "https://h/fork" }, checkoutFrom: { remote: fork } } }]
`,
      { 'base.yaml': BASE },
    )
    const [tools] = devfile.containers
    assert.is(tools?.image, 'tools:3')
    assert.equal(tools?.args, ['three'], 'lists of args replace')
    assert.equal(
      tools?.env.map(({ name, value }) => `${name}=${value}`),
      ['A=a', 'B=other', 'C=c'],
      'lists with a name merge, and grow',
    )
    assert.equal(
      tools?.endpoints.map(({ targetPort, exposure }) => `${targetPort} ${exposure}`),
      ['81 internal'],
    )
    assert.equal(tools?.resources, {}, 'null takes away')
    assert.equal(tools?.attributes, { x: 1, y: { w: 2 } }, 'attributes merge by key and replace values')
    assert.equal(devfile.attributes, { a: 9, b: 1 })
    assert.equal(devfile.manifests[0]?.source, { inlined: 'a: b' }, 'another member of a union takes its place')
    const build = devfile.commands.find(({ id }) => id === 'build')
    assert.equal(build?.kind === 'exec' && [build.commandLine, build.component, build.env.length], ['make', 'tools', 2])
    const all = devfile.commands.find(({ id }) => id === 'all')
    assert.equal(all?.kind === 'composite' && all.commands, ['build'])
    assert.equal(devfile.projects[0]?.source, {
      git: { remotes: { origin: 'https://h/old', fork: 'https://h/fork' }, remote: 'fork', revision: undefined },
    })
    assert.not.match(JSON.stringify(document()), /parent|\{\{/)
  })

  it('are refused when an override overrides nothing, or the main body defines again', async () => {
    assert.equal(
      await wrong(
        `schemaVersion: 2.2.0
parent:
  uri: base.yaml
  components: [{ name: gone, container: { image: x } }]
components:
  - { name: tools, container: { image: x } }
`,
        { 'base.yaml': BASE },
      ),
      ['devfile.yaml:4 override-unknown parent.components[0].name', 'devfile.yaml:6 redefined components.tools'],
    )
  })

  it('have their mistakes named by their own file, line and path', async () => {
    assert.equal(
      await wrong(
        `schemaVersion: 2.2.0
parent: { uri: base.yaml }
components: [{ name: a, container: { image: x } }]
`,
        {
          'base.yaml': `schemaVersion: 2.0.0
components:
  - { name: b, container: { image: x, endpoints: [{ name: e, targetPort: 1 }] } }
  - { name: c, container: { image: x, endpoints: [{ name: e, targetPort: 2 }], imge: y, cpuLimit: "1" } }
`,
        },
      ),
      [
        'base.yaml:4 unique-endpoint components[1].container.endpoints[0].name',
        'base.yaml:4 unknown-field components[1].container.imge',
        'base.yaml:4 field-version components[1].container.cpuLimit',
      ],
    )
  })

  it('are asked for by uri relative to the file they stand in, by id, and in the cluster', async () => {
    const asked: string[] = []
    const texts = {
      'https://h/a/base.yaml': 'schemaVersion: 2.2.0\nparent: { uri: ../b/root.yaml }',
      'https://h/b/root.yaml': 'schemaVersion: 2.2.0\nparent: { id: node, registryUrl: "https://r", version: 1.0.0 }',
      'https://r#node@1.0.0': 'schemaVersion: 2.2.0\nparent: { kubernetes: { name: t, namespace: n } }',
      'n/t':
        '{"apiVersion":"workspace.devfile.io/v1alpha2","kind":"DevWorkspaceTemplate","metadata":{},"spec":{"components":[{"name":"c","container":{"image":"i"}}]}}',
    }
    const read = await flattenDevfile('schemaVersion: 2.2.0\nparent: { uri: base.yaml }', {
      fetch: from(texts, asked),
      name: 'https://h/a/devfile.yaml',
    })
    assert.equal('devfile' in read && read.devfile.containers.map(({ name }) => name), ['c'])
    assert.equal(asked, ['https://h/a/base.yaml', 'https://h/b/root.yaml', 'https://r#node@1.0.0', 'n/t'])
  })

  it('are read as far as they have 3 MB together, for all their trees are kept until the end', async () => {
    const filled = (parent: string) => `# ${'x'.repeat(1_600_000)}\n${ofParent(parent)}`
    const ofParent = (parent: string) => `schemaVersion: 2.2.0\nparent: { uri: ${parent} }\n`
    const last = 'schemaVersion: 2.2.0\ncomponents: [{ name: c, container: { image: i } }]\n'
    const texts = { 'a.yaml': filled('b.yaml'), 'b.yaml': filled('c.yaml'), 'c.yaml': last }
    assert.equal(await wrong(ofParent('a.yaml'), texts), ['b.yaml:3 import-depth parent'])
    assert.equal(await wrong(ofParent('a.yaml'), { ...texts, 'a.yaml': ofParent('b.yaml') }), [])
  })

  it('do not lead out of the folder, into a ring, or on and on', async () => {
    const parent = (uri: string) => `schemaVersion: 2.2.0\nparent: { uri: ${uri} }`
    assert.equal(await wrong(parent('../x.yaml')), ['devfile.yaml:2 uri parent'])
    assert.equal(await wrong(parent('devfile.yaml')), ['devfile.yaml:2 import-cycle parent'])
    assert.equal(await wrong(parent('a.yaml'), { 'a.yaml': parent('b.yaml'), 'b.yaml': parent('a.yaml') }), [
      'b.yaml:2 import-cycle parent',
    ])
    const tower = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`${i}.yaml`, parent(`${i + 1}.yaml`)]))
    assert.equal(await wrong(parent('0.yaml'), tower), ['4.yaml:2 import-depth parent'])
    const five = { ...tower, '4.yaml': 'schemaVersion: 2.2.0\ncomponents: [{ name: c, container: { image: i } }]' }
    assert.equal(await wrong(parent('0.yaml'), five), [])
  })

  it('that cannot be read are a problem, with what else is wrong', async () => {
    const text = 'schemaVersion: 2.2.0\nparent: { uri: gone.yaml }\ncomponents: [{ name: A, container: { image: i } }]'
    assert.equal(await wrong(text), ['devfile.yaml:2 import parent', 'devfile.yaml:3 name components[0].name'])
    assert.equal(await wrong(text, { 'gone.yaml': 'a: [' }), ['devfile.yaml:3 name components[0].name', 'gone.yaml:1 yaml '])
  })

  it('let what is nobody’s mistake go up', async () => {
    const stop = new Failure('cancelled', 'stopped')
    const text = 'schemaVersion: 2.2.0\nparent: { uri: a.yaml }'
    const seen = await flattenDevfile(text, { fetch: () => Promise.reject(stop) }).catch((thrown: unknown) => thrown)
    assert.is(seen, stop)
  })
})

const template = (spec: string) => `{ apiVersion: workspace.devfile.io/v1alpha2, kind: DevWorkspaceTemplate, spec: ${spec} }`
const IN_CLUSTER = 'schemaVersion: 2.2.0\nparent: { kubernetes: { name: t } }'

describe('devfile: plugins', (it) => {
  it('of a template are merged between its parent and itself, with their overrides', async () => {
    const { devfile } = await flatten(IN_CLUSTER, {
      '/t': template(
        '{ components: [{ name: main, container: { image: m } }, { name: ide, plugin: { id: editor, components: [{ name: code, container: { image: mine } }] } }] }',
      ),
      '#editor@': 'schemaVersion: 2.2.0\ncomponents: [{ name: code, container: { image: theirs } }]',
    })
    assert.equal(
      devfile.containers.map(({ name, image }) => `${name} ${image}`),
      ['code mine', 'main m'],
    )
  })

  it('of the same volume make it as large as the largest, and persistent if one is', async () => {
    const volume = (size: string, more = '') =>
      `schemaVersion: 2.2.0\ncomponents: [{ name: v, volume: { size: ${size}${more} } }]`
    const { devfile } = await flatten(IN_CLUSTER, {
      '/t': template(
        '{ parent: { id: base }, components: [{ name: c, container: { image: i } }, { name: one, plugin: { id: p } }] }',
      ),
      '#base@': volume('1Gi', ', ephemeral: true'),
      '#p@': volume('1500Mi'),
    })
    assert.equal(devfile.volumes, [{ name: 'v', size: '1500Mi', ephemeral: false }])
  })

  it('that define the same twice, or bring themselves in, are refused', async () => {
    const c = 'schemaVersion: 2.2.0\ncomponents: [{ name: c, container: { image: i } }]'
    const two = template('{ components: [{ name: a, plugin: { id: x } }, { name: b, plugin: { id: y } }] }')
    assert.equal(await wrong(IN_CLUSTER, { '/t': two, '#x@': c, '#y@': c }), ['#y@:2 redefined components.c'])
    const self = template(
      '{ components: [{ name: a, plugin: { kubernetes: { name: t } } }, { name: c, container: { image: i } }] }',
    )
    assert.equal(await wrong(IN_CLUSTER, { '/t': self }), ['/t:1 import-cycle components[0].plugin'])
  })
})
