import * as assert from 'uvu/assert'
import { type DevfileFetcher, flattenDevfile, sentenceOf, validateDevfile } from '../../src/devfile/index.ts'
import { describe } from '../support/suite.ts'

const nobody: DevfileFetcher = () => Promise.reject(new RangeError('nothing is to be fetched here'))

/** The document with everything in it that a variable could be in, filled in. */
async function filled(text: string): Promise<string> {
  const read = await flattenDevfile(text, { fetch: nobody })
  if ('devfile' in read) return JSON.stringify(read.document())
  throw assert.unreachable(read.problems.map(sentenceOf).join('\n'))
}

/** `{{ yes }}` stands where it is replaced, `{{no}}` where it stays: together the list of the specification. */
const EVERYWHERE = `schemaVersion: 2.3.0
metadata: { name: "{{no}}", description: "{{no}}" }
attributes: { a: "{{no}}" }
variables: { yes: 1Gi, no: WRONG, again: "{{yes}}" }
components:
  - name: c
    attributes: { a: "{{no}}" }
    container:
      image: "i:{{ yes }}"
      command: ["{{yes}}"]
      args: ["{{yes}}{{  yes  }}"]
      sourceMapping: "/{{yes}}"
      memoryLimit: "{{yes}}"
      memoryRequest: "{{yes}}"
      env: [{ name: "A{{yes}}", value: "{{yes}}" }]
      volumeMounts: [{ name: v, path: "/v/{{yes}}" }]
      endpoints: [{ name: e, targetPort: 1, path: "{{yes}}", attributes: { a: "{{no}}" }, annotation: { a: "{{no}}" } }]
      annotation: { deployment: { a: "{{no}}" } }
  - { name: v, volume: { size: "{{yes}}" } }
  - { name: k, kubernetes: { uri: "{{yes}}" } }
  - { name: o, openshift: { inlined: "{{yes}}" } }
  - { name: i, image: { imageName: "{{yes}}", dockerfile: { buildContext: "{{yes}}", args: ["{{yes}}"], git: { remotes: { o: "h/{{yes}}" }, checkoutFrom: { revision: "{{yes}}" }, fileLocation: "{{yes}}" } } } }
  - { name: u, image: { imageName: x, dockerfile: { uri: "{{yes}}" } } }
commands:
  - { id: e, attributes: { a: "{{no}}" }, exec: { commandLine: "{{yes}}", workingDir: "{{yes}}", component: c, label: "{{yes}}", env: [{ name: "B{{yes}}", value: "{{yes}}" }] } }
  - { id: a, apply: { component: k, label: "{{yes}}" } }
  - { id: x, composite: { commands: [e], label: "{{yes}}" } }
projects:
  - { name: p, clonePath: "{{yes}}", attributes: { a: "{{no}}" }, git: { remotes: { o: "h/{{yes}}" }, checkoutFrom: { revision: "{{yes}}", remote: o } } }
  - { name: z, zip: { location: "{{yes}}" } }
starterProjects:
  - { name: s, description: "{{yes}}", subDir: "{{yes}}", zip: { location: "{{yes}}" } }
`

describe('devfile: variables', (it) => {
  it('are replaced in the fields that the specification lists, and nowhere else', async () => {
    const text = await filled(EVERYWHERE)
    const { variables: _, ...rest } = JSON.parse(text)
    assert.not.match(JSON.stringify(rest), /\{\{ *yes|WRONG/)
    assert.is(JSON.stringify(rest).split('{{no}}').length - 1, EVERYWHERE.split('{{no}}').length - 1)
    assert.is(JSON.stringify(rest).split('1Gi').length - 1, EVERYWHERE.split(/\{\{ *yes *\}\}/).length - 2)
  })

  it('are not replaced in cpuLimit and cpuRequest, which then are no quantities', async () => {
    const body = 'variables: { cpu: "1" }\ncomponents: [{ name: c, container: { image: i, cpuLimit: "{{cpu}}" } }]'
    assert.equal(
      (await validateDevfile(`schemaVersion: 2.3.0\n${body}`)).problems.map(({ rule }) => rule),
      ['quantity'],
    )
  })

  it('are replaced once and not recursively', async () => {
    const body = 'variables: { a: "{{b}}", b: x }\ncomponents: [{ name: c, container: { image: i, args: ["{{a}}"] } }]'
    assert.match(await filled(`schemaVersion: 2.3.0\n${body}`), /"args":\["\{\{b\}\}"\]/)
  })

  it('that are unknown stay as they are, with a warning and its place', async () => {
    const { problems, warnings } = await validateDevfile(
      'schemaVersion: 2.3.0\ncomponents:\n  - name: c\n    container: { image: "i:{{ gone }}" }\nprojects: [{ name: p, git: { remotes: { o: "h/{{ gone }}" } } }]',
    )
    assert.equal(problems, [])
    assert.equal(
      warnings.map(({ line, column, path, message }) => `${line}:${column} ${path} ${message}`),
      [
        '4:25 components[0].container.image there is no variable "gone"',
        '5:44 projects[0].git.remotes.o there is no variable "gone"',
      ],
    )
  })
})
