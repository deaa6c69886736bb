import * as assert from 'uvu/assert'
import type { Workspace, WorkspaceClass, WorkspaceClassSpec } from '../../../../src/api/index.ts'
import { gitPlanOf } from '../../../../src/operator/workspace/git/index.ts'
import { eventTypeOf, type ProjectFindings, remarksOn } from '../../../../src/operator/workspace/status/remarks.ts'
import { describe } from '../../../support/suite.ts'

const workspace = {
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'Workspace',
  metadata: { name: 'web', namespace: 'team-a', generation: 3 },
  spec: {},
}
const found: WorkspaceClass = {
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'WorkspaceClass',
  metadata: { name: 'standard', generation: 1 },
  spec: {},
}
const of = (settings: WorkspaceClassSpec, now: WorkspaceClass | undefined = found, more: Partial<Workspace> = {}) =>
  remarksOn({ ...workspace, ...more }, { chosen: { name: 'standard', generation: 1, settings }, found: now })

describe('workspace: remarks', (it) => {
  it('names what could not be inherited', () => {
    const leftOut = ['GL_X of Secret project (project): its name is reserved']
    const [remark, ...more] = remarksOn(workspace, { variables: { leftOut } })
    assert.equal(more, [])
    assert.equal([remark?.type, remark?.status, remark?.observedGeneration], ['VariablesInherited', 'False', 3])
    assert.match(remark?.message ?? '', /^left out: GL_X of Secret project .* `berth variables refresh`\.$/)
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
    const project = { name: 'web', isThere: true, known, git, trouble: undefined, isPrepared: false, hadFiles: false }
    const reasonOf = (given: ProjectFindings) =>
      remarksOn(workspace, { project: given }).map(({ status, reason }) => `${status} ${reason}`)
    assert.equal(reasonOf(project), ['False Cloning'])
    assert.equal(reasonOf({ ...project, isPrepared: true }), ['True Cloned'])
    assert.equal(reasonOf({ ...project, isPrepared: true, hadFiles: true }), ['False FolderNotEmpty'])
    assert.equal(reasonOf({ ...project, isThere: false, known: undefined, git: undefined }), ['False GitProjectNotFound'])
    assert.equal(reasonOf({ ...project, git: undefined }), ['False UrlNotSupported'])
    assert.equal(reasonOf({ ...project, trouble: 'no Secret' }), ['False Cloning', 'False SecretNotAccessible'])
  })

  it('says what became of the clone while there is no pod, too, and otherwise what the pod says', () => {
    const known = { url: 'https://git.example.com/web.git', path: 'team/web' }
    const project = { name: 'web', isThere: true, known, git: undefined, trouble: undefined, isPrepared: false, hadFiles: false }
    const after = (reason: string, given: Partial<ProjectFindings> = {}) => {
      const status = reason === 'Cloned' ? ('True' as const) : ('False' as const)
      const condition = { type: 'ProjectCloned', status, reason, message: '', lastTransitionTime: '2030-01-01T00:00:00Z' }
      const seen = { ...workspace, status: { conditions: [condition] } }
      return remarksOn(seen, { project: { ...project, ...given } })[0]?.reason
    }
    assert.is(after('Cloned'), 'Cloned')
    assert.is(after('FolderNotEmpty'), 'FolderNotEmpty')
    assert.is(after('FolderNotEmpty', { isPrepared: true }), 'Cloned')
    assert.is(after('Cloned', { isPrepared: true, hadFiles: true }), 'FolderNotEmpty')
  })

  it('a project that is cloned when the pod starts is no trouble, and one that is not there is', () => {
    const typeOf = (reason: string) => eventTypeOf({ status: 'False', reason })
    assert.equal([typeOf('Cloning'), typeOf('GitProjectNotFound')], ['Normal', 'Warning'])
  })

  it('says when its class has changed or is gone, and when all is well again', () => {
    const changed = { ...found, metadata: { ...found.metadata, generation: 2 } }
    assert.match(of({}, changed)[0]?.message ?? '', 'Take over the new ones with: berth restart web -n team-a --upgrade')
    const gone = remarksOn(workspace, { chosen: { name: 'standard', generation: 1, settings: {} } })
    assert.is(gone[0]?.reason, 'ClassGone')
    const before = {
      type: 'ClassCurrent',
      status: 'False' as const,
      reason: 'ClassGone',
      message: '',
      lastTransitionTime: '2030-01-01T00:00:00Z',
    }
    const [mended] = of({}, found, { status: { conditions: [before] } })
    assert.equal([mended?.type, mended?.status], ['ClassCurrent', 'True'])
  })

  it('says what is wrong with a schedule, and where it stands', () => {
    const [own] = of({}, found, { spec: { schedule: { stop: '0 25 * * *' } } })
    assert.match(own?.message ?? '', /^spec\.schedule\.stop: "0 25 \* \* \*" hour: "25" is not between 0 and 23/)
    const [classes] = of({ schedule: { start: '0 8 * * *', timeZone: 'Mars/Olympus' } })
    assert.match(classes?.message ?? '', 'spec.schedule of WorkspaceClass standard.timeZone: there is no time zone Mars/Olympus')
    assert.equal(of({ schedule: { start: '0 8 * * mon-fri', timeZone: 'Europe/Berlin' } }), [])
  })
})
