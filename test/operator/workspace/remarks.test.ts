import * as assert from 'uvu/assert'
import type { WorkspaceClassSpec } from '../../../src/api/index.ts'
import { gitPlanOf } from '../../../src/operator/workspace/git/index.ts'
import { type Project, remarksOn } from '../../../src/operator/workspace/remarks.ts'
import { describe } from '../../support/suite.ts'

const workspace = {
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'Workspace',
  metadata: { name: 'web', namespace: 'team-a', generation: 3 },
  spec: {},
}
const of = (settings: WorkspaceClassSpec) => remarksOn(workspace, { name: 'standard', generation: 1, settings }, undefined)

describe('workspace: remarks', (it) => {
  it('names each setting of the class that has no effect', () => {
    const [remark, ...more] = of({
      maxResourcesPerWorkspace: { requests: { cpu: 1 }, limits: { cpu: 2 } },
      imagePullSecrets: [{ name: 'registry', namespace: 'team-a' }],
      idle: { stopAfterMinutes: 30 },
      editor: { image: 'example.com/editor:1' },
    })
    assert.equal(more, [])
    assert.is(remark?.type, 'SettingsInEffect')
    assert.is(remark?.status, 'False')
    assert.is(remark?.observedGeneration, 3)
    const fields = 'maxResourcesPerWorkspace, imagePullSecrets, idle.stopAfterMinutes, editor.image'
    assert.match(remark?.message ?? '', `WorkspaceClass standard: ${fields}`)
  })

  it('says nothing of a class with the defaults', () => {
    const defaults: WorkspaceClassSpec = {
      maxResourcesPerWorkspace: {},
      imagePullSecrets: [],
      idle: { stopAfterMinutes: 0 },
      editor: { image: '', port: 60_001 },
      projectCloner: { image: 'alpine/git:2.45.2' },
    }
    assert.equal(of(defaults), [])
    assert.equal(of({}), [])
  })

  it('tells a project that is not there from one that is cloned, and from one that cannot be', () => {
    const known = { url: 'https://git.example.com/web.git', path: 'team/web' }
    const git = gitPlanOf(workspace, known, { settings: {}, git: {}, copied: undefined })
    const project = { name: 'web', isThere: true, known, git, trouble: undefined, isPrepared: false }
    const reasonOf = (given: Project) => remarksOn(workspace, undefined, given).map(({ status, reason }) => `${status} ${reason}`)
    assert.equal(reasonOf(project), ['False Cloning'])
    assert.equal(reasonOf({ ...project, isPrepared: true }), ['True Cloned'])
    assert.equal(reasonOf({ ...project, isThere: false, known: undefined, git: undefined }), ['False GitProjectNotFound'])
    assert.equal(reasonOf({ ...project, git: undefined }), ['False UrlNotSupported'])
    assert.equal(reasonOf({ ...project, trouble: 'no Secret' }), ['False Cloning', 'False SecretNotAccessible'])
  })
})
