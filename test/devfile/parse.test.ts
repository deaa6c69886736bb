import * as assert from 'uvu/assert'
import { type Devfile, parseDevfile, sentenceOf } from '../../src/devfile/index.ts'
import { describe } from '../support/suite.ts'

const read = (text: string): Devfile => {
  const answer = parseDevfile(text)
  if ('problems' in answer) assert.unreachable(answer.problems.map(sentenceOf).join('\n'))
  else return answer.devfile
  throw assert.unreachable()
}

const problems = (text: string): string[] => {
  const answer = parseDevfile(text)
  return 'problems' in answer ? answer.problems.map(sentenceOf) : []
}

const component = (container: string, rest = '') =>
  `schemaVersion: 2.2.0\ncomponents:\n  - name: tools\n    container: ${container}\n${rest}`

describe('devfile: reading', (it) => {
  it('reads a container with everything it may have', () => {
    const { containers, volumes, name } = read(`
schemaVersion: 2.2.0
metadata: { name: web }
variables: { tag: "24" }
components:
  - name: tools
    container:
      image: node:{{ tag }}
      command: [sleep]
      args: [infinity]
      env: [{ name: PORT, value: "8080" }]
      endpoints: [{ name: web, targetPort: 8080, exposure: public }]
      volumeMounts: [{ name: cache, path: /cache }, { name: home }]
      memoryLimit: 2Gi
      cpuRequest: 500m
  - { name: cache, volume: { size: 2Gi } }
  - { name: home, volume: { ephemeral: true } }
`)
    assert.is(name, 'web')
    assert.equal(volumes, [
      { name: 'cache', size: '2Gi', ephemeral: false },
      { name: 'home', size: undefined, ephemeral: true },
    ])
    assert.equal(containers, [
      {
        name: 'tools',
        image: 'node:24',
        command: ['sleep'],
        args: ['infinity'],
        env: [{ name: 'PORT', value: '8080' }],
        endpoints: [{ name: 'web', targetPort: 8080, exposure: 'public', protocol: 'http', secure: false, path: '' }],
        volumeMounts: [
          { name: 'cache', path: '/cache' },
          { name: 'home', path: '/home' },
        ],
        resources: { cpuRequest: '500m', memoryLimit: '2Gi' },
        mountSources: true,
        sourceMapping: '/projects',
        overrideCommand: false,
      },
    ])
  })

  it('takes every schema version from 2.0 to 2.3 and no other', () => {
    for (const version of ['2.0.0', '2.1.0', '2.2.0', '2.2.2', '2.3.0']) {
      assert.is(read(`schemaVersion: ${version}\ncomponents: [{ name: a, container: { image: b } }]`).schemaVersion, version)
    }
    for (const version of ['1.0.0', '2.4.0', '3.0.0', '2.2', '"2.2.0 "']) {
      assert.match(
        problems(`schemaVersion: ${version}\ncomponents: [{ name: a, container: { image: b } }]`)[0] ?? '',
        /2\.0\.0 to 2\.3\.x/,
      )
    }
  })

  it('names every mistake at once with its place', () => {
    assert.equal(
      problems(`schemaVersion: 9.9.9
components:
  - name: Tools
    container:
      imge: node
      memoryRequest: 2Gi
      memoryLimit: 1Gi
      endpoints:
        - { name: web, targetPort: 99999 }
      volumeMounts:
        - { name: gone }
`),
      [
        'line 1, column 16: schemaVersion: "9.9.9" is not a schema version from 2.0.0 to 2.3.x',
        `line 3, column 11: components[0].name: "Tools" must be at most 63 lower case letters, digits and '-', beginning and ending with a letter or digit`,
        'line 3, column 11: components[0].name: container "" mounts "gone", but no volume component is called so',
        'line 5, column 7: components[0].container.image: is missing',
        'line 5, column 13: components[0].container.imge: there is no such field; the fields here are image, command, args, env, endpoints, volumeMounts, cpuRequest, cpuLimit, memoryRequest, memoryLimit, mountSources, sourceMapping, dedicatedPod, annotation',
        'line 6, column 22: components[0].container.memoryRequest: memoryRequest 2Gi must not exceed memoryLimit 1Gi',
        'line 9, column 36: components[0].container.endpoints[0].targetPort: must be a whole number from 1 to 65535',
      ],
    )
  })

  it('keeps an editor container alive unless it says what it runs', () => {
    const editor = (container: string) =>
      read(`schemaVersion: 2.2.0\ncomponents: [{ name: a, attributes: { gl/inject-editor: true }, container: ${container} }]`)
    assert.is(editor('{ image: b }').containers[0]?.overrideCommand, true)
    assert.is(editor('{ image: b, command: [serve] }').containers[0]?.overrideCommand, false)
  })

  it('warns of variables that are not there and of parts without effect', () => {
    const { warnings } = read(
      component('{ image: b, env: [{ name: A, value: "{{ tag }}" }] }', 'projects: [{ name: a, git: {} }]'),
    )
    assert.equal(
      warnings.map(({ path, message }) => `${path}: ${message}`),
      ['projects: is read, but has no effect', 'components[0].container.env[0].value: there is no variable "tag"'],
    )
  })

  it('stops a text whose aliases multiply', () => {
    const bomb = Array.from(
      { length: 12 },
      (_, i) => `a${i}: &a${i} [${new Array(9).fill(i ? `*a${i - 1}` : 'x').join(', ')}]`,
    ).join('\n')
    assert.ok(problems(`${bomb}\nschemaVersion: 2.2.0\ncomponents: *a11`).length > 0)
  })
})

const REFUSED: { why: string; text: string; says: RegExp }[] = [
  { why: 'an empty text is no devfile', text: '', says: /must be a mapping/ },
  { why: 'broken YAML is named with its line', text: 'schemaVersion: 2.2.0\ncomponents: [', says: /^line 2, / },
  { why: 'the same key twice hides one of the values', text: 'schemaVersion: 2.2.0\nschemaVersion: 2.2.0', says: /unique/ },
  { why: 'two documents are two devfiles', text: 'schemaVersion: 2.2.0\n---\na: b', says: /multiple documents/ },
  { why: 'nothing to run is no workspace', text: 'schemaVersion: 2.2.0', says: /at least one component of kind container/ },
  {
    why: 'a component is one thing',
    text: 'schemaVersion: 2.2.0\ncomponents: [{ name: a, container: { image: b }, volume: {} }]',
    says: /exactly one of .* not container and volume/,
  },
  {
    why: 'names of components are unique',
    text: 'schemaVersion: 2.2.0\ncomponents: [{ name: a, container: { image: b } }, { name: a, volume: {} }]',
    says: /two components are called "a"/,
  },
  {
    why: 'names of endpoints are unique over all containers',
    text: 'schemaVersion: 2.2.0\ncomponents: [{ name: a, container: { image: b, endpoints: [{ name: w, targetPort: 1 }] } }, { name: c, container: { image: b, endpoints: [{ name: w, targetPort: 2 }] } }]',
    says: /endpoint "w" of c is there already, in a/,
  },
  {
    why: 'the containers share one network',
    text: 'schemaVersion: 2.2.0\ncomponents: [{ name: a, container: { image: b, endpoints: [{ name: w, targetPort: 1 }] } }, { name: c, container: { image: b, endpoints: [{ name: x, targetPort: 1 }] } }]',
    says: /port 1 of c is a's already/,
  },
  {
    why: 'reserved variables are not set',
    text: component('{ image: b, env: [{ name: PROJECTS_ROOT, value: /x }] }'),
    says: /PROJECTS_ROOT is set/,
  },
  { why: 'a quantity parses', text: component('{ image: b, cpuLimit: lots }'), says: /"lots" is not a quantity/ },
  { why: 'a mount leads nowhere else', text: component('{ image: b, sourceMapping: /a/../b }'), says: /absolute path without/ },
  {
    why: 'two mounts at one path hide each other',
    text: component('{ image: b, volumeMounts: [{ name: v, path: /projects }] }', '  - { name: v, volume: {} }'),
    says: /two things at \/projects/,
  },
  {
    why: 'an override and a command contradict',
    text: 'schemaVersion: 2.2.0\ncomponents: [{ name: a, attributes: { overrideCommand: true }, container: { image: b, command: [c] } }]',
    says: /exclude each other/,
  },
  {
    why: 'a parent that is not merged would be missing',
    text: component('{ image: b }', 'parent: { uri: https://x }'),
    says: /parents are not supported/,
  },
  {
    why: 'an event that is not run would be missing',
    text: component('{ image: b }', 'events: { postStart: [x] }'),
    says: /events are not supported/,
  },
  { why: 'a pod of its own is not made', text: component('{ image: b, dedicatedPod: true }'), says: /leave dedicatedPod out/ },
  {
    why: 'other kinds of components are not made',
    text: 'schemaVersion: 2.2.0\ncomponents: [{ name: a, kubernetes: { uri: x } }]',
    says: /kind kubernetes are not supported/,
  },
  {
    why: 'an environment value is a text',
    text: component('{ image: b, env: [{ name: A, value: true }] }'),
    says: /put quotes around true/,
  },
  {
    why: 'an endpoint name is short',
    text: component('{ image: b, endpoints: [{ name: much-too-long-name, targetPort: 1 }] }'),
    says: /at most 15/,
  },
]

describe('devfile: refusing', (it) => {
  for (const { why, text, says } of REFUSED) {
    it(why, () =>
      assert.ok(
        problems(text).some((line) => says.test(line)),
        `${why}: ${problems(text).join('\n')}`,
      ),
    )
  }
})
