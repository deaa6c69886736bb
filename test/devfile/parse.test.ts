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

  it('keeps an editor container alive unless it says what it runs', () => {
    const editor = (container: string) =>
      read(`schemaVersion: 2.2.0\ncomponents: [{ name: a, attributes: { gl/inject-editor: true }, container: ${container} }]`)
    assert.is(editor('{ image: b }').containers[0]?.overrideCommand, true)
    assert.is(editor('{ image: b, command: [serve] }').containers[0]?.overrideCommand, false)
  })

  it('stops a text whose aliases multiply', () => {
    const bomb = Array.from(
      { length: 12 },
      (_, i) => `a${i}: &a${i} [${new Array(9).fill(i ? `*a${i - 1}` : 'x').join(', ')}]`,
    ).join('\n')
    assert.ok(problems(`${bomb}\nschemaVersion: 2.2.0\ncomponents: *a11`).length > 0)
  })
})
