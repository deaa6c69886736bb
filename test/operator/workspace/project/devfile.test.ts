import * as assert from 'uvu/assert'
import type { Workspace } from '../../../../src/api/index.ts'
import { readManifests } from '../../../../src/engines/devfiles/index.ts'
import { isObstacle } from '../../../../src/operator/workspace/place/obstacle.ts'
import { createDevfileParser, readDevfile } from '../../../../src/operator/workspace/project/devfile.ts'
import { createYamlReaders, Failure, parseYaml, parseYamlTree } from '../../../../src/std/index.ts'
import { describe } from '../../../support/suite.ts'

const workspace = (inline?: string): Workspace => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'Workspace',
  metadata: { name: 'web', namespace: 'team-a' },
  spec: inline === undefined ? {} : { devfile: { inline } },
})

const TOOLS = 'schemaVersion: 2.3.0\ncomponents:\n  - { name: tools, container: { image: i } }\n'
const APPLY = 'commands: [{ id: a, apply: { component: tools } }]\n'

const CONFIG = '{ apiVersion: v1, kind: ConfigMap, metadata: { name: a } }'
const inlined = (text: string) => `${TOOLS}  - { name: k, kubernetes: { inlined: ${JSON.stringify(text)} } }`

const NOWHERE = { source: undefined, project: undefined, parser: createDevfileParser(createYamlReaders()) }

async function refusal(text: string): Promise<string> {
  const read = await readDevfile(workspace(text), {}, NOWHERE)
  return isObstacle(read) ? read.message : 'taken'
}

/** Parts that are valid and of which nothing is made: taken, they would be missing without a word. */
const NOT_MADE: [why: string, text: string, says: RegExp][] = [
  [
    'an event that applies objects',
    `${inlined(CONFIG)}\ncommands: [{ id: a, apply: { component: k } }]\nevents: { postStop: [a] }`,
    /command "a" of events\.postStop applies "k", which is not a container/,
  ],
  ['steps without anything after them', `${TOOLS}${APPLY}events: { preStart: [a] }`, /no container is left for the main pod/],
  ['a name that Berth may need', TOOLS.replace('tools', 'berth-tools'), /the name of component "berth-tools" is reserved/],
  ['a kubernetes component', `${TOOLS}  - { name: k, kubernetes: { uri: x } }`, /"k" of kind kubernetes: its uri is read by kas/],
  ['an openshift component', `${TOOLS}  - { name: o, openshift: { uri: x } }`, /"o" of kind openshift: its uri is read by kas/],
  [
    'endpoints without pods',
    `${TOOLS}  - { name: k, kubernetes: { inlined: ${JSON.stringify(CONFIG)}, endpoints: [{ name: a, targetPort: 80 }] } }`,
    /component "k" of kind kubernetes has endpoints, but no pods for them/,
  ],
  ['only pods of their own', TOOLS.replace('image: i', 'image: i, dedicatedPod: true'), /no container is left for the main pod/],
  [
    'objects that decide about others',
    inlined('{ apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: { name: a } }'),
    /Role a out/,
  ],
  ['a list', inlined('{ apiVersion: v1, kind: List, metadata: { name: a }, items: [] }'), /List is a list/],
  ['what is no object', inlined('{ apiVersion: v1, kind: Secret }'), /line 1 of inlined: not a Kubernetes object/],
  [
    'an object without a name',
    inlined('{ apiVersion: v1, kind: Pod, metadata: { generateName: a- } }'),
    /not a Kubernetes object/,
  ],
  ['the same object twice', inlined(`${CONFIG}\n---\n${CONFIG}`), /ConfigMap a is in kubernetes components twice/],
  ['YAML that is none', inlined('{'), /line 1, column \d+ of inlined/],
  ['a parent', `${TOOLS}parent: { uri: base.yaml }`, /line 4, column 9: parent: parents are not supported/],
]

describe('workspace: its devfile', (it) => {
  for (const [why, text, says] of NOT_MADE) it(`refuses ${why}`, async () => assert.match(await refusal(text), says))

  it('counts mistakes and places them', async () => {
    const message = await refusal('schemaVersion: 2.3.0\ncomponents:\n  - { name: A, container: {} }\n')
    assert.match(message, /^spec\.devfile\.inline has 2 mistakes: line 3, column 13: .*; line 3, column 27: /)
  })

  it('tells the first of many mistakes, and who tells all', async () => {
    const many = Array.from({ length: 12 }, (_, i) => `  - { name: A${i}, container: { image: i } }\n`).join('')
    const read = await readDevfile(workspace(`schemaVersion: 2.3.0\ncomponents:\n${many}`), {}, NOWHERE)
    assert.match(
      isObstacle(read) ? read.message : '',
      /has 12 mistakes: line 3, [^;]*; line 4, [^;]*; line 5, [^;]*; and 9 more$/,
    )
    assert.is(isObstacle(read) && read.remedy, 'Correct spec.devfile.inline: `berth validate` tells all of them.')
  })

  it('notes what is beside the workspace', async () => {
    const projects = 'projects: [{ name: p, git: { remotes: { origin: https://git.example.com/p.git } } }]\n'
    const image = '  - { name: i, image: { imageName: shop/web, dockerfile: { uri: x } } }\n'
    const read = await readDevfile(workspace(`${TOOLS}${image}${projects}`), {}, NOWHERE)
    assert.equal('devfile' in read && read.devfile.warnings.map(({ path, message }) => `${path} ${message}`), [
      'component "i" nothing is built here: containers get the shop/web that its registry has, so build and push it before',
      'projects is read, but has no effect',
    ])
  })

  it('is that of the class where it has none', async () => {
    assert.equal('devfile' in (await readDevfile(workspace(), { devfile: TOOLS }, NOWHERE)), true)
    assert.match(JSON.stringify(await readDevfile(workspace(), { devfile: 'x' }, NOWHERE)), /the class's devfile has 1 mistake: /)
    assert.match(JSON.stringify(await readDevfile(workspace(), {}, NOWHERE)), /DevfileMissing/)
  })

  it('has parents from those hosts only that its class lists', async () => {
    const nobody = () => Promise.reject(new Failure('internal', 'nobody asks'))
    const source = { fetchObjects: nobody, fetchDevfile: nobody }
    const parent = 'parent: { uri: "https://b.example.com/base.yaml" }\n'
    const read = await readDevfile(workspace(`${TOOLS}${parent}`), { devfileHosts: ['a.example.com'] }, { ...NOWHERE, source })
    assert.match(isObstacle(read) ? read.message : '', 'cannot be read: devfiles of b.example.com are not fetched here')
    assert.match(isObstacle(read) ? read.message : '', 'choose a class that allows its host (spec.devfileHosts)')
  })

  it('is waited for beside everybody else where it is read from a slow repository', async () => {
    const nobody = () => Promise.reject(new Failure('internal', 'nobody asks'))
    const source = { fetchObjects: nobody, fetchDevfile: nobody }
    const known = { url: 'https://git.example.com/shop.git', path: 'team/shop' }
    const project = { name: 'shop', isThere: true, known, git: undefined, trouble: undefined }
    const aside = () => Promise.resolve(undefined)
    const named = { ...workspace(), spec: { devfile: { path: '.devfile.yaml' }, project: { gitProject: 'shop' } } }
    const read = await readDevfile(named, {}, { ...NOWHERE, source, project, aside })
    assert.equal(isObstacle(read) && [read.reason, read.waitingFor, read.isUnderWay], ['DevfileReading', 'kas', true])
  })
})

describe('workspace: the parser of devfiles', (it) => {
  it('parses a text once, however often and by how many it is asked, and tries again what failed', async () => {
    let asked = 0
    const { parse } = createDevfileParser({
      readYaml: (text) => Promise.resolve(parseYaml(text)),
      readYamlTree(text, options) {
        asked++
        return asked === 1
          ? Promise.reject(new Failure('unavailable', 'no thread'))
          : Promise.resolve(parseYamlTree(text, options))
      },
    })
    assert.instance(await parse(TOOLS, 'team-a').catch((thrown: unknown) => thrown), Failure)
    const [first, second] = await Promise.all([parse(TOOLS, 'team-a'), parse(TOOLS, 'team-b')])
    assert.ok('devfile' in first)
    assert.is(first, second)
    assert.is(await parse(TOOLS, 'team-a'), first)
    assert.is(asked, 2)
  })

  it('has Kubernetes objects read by the thread, once, on behalf of the tenant', async () => {
    const asked: string[] = []
    const { readYamlTree } = createYamlReaders()
    const readYaml = (text: string, tenant = '') => {
      asked.push(`${tenant} ${text}`)
      return Promise.resolve(parseYaml(CONFIG))
    }
    const parser = createDevfileParser({ readYaml, readYamlTree })
    for (let times = 0; times < 3; times++) {
      const read = await readDevfile(workspace(inlined('no object')), {}, { ...NOWHERE, parser })
      assert.equal(
        isObstacle(read) ? read.message : readManifests(read.devfile).objects.map(({ object }) => object.metadata.name),
        ['a'],
      )
    }
    assert.equal(asked, ['team-a no object'])
  })
})
