import * as assert from 'uvu/assert'
import type { Workspace } from '../../../src/api/index.ts'
import { readDevfile } from '../../../src/operator/workspace/devfile.ts'
import { describe } from '../../support/suite.ts'

const workspace = (inline?: string): Workspace => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'Workspace',
  metadata: { name: 'web', namespace: 'team-a' },
  spec: inline === undefined ? {} : { devfile: { inline } },
})

const TOOLS = 'schemaVersion: 2.3.0\ncomponents:\n  - { name: tools, container: { image: i } }\n'
const APPLY = 'commands: [{ id: a, apply: { component: tools } }]\n'

function refusal(text: string): string {
  const read = readDevfile(workspace(text), {})
  return 'message' in read ? read.message : 'taken'
}

/** Parts that are valid and of which nothing is made: taken, they would be missing without a word. */
const NOT_MADE: [why: string, text: string, says: RegExp][] = [
  ['an event that is not run', `${TOOLS}${APPLY}events: { postStop: [a] }`, /events\.postStop is not supported/],
  ['steps without anything after them', `${TOOLS}${APPLY}events: { preStart: [a] }`, /no container is left that runs/],
  ['a name that Berth may need', TOOLS.replace('tools', 'berth-tools'), /the name of component "berth-tools" is reserved/],
  ['a kubernetes component', `${TOOLS}  - { name: k, kubernetes: { uri: x } }`, /"k" of kind kubernetes is not supported/],
  ['an openshift component', `${TOOLS}  - { name: o, openshift: { uri: x } }`, /"o" of kind openshift is not supported/],
  ['an image to build', `${TOOLS}  - { name: i, image: { imageName: x, dockerfile: { uri: x } } }`, /"i" of kind image is not/],
  ['a pod of its own', `${TOOLS}  - { name: d, container: { image: i, dedicatedPod: true } }`, /pod of its own for "d" is not/],
  ['a parent', `${TOOLS}parent: { uri: base.yaml }`, /line 4, column 9: parent: parents are not supported/],
]

describe('workspace: its devfile', (it) => {
  for (const [why, text, says] of NOT_MADE) it(`refuses ${why}`, () => assert.match(refusal(text), says))

  it('counts mistakes and places them', () => {
    const message = refusal('schemaVersion: 2.3.0\ncomponents:\n  - { name: A, container: {} }\n')
    assert.match(message, /^spec\.devfile\.inline has 2 mistakes: line 3, column 13: .*; line 3, column 27: /)
  })

  it('notes what is beside the workspace', () => {
    const projects = 'projects: [{ name: p, git: { remotes: { origin: https://git.example.com/p.git } } }]\n'
    const read = readDevfile(workspace(`${TOOLS}${projects}`), {})
    assert.equal('warnings' in read && read.warnings.map(({ path, message }) => `${path} ${message}`), [
      'projects is read, but has no effect',
    ])
  })

  it('is that of the class where it has none', () => {
    assert.equal('containers' in readDevfile(workspace(), { devfile: TOOLS }), true)
    assert.match(JSON.stringify(readDevfile(workspace(), { devfile: 'x' })), /the class's devfile has 1 mistake: /)
    assert.match(JSON.stringify(readDevfile(workspace(), {})), /DevfileMissing/)
  })
})
