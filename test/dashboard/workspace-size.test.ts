import { equal, is, match, not, throws } from 'uvu/assert'
import {
  RoleBindings,
  Roles,
  type Workspace,
  type WorkspaceClassSpec,
  type WorkspaceSpec,
  Workspaces,
} from '../../src/api/index.ts'
import { markupOf } from '../../src/dashboard/html.ts'
import { resizedBy, sizePart } from '../../src/dashboard/workspace-size.ts'
import { parseDevfile } from '../../src/devfile/index.ts'
import { sizesInStatus, sizesOf } from '../../src/operator/workspace/project/sizes.ts'
import { isFailure } from '../../src/std/index.ts'
import { type Stage, setStage } from '../proxy/stage.ts'
import { untilMay } from '../support/builders/credentials.ts'
import { describe } from '../support/suite.ts'
import { eventually } from '../support/verbs.ts'
import { letWork, visitor } from './visitor.ts'

const [ADA, BOB, OPS] = ['ada@example.com', 'bob@example.com', 'ops@example.com']
const RBAC = 'rbac.authorization.k8s.io'
const MOST = { limits: { cpu: 4, memory: '8Gi' } }
const RUNNING = [
  { container: 'tools', requests: { cpu: '500m', memory: '1Gi' }, limits: { cpu: '1', memory: '2Gi' } },
  { container: 'db', limits: { cpu: '1', memory: '1Gi' } },
]

describe('the size of a workspace on its page', (it) => {
  let stage: Stage
  const at = (name: string) => ({ name, namespace: stage.namespace })
  const path = (name: string) => `/workspaces/${stage.namespace}/${name}`
  const read = (name: string) => stage.cluster.kube.get(Workspaces, at(name))
  const made = async (name: string, state: 'Running' | 'Stopped' = 'Running') => {
    await stage.workspace(name, { state, spec: { owner: ADA } })
    const status = { class: { settings: { maxResourcesPerWorkspace: MOST } }, resources: { applied: [], running: RUNNING } }
    await stage.cluster.kube.patch(Workspaces, at(name), { status }, { subresource: 'status' })
  }
  it.before(async () => {
    stage = await setStage((_request, response) => response.end('the app'))
    for (const user of [ADA, BOB]) await letWork(stage.cluster.kube, stage.namespace, user)
  })
  it.after(() => stage.close())

  it('is changed by its owner, for the next start or with a restart, and grows into nobody else’s share', async () => {
    await made('web')
    const ada = await visitor(stage, ADA)
    const page = await eventually(async () => {
      const found = await ada.page(path('web'))
      return /at most: CPU 4, Memory 8Gi/.test(found.body) && found
    })
    match(page.body, /What runs keeps its size until the next start/)
    match(page.body, /as its devfile says: 2Gi/)
    not.match(page.body, /value="6"|value="12Gi"/)
    const asks = { 'cpu-tools': '3', 'memory-tools': '512Mi', 'cpu-db': '', 'memory-db': '' }
    is((await ada.press(path('web'), 'Change the size', asks)).url.pathname, path('web'))
    const { spec } = (await read('web')) ?? {}
    equal(spec?.resources, [{ container: 'tools', requests: { memory: '512Mi' }, limits: { cpu: '3', memory: '512Mi' } }])
    is(spec?.desiredState, 'Running')
    const waiting = await eventually(async () => {
      const found = await ada.page(path('web'))
      return /Another size waits for the next start/.test(found.body) && found
    })
    match(waiting.body, /<option value="3" selected="selected">/)
    const tooMuch = await ada.press(path('web'), 'Change the size', { ...asks, 'cpu-tools': '4' })
    is(tooMuch.status, 422)
    match(tooMuch.body, /would have more CPU together than the 4 that its class allows/)
    await ada.press(path('web'), 'Change it and restart now', { ...asks, 'cpu-tools': '', 'memory-tools': '' })
    equal([(await read('web'))?.spec.resources, (await read('web'))?.spec.desiredState], [[], 'RestartRequested'])
  })

  it('is the owner’s affair, and that of those who administer workspaces', async () => {
    const { cluster, namespace } = stage
    await made('own')
    await made('asleep', 'Stopped')
    const bob = await visitor(stage, BOB)
    const seen = await eventually(async () => {
      const found = await bob.page(path('own'))
      return /Stop<span/.test(found.body) && found
    })
    not.match(seen.body, /Change the size/)
    const metadata = { name: 'administers', namespace }
    await cluster.kube.create(Roles, {
      ...{ apiVersion: `${RBAC}/v1`, kind: 'Role', metadata },
      rules: [{ apiGroups: ['berth.dev'], resources: ['workspaces'], verbs: ['get', 'list', 'patch', 'administer'] }],
    })
    await cluster.kube.create(RoleBindings, {
      ...{ apiVersion: `${RBAC}/v1`, kind: 'RoleBinding', metadata },
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'administers' },
      subjects: [{ kind: 'User', apiGroup: RBAC, name: OPS }],
    })
    await untilMay(cluster.kube, namespace, OPS, { verb: 'administer', group: 'berth.dev', resource: 'workspaces' })
    const ops = await visitor(stage, OPS)
    await eventually(async () => /Change it and restart now/.test((await ops.page(path('own'))).body))
    const asleep = (await ops.page(path('asleep'))).body
    match(asleep, /It has the new size when it is started/)
    not.match(asleep, /restart now/)
  })
})

const workspace = (resources?: WorkspaceSpec['resources'], running: object[] | false = RUNNING): Workspace => ({
  ...{ apiVersion: 'berth.dev/v1alpha1', kind: 'Workspace' },
  metadata: { name: 'web', namespace: 'team-a', uid: 'u-1' },
  spec: resources ? { resources } : {},
  status: {
    actualState: running ? 'Running' : 'Stopped',
    class: { settings: { maxResourcesPerWorkspace: MOST } },
    ...(running && { resources: { running: running as typeof RUNNING } }),
  },
})
type Size = NonNullable<WorkspaceSpec['resources']>[number]
const asking = (fields: Record<string, string>) => new URLSearchParams(fields)

describe('a new size', (it) => {
  it('lowers what is guaranteed with what may be used, and raises it never', () => {
    equal(resizedBy(workspace(), asking({ 'cpu-tools': '250m' })), [
      { container: 'tools', requests: { cpu: '250m' }, limits: { cpu: '250m' } },
    ])
    const before = [{ container: 'tools', requests: { cpu: '250m' }, limits: { cpu: '250m' } }]
    equal(resizedBy(workspace(before), asking({ 'cpu-tools': '2' })), [
      { container: 'tools', requests: { cpu: '250m' }, limits: { cpu: '2' } },
    ])
  })

  it('leaves alone what was wished by other ways, and what was not asked for', () => {
    const before = [
      { container: 'stranger', limits: { cpu: '64' } },
      { container: 'tools', requests: { memory: '1536Mi' } },
      { container: 'db', limits: { cpu: '1500m', memory: '3000Mi' } },
    ]
    equal(resizedBy(workspace(before), asking({ 'cpu-tools': '2', 'memory-tools': '' })), [
      before[0],
      { container: 'tools', requests: { memory: '1536Mi' }, limits: { cpu: '2' } },
      before[2],
    ])
    equal(resizedBy(workspace(before), asking({ 'memory-db': '', 'cpu-db': '' })), [before[0], before[1]])
    // Of one that is stopped nobody knows what containers it has but those that something was wished for.
    equal(resizedBy(workspace([before[2] as (typeof before)[number]], false), asking({ 'cpu-db': '4' })), [
      { container: 'db', limits: { cpu: '4', memory: '3000Mi' } },
    ])
    equal(resizedBy(workspace(undefined, false), asking({ 'cpu-db': '4' })), [])
  })

  it('is one that the page offers', () => {
    for (const size of ['16', '1e9', '-1', '0', '1.7', '<b>', 'x'.repeat(10_000)])
      throws(
        () => resizedBy(workspace(), asking({ 'cpu-tools': size })),
        (thrown: unknown) => isFailure(thrown, 'invalid') && thrown.message.length < 200,
      )
  })

  it('is asked of no more containers than a page shows, and none of a workspace that has ended', () => {
    const many = Array.from({ length: 100 }, (_, n) => ({ container: `c-${n}`, limits: {} }))
    const viewer = { mayChange: true, mayRemove: true, mayResize: true, now: undefined }
    const part = sizePart(workspace(undefined, many), viewer)
    is(part && markupOf(part.html).match(/<fieldset/g)?.length, 20)
    const ended = { ...workspace(), status: { ...workspace().status, actualState: 'Terminated' as const } }
    is(sizePart(ended, viewer), undefined)
    is(sizePart(workspace(), { ...viewer, mayResize: false }), undefined)
  })

  it('is one that the operator takes, whatever the workspace has and is asked for', async () => {
    const read = await parseDevfile(
      `schemaVersion: 2.2.0
components:
  - { name: tools, container: { image: i, cpuRequest: 500m, cpuLimit: 1, memoryRequest: 3Gi, memoryLimit: 3Gi } }
  - { name: db, container: { image: i, cpuRequest: 500m, cpuLimit: 1, memoryRequest: 512Mi, memoryLimit: 1Gi } }`,
    )
    if (!('devfile' in read)) throw new TypeError('the devfile is wrong')
    const settings: WorkspaceClassSpec = { maxResourcesPerWorkspace: { ...MOST, requests: { cpu: 2, memory: '4Gi' } } }
    /** As the operator makes it at the next start; throws where it does not take the wish. */
    const startedWith = (resources: Size[]): Workspace => {
      const next = workspace(resources, false)
      const sizes = sizesOf(next, read.devfile, settings)
      is(sizes.trouble, undefined, JSON.stringify(resources))
      const running = sizesInStatus(sizes, settings, true)?.running ?? []
      return { ...next, status: { ...next.status, actualState: 'Running', class: { settings }, resources: { running } } }
    }
    const amounts = { cpu: ['', '250m', '1', '3'], memory: ['', '512Mi', '2Gi', '6Gi'] }
    const forms = amounts.cpu.flatMap((cpu) =>
      amounts.memory.map((memory) => asking({ 'cpu-tools': cpu, 'memory-tools': memory })),
    )
    const fresh = startedWith([])
    for (const first of forms) {
      const once = startedWith(resizedBy(fresh, first))
      for (const second of forms) startedWith(resizedBy(once, second))
      equal(resizedBy(once, asking({ 'cpu-tools': '', 'memory-tools': '' })), [])
    }
  })
})
