import * as assert from 'uvu/assert'
import { type Devfile, isAppliedAtStart, parseDevfile, sentenceOf } from '../../src/devfile/index.ts'
import { describe } from '../support/suite.ts'

const read = async (text: string): Promise<Devfile> => {
  const answer = await parseDevfile(text)
  if ('problems' in answer) assert.unreachable(answer.problems.map(sentenceOf).join('\n'))
  else return answer.devfile
  throw assert.unreachable()
}

const problems = async (text: string): Promise<string[]> => {
  const answer = await parseDevfile(text)
  return 'problems' in answer ? answer.problems.map(sentenceOf) : []
}

describe('devfile: reading', (it) => {
  it('reads a container with everything it may have', async () => {
    const { containers, volumes, name } = await read(`
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
        endpoints: [
          {
            name: 'web',
            targetPort: 8080,
            exposure: 'public',
            protocol: 'http',
            secure: false,
            path: '',
            attributes: {},
            annotations: {},
          },
        ],
        volumeMounts: [
          { name: 'cache', path: '/cache' },
          { name: 'home', path: '/home' },
        ],
        resources: { cpuRequest: '500m', memoryLimit: '2Gi' },
        mountSources: true,
        sourceMapping: '/projects',
        overrideCommand: false,
        dedicatedPod: false,
        annotations: { deployment: {}, service: {} },
        attributes: {},
      },
    ])
  })

  it('takes every schema version from 2.0 to 2.3 and no other', async () => {
    for (const version of ['2.0.0', '2.1.0', '2.2.0', '2.2.2', '2.3.0']) {
      assert.is(
        (await read(`schemaVersion: ${version}\ncomponents: [{ name: a, container: { image: b } }]`)).schemaVersion,
        version,
      )
    }
    for (const version of ['1.0.0', '2.4.0', '3.0.0', '2.2', '"2.2.0 "']) {
      assert.match(
        (await problems(`schemaVersion: ${version}\ncomponents: [{ name: a, container: { image: b } }]`))[0] ?? '',
        /2\.0\.0 to 2\.3\.x/,
      )
    }
  })

  it('names every mistake at once with its place', async () => {
    assert.equal(
      await problems(`schemaVersion: 9.9.9
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
        'line 1, column 16: schemaVersion: "9.9.9" is not a schema version from 2.0.0 to 2.3.x (write 2.3.0)',
        `line 3, column 11: components[0].name: "Tools" must be at most 63 lower case letters, digits and '-', beginning and ending with a letter or digit`,
        'line 5, column 7: components[0].container.imge: there is no such field; the fields here are image, command, args, env, endpoints, volumeMounts, cpuRequest, cpuLimit, memoryRequest, memoryLimit, mountSources, sourceMapping, dedicatedPod, annotation (did you mean image?)',
        'line 5, column 7: components[0].container.image: is missing',
        'line 6, column 22: components[0].container.memoryRequest: memoryRequest 2Gi must not exceed memoryLimit 1Gi (raise the limit or lower the request)',
        'line 9, column 36: components[0].container.endpoints[0].targetPort: must be a whole number from 1 to 65535',
        'line 11, column 19: components[0].container.volumeMounts[0].name: container "Tools" mounts "gone", but no volume component is called so (add the volume, or mount another one)',
      ],
    )
  })

  it('keeps an editor container alive unless it says what it runs', async () => {
    const editor = async (container: string) =>
      await read(
        `schemaVersion: 2.2.0\ncomponents: [{ name: a, attributes: { gl/inject-editor: true }, container: ${container} }]`,
      )
    assert.is((await editor('{ image: b }')).containers[0]?.overrideCommand, true)
    assert.is((await editor('{ image: b, command: [serve] }')).containers[0]?.overrideCommand, false)
  })

  it('stops a text whose aliases multiply', async () => {
    const bomb = Array.from(
      { length: 12 },
      (_, i) => `a${i}: &a${i} [${new Array(9).fill(i ? `*a${i - 1}` : 'x').join(', ')}]`,
    ).join('\n')
    assert.ok((await problems(`${bomb}\nschemaVersion: 2.2.0\ncomponents: *a11`)).length > 0)
  })
})

const WORDS = await read(`
schemaVersion: 2.3.0
attributes: { mine: [1, { a: b }] }
components:
  - name: tools
    attributes: { own: 1 }
    container:
      image: i
      endpoints: [{ name: web, targetPort: 1, secure: true, attributes: { a: b }, annotation: { c: d } }]
  - name: alone
    container: { image: i, dedicatedPod: true, annotation: { deployment: { a: b } } }
  - { name: k, kubernetes: { inlined: "a: b", deployByDefault: true } }
  - { name: o, openshift: { uri: o.yaml } }
  - { name: i, image: { imageName: x, dockerfile: { uri: Dockerfile, args: [a], rootRequired: true } } }
commands:
  - { id: run, exec: { commandLine: x, component: tools, env: [{ name: A, value: b }], group: { kind: run, isDefault: true } } }
  - { id: deploy, apply: { component: o } }
  - { id: both, composite: { commands: [run], parallel: true, label: All } }
  - { id: aside, apply: { component: k } }
events: { postStart: [RUN], preStart: [deploy] }
projects:
  - { name: p, git: { remotes: { a: "https://h/a", b: "https://h/b" }, checkoutFrom: { remote: b, revision: v1 } } }
  - { name: z, clonePath: x/z, zip: { location: "https://h/z.zip" } }
starterProjects: [{ name: s, subDir: d, git: { remotes: { a: "https://h/a" } } }]
`)

describe('devfile: the words', (it) => {
  const { commands, events, projects, starterProjects, manifests, images, containers, attributes, ...rest } = WORDS

  it('have defaults written out', () => {
    const [tools, alone] = containers
    assert.equal([tools?.mountSources, alone?.mountSources, alone?.dedicatedPod], [true, false, true])
    assert.is(tools?.endpoints[0]?.protocol, 'https', 'a secure http endpoint is https')
    assert.equal(tools?.endpoints[0]?.annotations, { c: 'd' })
    assert.equal(alone?.annotations, { deployment: { a: 'b' }, service: {} })
    assert.equal([attributes, tools?.attributes], [{ mine: [1, { a: 'b' }] }, { own: 1 }])
    assert.equal(rest.warnings, [])
  })

  it('know commands and when they run', () => {
    assert.equal(
      commands.map((command) => `${command.id} ${command.kind}`),
      ['run exec', 'deploy apply', 'both composite', 'aside apply'],
    )
    const [run, , both] = commands
    assert.equal(run?.group, { kind: 'run', isDefault: true })
    assert.equal(both?.kind === 'composite' && [both.commands, both.parallel, both.label], [['run'], true, 'All'])
    assert.equal(events, { preStart: ['deploy'], postStart: ['run'], preStop: [], postStop: [] })
  })

  it('know where sources come from', () => {
    assert.equal(projects[0]?.source, {
      git: { remotes: { a: 'https://h/a', b: 'https://h/b' }, remote: 'b', revision: 'v1' },
    })
    assert.equal([projects[0]?.clonePath, projects[1]?.clonePath], ['p', 'x/z'])
    assert.equal(starterProjects[0]?.source, { git: { remotes: { a: 'https://h/a' }, remote: 'a', revision: undefined } })
    assert.is(starterProjects[0]?.subDir, 'd')
  })

  it('tell what is there from the start: what no command applies, unless it says otherwise', () => {
    const devfile = { commands, events, projects, starterProjects, manifests, images, containers, attributes, ...rest }
    const parts = [...containers, ...manifests, ...images]
    assert.equal(
      parts.map((part) => `${part.name} ${isAppliedAtStart(devfile, part)}`),
      ['tools true', 'alone true', 'k true', 'o false', 'i true'],
    )
  })

  it('keep an order: what is listed first is first', () => {
    assert.equal(
      manifests.map(({ name, kind, source }) => [name, kind, source]),
      [
        ['k', 'kubernetes', { inlined: 'a: b' }],
        ['o', 'openshift', { uri: 'o.yaml' }],
      ],
    )
    assert.equal(images[0]?.dockerfile, {
      from: 'uri',
      uri: 'Dockerfile',
      buildContext: undefined,
      args: ['a'],
      rootRequired: true,
    })
  })

  it('are refused where a parent would have to be fetched, or nothing would run', async () => {
    assert.equal(await problems('schemaVersion: 2.2.0\nparent: { uri: base.yaml }'), [
      'line 2, column 9: parent: parents are not supported here (write its components into this devfile)',
    ])
    assert.match((await problems('schemaVersion: 2.2.0'))[0] ?? '', /at least one component of kind container/)
  })
})
