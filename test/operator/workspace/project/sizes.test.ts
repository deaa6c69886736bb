import { equal, is, match } from 'uvu/assert'
import type { WorkspaceClassSpec, WorkspaceSpec, WorkspaceStatus } from '../../../../src/api/index.ts'
import { parseDevfile } from '../../../../src/devfile/index.ts'
import { onSizes, sizesOf } from '../../../../src/operator/workspace/project/sizes.ts'
import { describe } from '../../../support/suite.ts'
import { workspaceNamed } from '../fixture.ts'

const read = await parseDevfile(
  'schemaVersion: 2.2.0\ncomponents: [{ name: tools, container: { image: i, cpuRequest: 500m, cpuLimit: 1, memoryLimit: 2Gi } }]',
)
type Wish = NonNullable<WorkspaceSpec['resources']>

const TWO_CPUS: Wish = [{ container: 'tools', limits: { cpu: 2 } }]

interface Given {
  wish?: Wish
  spec?: WorkspaceSpec
  status?: WorkspaceStatus
  settings?: WorkspaceClassSpec
}

function sizes({ wish = TWO_CPUS, spec = {}, status = {}, settings = {} }: Given) {
  if (!('devfile' in read)) throw new Error('the devfile is wrong')
  const workspace = { ...workspaceNamed('team-a', 'web', { ...spec, resources: wish }), status }
  const found = sizesOf(workspace, read.devfile, settings)
  const [remark] = onSizes(workspace, found)
  return { cpu: found.devfile.containers[0]?.resources.cpuLimit, reason: remark?.reason, message: remark?.message ?? '' }
}

const running: WorkspaceStatus = { actualState: 'Running', resources: { applied: [] } }

const TAKEN: { why: string; given: Given }[] = [
  { why: 'at its first start', given: {} },
  { why: 'while it is stopped', given: { status: { ...running, actualState: 'Stopped' } } },
  { why: 'while it is being stopped', given: { status: running, spec: { desiredState: 'Stopped' } } },
  { why: 'by a restart', given: { status: running, spec: { desiredState: 'RestartRequested' } } },
  { why: 'by a restart at a time', given: { status: running, spec: { restartedAt: '2030-01-01T00:00:00Z' } } },
]

const REFUSED: { why: string; wish: Wish; says: RegExp; settings?: WorkspaceClassSpec }[] = [
  { why: 'of nobody', wish: [{ container: 'other' }], says: /the devfile has no container other; there is tools\. Correct it/ },
  {
    why: 'that contradict the devfile',
    wish: [{ container: 'tools', requests: { cpu: 2 } }],
    says: /container tools would be guaranteed more cpu \(\S+\) than it may use/,
  },
  {
    why: 'for more than the class allows',
    wish: [{ container: 'tools', limits: { cpu: 5 } }],
    says: /cpuLimit is more than the 4 that the class allows a workspace/,
    settings: { maxResourcesPerWorkspace: { limits: { cpu: 4 } } },
  },
]

describe('workspace: wishes for resources', (it) => {
  for (const { why, given } of TAKEN)
    it(`are taken over ${why}`, () => {
      const { cpu, reason } = sizes(given)
      equal([cpu, reason], ['2', undefined], why)
    })

  it('wait for a restart while it runs, which says so', () => {
    const { cpu, reason, message } = sizes({ status: running })
    equal([cpu, reason], ['1', 'RestartNeeded'])
    match(message, 'takes effect at the next start: berth restart web -n team-a. Until then it runs with what the devfile')
    const back = sizes({ status: { ...running, resources: { applied: TWO_CPUS } }, wish: [] })
    equal([back.cpu, back.reason], ['2', 'RestartNeeded'])
    match(back.message, 'Until then it runs with tools: limits cpu 2.')
  })

  for (const { why, wish, says, settings = {} } of REFUSED)
    it(`${why} change nothing, and say why`, () => {
      const { cpu, reason, message } = sizes({ wish, settings })
      equal([cpu, reason], ['1', 'ResourcesRefused'])
      match(message, says)
      is(sizes({ wish, settings, status: { actualState: 'Stopped', resources: { applied: TWO_CPUS } } }).cpu, '2')
    })
})
