import * as assert from 'uvu/assert'
import { sentenceOf, validateDevfile } from '../../src/devfile/index.ts'
import { describe } from '../support/suite.ts'

const check = async (text: string) => (await validateDevfile(text)).problems
const rules = async (text: string) => (await check(text)).map(({ rule, path }) => `${rule} ${path}`)
const C = 'components: [{ name: c, container: { image: i } }]'

/** What came later than 2.0.0, with the version that brought it and the one before. */
const LATER: [before: string, since: string, path: string, body: string][] = [
  ['2.0.0', '2.1.0', 'attributes', 'attributes: { a: b }'],
  ['2.0.0', '2.1.0', 'variables', 'variables: { a: b }'],
  ['2.0.0', '2.1.0', 'components[0].container.cpuLimit', 'components: [{ name: c, container: { image: i, cpuLimit: "1" } }]'],
  ['2.0.0', '2.1.0', 'components[0].container.cpuRequest', 'components: [{ name: c, container: { image: i, cpuRequest: "1" } }]'],
  [
    '2.0.0',
    '2.1.0',
    'components[0].container.memoryRequest',
    'components: [{ name: c, container: { image: i, memoryRequest: 1Gi } }]',
  ],
  ['2.0.0', '2.1.0', 'components[0].volume.ephemeral', 'components: [{ name: v, volume: { ephemeral: true } }]'],
  ['2.1.0', '2.2.0', 'components[0].image', 'components: [{ name: i, image: { imageName: x, dockerfile: { uri: x } } }]'],
  [
    '2.1.0',
    '2.2.0',
    'components[0].kubernetes.deployByDefault',
    'components: [{ name: k, kubernetes: { uri: x, deployByDefault: true } }]',
  ],
  [
    '2.1.0',
    '2.2.0',
    'components[0].container.annotation',
    'components: [{ name: c, container: { image: i, annotation: { service: { a: b } } } }]',
  ],
  [
    '2.1.0',
    '2.2.0',
    'components[0].container.endpoints[0].annotation',
    'components: [{ name: c, container: { image: i, endpoints: [{ name: e, targetPort: 1, annotation: { a: b } }] } }]',
  ],
  ['2.1.0', '2.2.0', 'parent.version', 'parent: { id: nodejs, version: 1.0.0 }'],
  [
    '2.1.0',
    '2.2.0',
    'commands[0].exec.group.kind',
    `${C}\ncommands: [{ id: a, exec: { commandLine: x, component: c, group: { kind: deploy } } }]`,
  ],
  ['2.2.1', '2.2.2', 'dependentProjects', 'dependentProjects: [{ name: p, git: { remotes: { o: "https://h/r" } } }]'],
]

describe('devfile: schema versions', (it) => {
  for (const [before, since, path, body] of LATER) {
    it(`${path} came with ${since}`, async () => {
      const [found, ...others] = await check(`schemaVersion: ${before}\n${body}`)
      assert.equal(others, [])
      assert.is(found?.rule, 'field-version')
      assert.is(found?.path, path)
      assert.is(found?.remedy, `write schemaVersion: ${since}`)
      for (const version of [since, '2.3.0']) assert.equal(await rules(`schemaVersion: ${version}\n${body}`), [])
    })
  }

  it('needs a schemaVersion and nothing else', async () => {
    assert.equal(await rules('schemaVersion: 2.3.0'), [])
    assert.equal(await rules('metadata: { name: a }'), ['required schemaVersion'])
  })

  it('takes JSON as it takes YAML, with places', async () => {
    const text =
      '{\n  "schemaVersion": "2.2.0",\n  "components": [\n    {"name": "c", "container": {"imag": "x", "image":"y"}}\n  ]\n}'
    const [found, ...others] = await check(text)
    assert.equal(others, [])
    assert.equal([found?.line, found?.column, found?.rule], [4, 33, 'unknown-field'])
  })
})

/** One mistake each: where it is found, to the column. */
const SHAPES: [why: string, found: string, body: string][] = [
  ['an unknown field is named', '2:1 unknown-field component', 'component: []'],
  ['a plugin is no word of files', '2:25 unknown-field components[0].plugin', 'components: [{ name: p, plugin: { id: x } }]'],
  ['a list is a list', '2:13 type components', 'components: { a: b }'],
  ['an item is a mapping', '2:14 type components[0]', 'components: [text]'],
  ['a component has a name', '2:14 required components[0].name', 'components: [{ volume: {} }]'],
  ['a component is one thing', '2:14 one-of components[0]', 'components: [{ name: a, container: { image: i }, volume: {} }]'],
  ['a component is something', '2:14 one-of components[0]', 'components: [{ name: a }]'],
  ['a name is lower case', '2:22 name components[0].name', 'components: [{ name: Aa, volume: {} }]'],
  ['a name has at most 63 characters', '2:22 name components[0].name', `components: [{ name: ${'a'.repeat(64)}, volume: {} }]`],
  [
    'an endpoint name has at most 15',
    '2:68 endpoint-name components[0].container.endpoints[0].name',
    'components: [{ name: a, container: { image: i, endpoints: [{ name: a234567890123456, targetPort: 1 }] } }]',
  ],
  [
    'a port is one',
    '2:83 range components[0].container.endpoints[0].targetPort',
    'components: [{ name: a, container: { image: i, endpoints: [{ name: a, targetPort: 65536 }] } }]',
  ],
  [
    'a word is one of those',
    '2:96 enum components[0].container.endpoints[0].exposure',
    'components: [{ name: a, container: { image: i, endpoints: [{ name: a, targetPort: 1, exposure: private }] } }]',
  ],
  [
    'a flag is true or false',
    '2:46 type components[0].volume.ephemeral',
    'components: [{ name: a, volume: { ephemeral: "yes" } }]',
  ],
  ['a text is no flag', '2:17 type variables.a', 'variables: { a: true }'],
  ['a container needs an image', '2:36 required components[0].container.image', 'components: [{ name: a, container: {} }]'],
  [
    'a manifest is here or elsewhere',
    '2:37 one-of components[0].kubernetes',
    'components: [{ name: a, kubernetes: { uri: x, inlined: y } }]',
  ],
  ['a command is one thing', '2:12 one-of commands[0]', 'commands: [{ id: a }]'],
  ['a project comes from somewhere', '2:12 one-of projects[0]', 'projects: [{ name: a }]'],
  ['a parent is in one place', '2:9 one-of parent', 'parent: { uri: x, id: y }'],
  ['a version is one', '2:27 type parent.version', 'parent: { id: x, version: newest }'],
]

describe('devfile: shapes', (it) => {
  for (const [why, expected, body] of SHAPES) {
    it(why, async () => {
      const found = await check(`schemaVersion: 2.3.0\n${body}`)
      assert.equal(
        found.map(({ line, column, rule, path }) => `${line}:${column} ${rule} ${path}`),
        [expected],
        found.map(sentenceOf).join('\n'),
      )
    })
  }

  it('lets 63 characters, and 15 for an endpoint, pass', async () => {
    const body = `components: [{ name: ${'a'.repeat(63)}, container: { image: i, endpoints: [{ name: a23456789012345, targetPort: 65535 }] } }]`
    assert.equal(await rules(`schemaVersion: 2.3.0\n${body}`), [])
  })

  it('leaves attributes and metadata open', async () => {
    const body = 'metadata: { name: a, mine: { x: 1 } }\nattributes: { x: [1, { y: z }] }'
    assert.equal(await rules(`schemaVersion: 2.3.0\n${body}`), [])
  })

  it('takes `volume:` with nothing behind it', async () => {
    assert.equal(await rules('schemaVersion: 2.3.0\ncomponents:\n  - name: v\n    volume:\n'), [])
  })
})
