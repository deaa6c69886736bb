import * as assert from 'uvu/assert'
import type { Deployment, Workspace, WorkspaceSpec } from '../../../../src/api/index.ts'
import { type Devfile, parseDevfile } from '../../../../src/devfile/index.ts'
import { holds } from '../../../../src/engines/apply/index.ts'
import { IDLE_SCRIPT } from '../../../../src/operator/workspace/desired/idle.ts'
import { desiredBeside, desiredObjects, type WorkspacePlan } from '../../../../src/operator/workspace/desired/index.ts'
import { objectNameOf } from '../../../../src/operator/workspace/desired/names.ts'
import { describe } from '../../../support/suite.ts'

const workspace = (spec: WorkspaceSpec = {}, name = 'web'): Workspace => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'Workspace',
  metadata: { name, namespace: 'team-a', uid: '1234' },
  spec,
})

async function devfile(container: string, volumes = ''): Promise<Devfile> {
  const read = await parseDevfile(`schemaVersion: 2.2.0\ncomponents:\n  - { name: tools, container: ${container} }\n${volumes}`)
  if ('devfile' in read) return read.devfile
  throw assert.unreachable(JSON.stringify(read.problems))
}

const TOOLS = await devfile('{ image: tools:1 }')
const IDLE: Devfile = { ...TOOLS, containers: TOOLS.containers.map((each) => ({ ...each, overrideCommand: true })) }

const plan = (more: Partial<WorkspacePlan> = {}): WorkspacePlan => ({
  workspace: workspace(),
  settings: {},
  devfile: TOOLS,
  namespace: 'space',
  variables: {},
  ...more,
})
const kinds = (given: WorkspacePlan) => desiredObjects(given).pieces.map(({ kind }) => kind.kind)
const pod = (given: WorkspacePlan) => desiredObjects(given).deployment.spec?.template.spec
const storage = (given: WorkspacePlan) =>
  JSON.stringify(desiredObjects(given).pieces.find(({ kind }) => kind.plural === 'persistentvolumeclaims'))

describe('workspace: desired objects', (it) => {
  it('are the same bytes for the same input', () => {
    assert.is(JSON.stringify(desiredObjects(plan())), JSON.stringify(desiredObjects(structuredClone(plan()))))
  })

  it('carry a digest that any change of the plan changes', () => {
    const digest = (given: WorkspacePlan) => desiredObjects(given).deployment.metadata.annotations?.['berth.dev/plan-sha256']
    const other = plan({ workspace: workspace({ ports: [{ name: 'web', port: 80 }] }) })
    assert.is.not(digest(plan()), digest(other))
  })

  it('have one replica when the workspace should run and none otherwise', () => {
    const replicas = (spec: WorkspaceSpec) => desiredObjects(plan({ workspace: workspace(spec) })).deployment.spec?.replicas
    assert.is(replicas({}), 1)
    assert.is(replicas({ desiredState: 'Running' }), 1)
    assert.is(replicas({ desiredState: 'Stopped' }), 0)
    assert.is(replicas({ desiredState: 'RestartRequested' }), 0)
  })

  it('have none while the pods of before are ending', () => {
    assert.is(desiredObjects(plan({ isEnding: true })).deployment.spec?.replicas, 0)
  })

  it('have a pod with the volume on no node while another in its place is there, also where the devfile wants other pods away', async () => {
    const away = { labelSelector: { matchLabels: { app: 'loud' } }, topologyKey: 'kubernetes.io/hostname' }
    const overrides = {
      spec: { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [away] } } },
    }
    const own = {
      labelSelector: { matchLabels: { 'berth.dev/workspace-uid': '1234', 'berth.dev/workspace-part': 'main' } },
      topologyKey: 'kubernetes.io/os',
    }
    const required = (given: WorkspacePlan) =>
      pod(given)?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    assert.equal(required(plan()), [own])
    assert.equal(required(plan({ devfile: { ...TOOLS, attributes: { 'pod-overrides': overrides } } })), [own, away])
    assert.is(required(plan({ form: 0 })), undefined)
  })

  it('include a Service only when there is a port to serve', async () => {
    assert.equal(kinds(plan()), ['ServiceAccount', 'PersistentVolumeClaim', 'NetworkPolicy'])
    const hidden = await devfile('{ image: a, endpoints: [{ name: debug, targetPort: 9229, exposure: none }] }')
    assert.equal(kinds(plan({ devfile: hidden })), ['ServiceAccount', 'PersistentVolumeClaim', 'NetworkPolicy'])
    const open = await devfile('{ image: a, endpoints: [{ name: web, targetPort: 80 }] }')
    assert.equal(kinds(plan({ devfile: open })), ['ServiceAccount', 'PersistentVolumeClaim', 'NetworkPolicy', 'Service'])
  })

  it('have a volume as large as the class says or the devfile needs', async () => {
    assert.match(storage(plan()), /"storage":"10Gi"/)
    const large = await devfile(
      '{ image: a }',
      '  - { name: one, volume: { size: 8Gi } }\n  - { name: two, volume: { size: 8Gi } }',
    )
    assert.match(storage(plan({ devfile: large })), /"storage":"17179869184"/)
    const brief = await devfile('{ image: a }', '  - { name: one, volume: { size: 80Gi, ephemeral: true } }')
    assert.match(storage(plan({ devfile: brief })), /"storage":"10Gi"/)
  })

  it('let the devfile win over the resources of the class', async () => {
    const usual = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: 2, memory: '2Gi' } }
    const given = plan({
      settings: { defaultResourcesPerWorkspaceContainer: usual },
      devfile: await devfile('{ image: a, cpuRequest: 250m }'),
    })
    assert.equal(pod(given)?.containers[0]?.resources, {
      requests: { cpu: '250m', memory: '1Gi' },
      limits: { cpu: '2', memory: '2Gi' },
    })
  })

  it('give nobody more rights than the class allows', () => {
    assert.equal(pod(plan())?.containers[0]?.securityContext, {
      privileged: false,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    })
    const free = { allowPrivilegeEscalation: true, useKubernetesUserNamespaces: true }
    assert.equal(pod(plan({ settings: free }))?.containers[0]?.securityContext, {
      privileged: false,
      allowPrivilegeEscalation: true,
    })
    assert.is(pod(plan({ settings: free }))?.hostUsers, false)
  })

  it('keep an overridden container there until it is asked to end', async () => {
    assert.equal(pod(plan({ devfile: IDLE }))?.containers[0]?.command, ['sh', '-c', IDLE_SCRIPT])
  })
})

describe('workspace: the form of pods', (it) => {
  const before = (spec: WorkspaceSpec = {}) =>
    desiredObjects(plan({ devfile: IDLE, form: 0, workspace: workspace(spec) })).deployment
  const beside = (live: Deployment | undefined, more: Partial<WorkspacePlan> = {}) =>
    desiredBeside(plan({ devfile: IDLE, ...more }), live).deployment
  const newest = desiredObjects(plan({ devfile: IDLE })).deployment

  it('is another than it was', () => assert.is(holds(newest, before()), false))

  it('stays as it is while nothing else changes', () => {
    assert.equal(beside(before()), before())
    assert.equal(beside(newest), newest)
  })

  it('stays as it is until what runs has stopped, and is the newest at the next start', () => {
    const stopped = before({ desiredState: 'Stopped' })
    assert.equal(beside(before(), { workspace: workspace({ desiredState: 'Stopped' }) }), stopped)
    assert.equal(beside(stopped, { workspace: workspace({ desiredState: 'Stopped' }) }), stopped)
    assert.equal(beside(stopped), newest)
  })

  it('is the newest where another pod is made anyway', () => {
    const settings = { defaultRuntimeClass: 'kata' }
    assert.equal(beside(before(), { settings }), desiredObjects(plan({ devfile: IDLE, settings })).deployment)
    assert.equal(beside(undefined), newest)
  })

  it('is what the pod has, whatever a tenant writes', () => {
    for (const form of ['-1', '7', 'x', '0.5', '']) {
      const live = { ...newest, metadata: { ...newest.metadata, annotations: { 'berth.dev/pod-form': form } } }
      assert.equal(beside(live), newest, form)
    }
  })

  it('is no reason for other objects', () => {
    const objects = (form?: number) => desiredObjects(plan({ devfile: IDLE, form })).pieces
    assert.equal(objects(0), objects())
  })
})

describe('workspace: names', (it) => {
  it('fit a Service however long the name of the workspace is', () => {
    assert.is(objectNameOf(workspace()), 'workspace-web')
    const long = (last: string) => objectNameOf(workspace({}, `${'a'.repeat(62)}${last}`))
    assert.is(long('b').length, 63)
    assert.is.not(long('b'), long('c'))
  })
})

const DRIFT: { why: string; wanted: unknown; is: unknown; holds: boolean }[] = [
  { why: 'defaults of the server are no drift', wanted: { a: 1 }, is: { a: 1, b: 2 }, holds: true },
  { why: 'another value is', wanted: { a: 1 }, is: { a: 2 }, holds: false },
  { why: 'a missing one is', wanted: { a: 1 }, is: {}, holds: false },
  { why: 'lists are compared whole', wanted: [1], is: [1, 2], holds: false },
  { why: 'the server leaves out empty lists', wanted: { a: [] }, is: {}, holds: true },
  { why: 'the server leaves out empty maps', wanted: { a: {} }, is: {}, holds: true },
  { why: 'the server leaves out empty texts', wanted: { a: '' }, is: {}, holds: true },
  {
    why: 'quantities are compared by value',
    wanted: { requests: { cpu: '1000m' } },
    is: { requests: { cpu: '1' } },
    holds: true,
  },
  { why: 'texts that look like quantities are texts', wanted: { value: '1000m' }, is: { value: '1' }, holds: false },
]

describe('workspace: drift', (it) => {
  for (const { why, wanted, is, holds: expected } of DRIFT) it(why, () => assert.is(holds(wanted, is), expected, why))
})
