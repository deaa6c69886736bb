import * as assert from 'uvu/assert'
import { type DevfileProblem, sentenceOf, validateDevfile } from '../../src/devfile/index.ts'
import { describe } from '../support/suite.ts'

const check = async (text: string): Promise<DevfileProblem[]> => (await validateDevfile(text, { profile: 'gitlab' })).problems

const MAIN = '{ name: tooling, attributes: { gl/inject-editor: true }, container: { image: i } }'
const head = 'schemaVersion: 2.2.0\n'
const components = (...list: string[]) => `components: [${[MAIN, ...list].join(', ')}]\n`
const command = (text: string) => `${head}${components()}commands: [${text}]`
const EXEC = '{ id: run, exec: { commandLine: x, component: tooling } }'

/** GitLab's words, each with what makes it say them. Source: its own table of invalid devfiles. */
const SAID: [says: string, text: string][] = [
  ["'schemaVersion' must be a String", `schemaVersion: 2.2\n${components()}`],
  ["Invalid 'schemaVersion' 'example'", `schemaVersion: example\n${components()}`],
  ["'schemaVersion' '2.0.0' is not supported, it must be '2.2.0'", `schemaVersion: 2.0.0\n${components()}`],
  ["'schemaVersion' '' is not supported, it must be '2.2.0'", components()],
  ["Inheriting from 'parent' is not yet supported", `${head}${components()}parent: { id: nodejs }`],
  ["'starterProjects' is not yet supported", `${head}${components()}starterProjects: []`],
  ["'projects' is not yet supported", `${head}${components()}projects: []`],
  ["'Attributes' must be a Hash", `${head}${components()}attributes: []`],
  ["Attribute 'pod-overrides' is not yet supported", `${head}${components()}attributes: { pod-overrides: { a: b } }`],
  ["'Components' must be an Array", `${head}components: { a: b }`],
  ['No components present in devfile', head],
  ['No components present in devfile', `${head}components: []`],
  ["Each element in 'components' must be a Hash", `${head}${components('text')}`],
  ["No component has 'gl/inject-editor' attribute", `${head}components: [{ name: a, container: { image: i } }]`],
  [
    `Multiple components '["tooling", "other"]' have 'gl/inject-editor' attribute`,
    `${head}${components('{ name: other, attributes: { gl/inject-editor: true }, container: { image: i } }')}`,
  ],
  ["A component must have a 'name'", `${head}${components('{ container: { image: i } }')}`],
  ["'Component name' must be a String", `${head}${components('{ name: 1, container: { image: i } }')}`],
  [
    "Component name 'gl-example' must not start with 'gl-'",
    `${head}${components('{ name: a, volume: {} }', '{ name: gl-example, volume: {} }')}`,
  ],
  ["Component name 'GL-x' must not start with 'gl-'", `${head}${components('{ name: GL-x, volume: {} }')}`],
  ["Volume's name must be less than 28 characters", `${head}${components(`{ name: ${'v'.repeat(28)}, volume: {} }`)}`],
  ["'attributes' for component 'a' must be a Hash", `${head}${components('{ name: a, attributes: [], volume: {} }')}`],
  [
    "Attribute 'container-overrides' is not yet supported",
    `${head}${components('{ name: a, attributes: { container-overrides: { a: b } }, container: { image: i } }')}`,
  ],
  [
    "Attribute 'pod-overrides' is not yet supported",
    `${head}${components('{ name: a, attributes: { pod-overrides: { a: b } }, container: { image: i } }')}`,
  ],
  ["Component type 'kubernetes' is not yet supported", `${head}${components('{ name: a, kubernetes: { uri: x } }')}`],
  ["Component type 'openshift' is not yet supported", `${head}${components('{ name: a, openshift: { uri: x } }')}`],
  [
    "Component type 'image' is not yet supported",
    `${head}${components('{ name: a, image: { imageName: x, dockerfile: { uri: x } } }')}`,
  ],
  ["'container' in component 'a' must be a Hash", `${head}${components('{ name: a, container: text }')}`],
  [
    "Property 'dedicatedPod' of component 'a' is not yet supported",
    `${head}${components('{ name: a, container: { image: i, dedicatedPod: true } }')}`,
  ],
  [
    "Property 'sourceMapping' of component 'a' is not yet supported",
    `${head}${components('{ name: a, container: { image: i, sourceMapping: /x } }')}`,
  ],
  [
    "Property 'mountSources' of component 'a' is not yet supported",
    `${head}${components('{ name: a, container: { image: i, mountSources: true } }')}`,
  ],
  [
    "Property 'overrideCommand' of component 'a' must be a boolean (true or false)",
    `${head}${components('{ name: a, attributes: { overrideCommand: "yes" }, container: { image: i } }')}`,
  ],
  [
    "Properties 'command', 'args' for component 'a' can only be specified when the 'overrideCommand' attribute is set to false",
    `${head}${components('{ name: a, attributes: { overrideCommand: true }, container: { image: i, args: [x] } }')}`,
  ],
  [
    "Properties 'command', 'args' for component 'm' can only be specified when the 'overrideCommand' attribute is set to false",
    `${head}components: [{ name: m, attributes: { gl/inject-editor: true }, container: { image: i, command: [x] } }]`,
  ],
  ["'Endpoints' must be an Array", `${head}${components('{ name: a, container: { image: i, endpoints: {} } }')}`],
  [
    "Endpoint name 'gl-example' of component 'a' must not start with 'gl-'",
    `${head}${components('{ name: a, container: { image: i, endpoints: [{ name: ok, targetPort: 1 }, { name: gl-example, targetPort: 2 }] } }')}`,
  ],
  ["'Commands' must be an Array", `${head}${components()}commands: {}`],
  ["'command' must be a Hash", command('text')],
  ["Command id 'gl-example' must not start with 'gl-'", command(`${EXEC}, { id: gl-example, apply: { component: tooling } }`)],
  [
    "Command 'all' must have one of the supported command types: exec, apply",
    command(`${EXEC}, { id: all, composite: { commands: [run] } }`),
  ],
  ["'exec' command 'a' must specify a 'component'", command('{ id: a, exec: { commandLine: x } }')],
  [
    "Component name 'gl-example' for command id 'a' must not start with 'gl-'",
    command(`${EXEC}, { id: a, apply: { component: gl-example } }`),
  ],
  [
    "Label 'gl-example' for command id 'a' must not start with 'gl-'",
    command('{ id: a, exec: { commandLine: x, component: tooling, label: gl-example } }'),
  ],
  [
    "Unsupported options 'env, group' for exec command 'a'. Only 'commandLine, component, label, hotReloadCapable, workingDir' are supported.",
    command('{ id: a, exec: { commandLine: x, component: tooling, env: [], group: { kind: run } } }'),
  ],
  [
    "Property 'hotReloadCapable' for exec command 'a' must be false when specified",
    command('{ id: a, exec: { commandLine: x, component: tooling, hotReloadCapable: true } }'),
  ],
  ["'Events' must be a Hash", `${head}${components()}events: []`],
  ["Event type 'preStop' is not yet supported", `${command(EXEC)}\nevents: { preStop: [run] }`],
  [
    "Event type 'postStop' is not yet supported",
    `${command('{ id: a, apply: { component: tooling } }')}\nevents: { postStop: [a] }`,
  ],
  [
    "Event 'gl-example' of type 'preStart' must not start with 'gl-'",
    `${command('{ id: a, apply: { component: tooling } }')}\nevents: { preStart: [a, gl-example] }`,
  ],
  [
    "PostStart event references command 'gone' which has no command definition.",
    `${command(EXEC)}\nevents: { postStart: [run, gone] }`,
  ],
  [
    "PostStart event references command 'a' which is not an exec command. Only exec commands are supported in postStart events",
    `${command('{ id: a, apply: { component: tooling } }')}\nevents: { postStart: [a] }`,
  ],
  ["'Variables' must be a Hash", `${head}${components()}variables: []`],
  ["Variable name 'gl-example' must not start with 'gl-'", `${head}${components()}variables: { a: b, gl-example: x }`],
  ["Variable name 'gl_example' must not start with 'gl_'", `${head}${components()}variables: { gl_example: x }`],
  ["Variable name 'GL_TOKEN' must not start with 'gl_'", `${head}${components()}variables: { GL_TOKEN: x }`],
]

describe('devfile: GitLab’s profile', (it) => {
  for (const [i, [says, text]] of SAID.entries()) {
    it(`${i + 1}. says: ${says}`, async () => {
      const found = await check(text)
      assert.ok(
        found.some(({ message, rule, line, column }) => message === says && rule === 'gitlab' && line > 0 && column > 0),
        found.map(sentenceOf).join('\n') || 'nothing was found',
      )
    })
  }

  it('has one sentence, and not two, for what the schema refuses as well', async () => {
    const places = (await check(`schemaVersion: example\n${components()}`)).map(({ message }) => message)
    assert.equal(places, ["Invalid 'schemaVersion' 'example'", "'schemaVersion' 'example' is not supported, it must be '2.2.0'"])
  })

  it('says everything at once, in the order of the text', async () => {
    const found = await check(
      `${head}components: [{ name: gl-a, container: { image: i } }]\ncommands: [{ id: gl-b, exec: { commandLine: x, component: gl-a } }]\nevents: { preStop: [gl-b] }`,
    )
    assert.equal(
      found.map(({ line, message }) => `${line} ${message}`),
      [
        "2 No component has 'gl/inject-editor' attribute",
        "2 Component name 'gl-a' must not start with 'gl-'",
        "3 Command id 'gl-b' must not start with 'gl-'",
        "3 Component name 'gl-a' for command id 'gl-b' must not start with 'gl-'",
        "4 Event type 'preStop' is not yet supported",
        "4 Event 'gl-b' of type 'preStop' must not start with 'gl-'",
      ],
    )
  })

  it('measures the devfile as JSON', async () => {
    const long = `${head}${components()}attributes: { a: "${'x'.repeat(3 * 1024 * 1024 - 400)}" }`
    assert.equal(await check(long), [])
    const quotes = `${head}${components()}attributes: { a: '${'"'.repeat(2 * 1024 * 1024)}' }`
    assert.equal(
      (await check(quotes)).map(({ message }) => message),
      ['Devfile size (4 MB) exceeds the maximum allowed size of 3 MB'],
    )
  })

  it('accepts what GitLab accepts', async () => {
    const text = `schemaVersion: 2.2.0
variables: { tag: "1" }
components:
  - name: tooling
    attributes: { gl/inject-editor: true, overrideCommand: false }
    container:
      image: "node:{{ tag }}"
      command: [serve]
      env: [{ name: A, value: b }]
      endpoints: [{ name: web, targetPort: 8080 }]
      volumeMounts: [{ name: cache, path: /cache }]
  - name: db
    container: { image: db, args: [x], mountSources: false }
  - { name: cache, volume: { size: 5Gi } }
commands:
  - { id: init, apply: { component: db } }
  - { id: run, exec: { commandLine: x, component: tooling, label: run, workingDir: /, hotReloadCapable: false } }
events: { preStart: [init], postStart: [run], preStop: [] }
`
    assert.equal((await check(text)).map(sentenceOf), [])
  })
})
