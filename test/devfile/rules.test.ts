import * as assert from 'uvu/assert'
import { type DevfileProblem, sentenceOf, validateDevfile } from '../../src/devfile/index.ts'
import { describe } from '../support/suite.ts'

/** A row for each rule of the inventory (workspaces, section 3): what breaks it, where, and what is just inside of it. */
interface Row {
  why: string
  rule: string
  bad: string
  path: string
  good: string
}

const C = '{ name: c, container: { image: i } }'
const components = (...list: string[]) => `components: [${list.join(', ')}]`
const container = (fields: string, name = 'c') => `{ name: ${name}, container: { image: i, ${fields} } }`
const endpoint = (name: string, port: number) => `endpoints: [{ name: ${name}, targetPort: ${port} }]`
const commands = (...list: string[]) => `${components(C, '{ name: v, volume: {} }')}\ncommands: [${list.join(', ')}]`
const exec = (id: string, more = '') => `{ id: ${id}, exec: { commandLine: x, component: c${more} } }`
const apply = (id: string, component = 'c') => `{ id: ${id}, apply: { component: ${component} } }`
const composite = (id: string, ...members: string[]) => `{ id: ${id}, composite: { commands: [${members.join(', ')}] } }`
const project = (fields: string) => `projects: [{ name: p, ${fields} }]`
const ONE = 'git: { remotes: { origin: "https://h/r" } }'
const TWO = 'remotes: { a: "https://h/a", b: "https://h/b" }'
const starter = (fields: string) => `starterProjects: [{ name: p, ${fields} }]`
const image = (dockerfile: string) => components(`{ name: i, image: { imageName: x, dockerfile: { ${dockerfile} } } }`)
const withEvents = (event: string, ...ids: string[]) =>
  `${commands(exec('run'), apply('add'), composite('runs', 'run'), composite('adds', 'add'), composite('deep', 'runs'))}\nevents: { ${event}: [${ids.join(', ')}] }`

const ROWS: Row[] = [
  {
    why: 'names of components are unique',
    rule: 'unique-component',
    bad: components(C, '{ name: c, volume: {} }'),
    path: 'components[1].name',
    good: components(C, '{ name: d, volume: {} }'),
  },
  {
    why: 'ids of commands are unique, whatever their case would be',
    rule: 'unique-command',
    bad: commands(exec('a'), apply('a')),
    path: 'commands[1].id',
    good: commands(exec('a'), apply('b')),
  },
  {
    why: 'names of endpoints are unique over components of all kinds',
    rule: 'unique-endpoint',
    bad: components(container(endpoint('w', 1)), `{ name: k, kubernetes: { uri: k.yaml, ${endpoint('w', 2)} } }`),
    path: 'components[1].kubernetes.endpoints[0].name',
    good: components(container(endpoint('w', 1)), `{ name: k, kubernetes: { uri: k.yaml, ${endpoint('x', 2)} } }`),
  },
  {
    why: 'one target port is one container’s, but may be twice in it',
    rule: 'target-port',
    bad: components(container(endpoint('w', 1)), container(endpoint('x', 1), 'd')),
    path: 'components[1].container.endpoints[0].targetPort',
    good: components(container('endpoints: [{ name: w, targetPort: 1 }, { name: x, targetPort: 1 }]')),
  },
  {
    why: 'a container and a kubernetes component with the same target port are both accepted, as is a pod of its own',
    rule: 'target-port',
    bad: components(container(endpoint('w', 1)), container(endpoint('x', 1), 'd'), '{ name: v, volume: {} }'),
    path: 'components[1].container.endpoints[0].targetPort',
    good: components(
      container(endpoint('w', 1)),
      `{ name: k, kubernetes: { uri: k.yaml, ${endpoint('x', 1)} } }`,
      container(`dedicatedPod: true, ${endpoint('y', 1)}`, 'd'),
    ),
  },
  {
    why: 'a volume mount names a volume component',
    rule: 'volume-mount',
    bad: components(container('volumeMounts: [{ name: c2 }]'), '{ name: c2, container: { image: i } }'),
    path: 'components[0].container.volumeMounts[0].name',
    good: components(container('volumeMounts: [{ name: c2 }]'), '{ name: c2, volume: {} }'),
  },
  {
    why: 'two mounts at one path hide each other',
    rule: 'mount-path',
    bad: components(container('volumeMounts: [{ name: v, path: /projects }]'), '{ name: v, volume: {} }'),
    path: 'components[0].container.volumeMounts[0].path',
    good: components(container('mountSources: false, volumeMounts: [{ name: v, path: /projects }]'), '{ name: v, volume: {} }'),
  },
  {
    why: 'a path leads nowhere else',
    rule: 'path',
    bad: components(container('sourceMapping: /a/../b')),
    path: 'components[0].container.sourceMapping',
    good: components(container('sourceMapping: /a/b')),
  },
  {
    why: 'a bad quantity is refused',
    rule: 'quantity',
    bad: components(container('cpuLimit: lots')),
    path: 'components[0].container.cpuLimit',
    good: components(container('cpuLimit: 1500m, memoryLimit: 1.5Gi')),
  },
  {
    why: 'a request is not above its limit, in whatever units',
    rule: 'request-over-limit',
    bad: components(container('cpuRequest: "2", cpuLimit: 1999m')),
    path: 'components[0].container.cpuRequest',
    good: components(container('cpuRequest: "2", cpuLimit: 2000m')),
  },
  {
    why: 'the size of a volume parses',
    rule: 'volume-size',
    bad: components('{ name: v, volume: { size: huge } }'),
    path: 'components[0].volume.size',
    good: components('{ name: v, volume: { size: 10Gi } }'),
  },
  {
    why: 'reserved variables are not set',
    rule: 'reserved-env',
    bad: components(container('env: [{ name: PROJECT_SOURCE, value: /x }]')),
    path: 'components[0].container.env[0].name',
    good: components(container('env: [{ name: PROJECT, value: /x }]')),
  },
  {
    why: 'a variable has a name that the API server takes',
    rule: 'env-name',
    bad: components(container('env: [{ name: "A B", value: x }]')),
    path: 'components[0].container.env[0].name',
    good: components(container('env: [{ name: A.B, value: x }]')),
  },
  {
    why: 'an image has a name',
    rule: 'image',
    bad: components('{ name: c, container: { image: "a b" } }'),
    path: 'components[0].container.image',
    good: components(C),
  },
  {
    why: 'one annotation has one value, also when dedicatedPod is not said',
    rule: 'annotation-conflict',
    bad: components(container('annotation: { deployment: { a: x } }'), container('annotation: { deployment: { a: y } }', 'd')),
    path: 'components[1].container.annotation.deployment.a',
    good: components(
      container('annotation: { deployment: { a: x }, service: { a: y } }'),
      container('dedicatedPod: true, annotation: { deployment: { a: y } }', 'd'),
    ),
  },
  {
    why: 'two merge-contribution targets are refused',
    rule: 'merge-contribution',
    bad: components(
      '{ name: a, attributes: { controller.devfile.io/merge-contribution: true }, container: { image: i } }',
      '{ name: b, attributes: { controller.devfile.io/merge-contribution: true }, container: { image: i } }',
    ),
    path: 'components[1].attributes.controller.devfile.io/merge-contribution',
    good: components(
      '{ name: a, attributes: { controller.devfile.io/merge-contribution: true }, container: { image: i } }',
      '{ name: b, attributes: { controller.devfile.io/merge-contribution: false }, container: { image: i } }',
    ),
  },
  {
    why: 'what keeps a container alive and what it runs exclude each other',
    rule: 'override-command',
    bad: components('{ name: c, attributes: { overrideCommand: true }, container: { image: i, args: [x] } }'),
    path: 'components[0].attributes.overrideCommand',
    good: components('{ name: c, attributes: { overrideCommand: false }, container: { image: i, args: [x] } }'),
  },
  {
    why: 'exec names a container',
    rule: 'exec-component',
    bad: commands('{ id: a, exec: { commandLine: x, component: v } }'),
    path: 'commands[0].exec.component',
    good: commands(exec('a')),
  },
  {
    why: 'apply names a component of a known type',
    rule: 'apply-component',
    bad: commands(apply('a', 'v')),
    path: 'commands[0].apply.component',
    good: commands(apply('a')),
  },
  {
    why: 'the members of a composite exist, whatever their case',
    rule: 'composite-member',
    bad: commands(exec('a'), composite('b', 'gone')),
    path: 'commands[1].composite.commands[0]',
    good: commands(exec('a'), composite('b', 'A')),
  },
  {
    why: 'a composite does not refer to itself',
    rule: 'composite-cycle',
    bad: commands(composite('a', 'a')),
    path: 'commands[0].composite.commands[0]',
    good: commands(exec('x'), composite('a', 'x', 'x')),
  },
  {
    why: 'nor by way of others',
    rule: 'composite-cycle',
    bad: commands(composite('a', 'b'), composite('b', 'c'), composite('c', 'a')),
    path: 'commands[2].composite.commands[0]',
    good: commands(composite('a', 'b', 'c'), composite('b', 'c'), composite('c', 'x'), exec('x')),
  },
  {
    why: 'a group has one default',
    rule: 'group-default',
    bad: commands(exec('a', ', group: { kind: build, isDefault: true }'), exec('b', ', group: { kind: build, isDefault: true }')),
    path: 'commands[1].exec.group.isDefault',
    good: commands(exec('a', ', group: { kind: build, isDefault: true }'), exec('b', ', group: { kind: run, isDefault: true }')),
  },
  {
    why: 'an event names a command',
    rule: 'event-command',
    bad: withEvents('postStart', 'gone'),
    path: 'events.postStart[0]',
    good: withEvents('postStart', 'RUN'),
  },
  {
    why: 'preStart applies',
    rule: 'event-kind',
    bad: withEvents('preStart', 'add', 'run'),
    path: 'events.preStart[1]',
    good: withEvents('preStart', 'add', 'adds'),
  },
  {
    why: 'postStop applies',
    rule: 'event-kind',
    bad: withEvents('postStop', 'runs'),
    path: 'events.postStop[0]',
    good: withEvents('postStop', 'adds'),
  },
  {
    why: 'postStart runs',
    rule: 'event-kind',
    bad: withEvents('postStart', 'add'),
    path: 'events.postStart[0]',
    good: withEvents('postStart', 'run', 'runs'),
  },
  {
    why: 'preStop runs',
    rule: 'event-kind',
    bad: withEvents('preStop', 'adds'),
    path: 'events.preStop[0]',
    good: withEvents('preStop', 'runs'),
  },
  {
    why: 'a composite inside of a composite is rejected for events',
    rule: 'event-kind',
    bad: withEvents('postStart', 'deep'),
    path: 'events.postStart[0]',
    good: withEvents('postStart', 'runs'),
  },
  {
    why: 'a URI is one, absolute or relative',
    rule: 'uri',
    bad: components('{ name: k, kubernetes: { uri: "http://a b" } }'),
    path: 'components[0].kubernetes.uri',
    good: components('{ name: k, kubernetes: { uri: deploy/k.yaml } }', '{ name: o, openshift: { uri: "https://h/o.yaml" } }'),
  },
  {
    why: 'the URI of a parent is one',
    rule: 'uri',
    bad: 'parent: { uri: "http://a b/" }',
    path: 'parent.uri',
    good: 'parent: { uri: ../base.yaml }',
  },
  {
    why: 'a project has a remote',
    rule: 'remote-missing',
    bad: project('git: { remotes: {} }'),
    path: 'projects[0].git.remotes',
    good: project(ONE),
  },
  {
    why: 'several remotes need one to check out from',
    rule: 'checkout-remote',
    bad: project(`git: { ${TWO} }`),
    path: 'projects[0].git.checkoutFrom.remote',
    good: project(`git: { ${TWO}, checkoutFrom: { remote: b } }`),
  },
  {
    why: 'the remote to check out from exists',
    rule: 'checkout-remote',
    bad: project('git: { remotes: { a: "https://h/a" }, checkoutFrom: { remote: x } }'),
    path: 'projects[0].git.checkoutFrom.remote',
    good: project('git: { remotes: { a: "git@h:a" }, checkoutFrom: { revision: main } }'),
  },
  {
    why: 'a starter project has one remote at most',
    rule: 'single-remote',
    bad: starter(`git: { ${TWO}, checkoutFrom: { remote: a } }`),
    path: 'starterProjects[0].git.remotes',
    good: starter(`subDir: x, ${ONE}`),
  },
  {
    why: 'so has the source of an image',
    rule: 'single-remote',
    bad: image(`git: { ${TWO}, fileLocation: Dockerfile }`),
    path: 'components[0].image.dockerfile.git.remotes',
    good: image(ONE),
  },
  {
    why: 'a clone path is not absolute',
    rule: 'clone-path',
    bad: project(`clonePath: /etc, ${ONE}`),
    path: 'projects[0].clonePath',
    good: project(`clonePath: a/b, ${ONE}`),
  },
  {
    why: 'and stays inside of its root',
    rule: 'clone-path',
    bad: project(`clonePath: a/../../b, ${ONE}`),
    path: 'projects[0].clonePath',
    good: project(`clonePath: a/..b, ${ONE}`),
  },
  {
    why: 'names of projects are unique',
    rule: 'unique-project',
    bad: `projects: [{ name: p, ${ONE} }, { name: p, ${ONE} }]`,
    path: 'projects[1].name',
    good: `projects: [{ name: p, ${ONE} }, { name: q, ${ONE} }]`,
  },
]

const check = async (body: string): Promise<DevfileProblem[]> => (await validateDevfile(`schemaVersion: 2.3.0\n${body}`)).problems

describe('devfile: rules between parts', (it) => {
  for (const { why, rule, bad, path, good } of ROWS) {
    it(`${rule}: ${why}`, async () => {
      const found = await check(bad)
      assert.equal(
        found.map((each) => [each.rule, each.path]),
        [[rule, path]],
        `${why}\n${found.map(sentenceOf).join('\n')}`,
      )
      assert.ok(found[0] && found[0].line >= 2 && found[0].message, why)
      assert.equal((await check(good)).map(sentenceOf), [], `${why}: ${good}`)
    })
  }

  it('looks at the second entry of each list as at the first', async () => {
    const twice = await check(components(container('cpuLimit: x, memoryLimit: y'), container('cpuLimit: x, memoryLimit: y', 'd')))
    assert.is(twice.length, 4)
  })

  it('warns of a group without a default, and of what has no effect', async () => {
    const { problems, warnings } = await validateDevfile(
      `schemaVersion: 2.3.0\n${commands(exec('a', ', group: { kind: test }'), exec('b', ', group: { kind: test }'))}`,
    )
    assert.equal(problems, [])
    assert.equal(
      warnings.map(({ rule, path }) => [rule, path]),
      [['group-without-default', 'commands[1].exec.group']],
    )
    const secure = components(container('endpoints: [{ name: w, targetPort: 1, protocol: tcp, secure: true }]'))
    assert.is((await validateDevfile(`schemaVersion: 2.3.0\n${secure}`)).warnings[0]?.rule, 'secure')
  })

  it('does not miss what a parent may have that is not looked at', async () => {
    const { problems, warnings } = await validateDevfile(
      `schemaVersion: 2.3.0\nparent: { uri: base.yaml }\n${commands('{ id: a, exec: { commandLine: x, component: tools } }', composite('b', 'init'))}\nevents: { postStart: [init] }`,
    )
    assert.equal(problems, [])
    assert.equal(
      warnings.map(({ rule }) => rule),
      ['parent-unresolved'],
    )
  })
})
