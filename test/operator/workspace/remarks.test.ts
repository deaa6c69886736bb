import * as assert from 'uvu/assert'
import type { WorkspaceClassSpec } from '../../../src/api/index.ts'
import { remarksOn } from '../../../src/operator/workspace/remarks.ts'
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
      projectCloner: { image: 'example.com/cloner:1' },
    })
    assert.equal(more, [])
    assert.is(remark?.type, 'SettingsInEffect')
    assert.is(remark?.status, 'False')
    assert.is(remark?.observedGeneration, 3)
    const fields = 'maxResourcesPerWorkspace, imagePullSecrets, idle.stopAfterMinutes, projectCloner.image, editor.image'
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

  it('tells a project that is not there from one that is not cloned', () => {
    const reasons = [true, false].map((isThere) => remarksOn(workspace, undefined, { name: 'web', isThere })[0]?.reason)
    assert.equal(reasons, ['NotSupported', 'GitProjectNotFound'])
  })
})
