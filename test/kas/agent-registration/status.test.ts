import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { equal, is, match, not, ok } from 'uvu/assert'
import { type Agent, conditionOf } from '../../../src/api/index.ts'
import { statusAfter, toldIn } from '../../../src/kas/agent-registration/index.ts'
import { ReportRequestSchema } from '../../../src/rpc/index.ts'
import { describe } from '../../support/suite.ts'

const now = Date.UTC(2030, 0, 1)
const sha256 = 'a'.repeat(64)
const agentWith = (status?: Agent['status'], tokens = [{ name: 'first', sha256 }]): Agent => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: 'Agent',
  metadata: { name: 'dev', namespace: 'home', generation: 1 },
  spec: { configurationProject: 'team/config', tokens },
  ...(status ? { status } : {}),
})
const nothing = { pods: [], isSettled: true, configuration: undefined, report: undefined }
const pod = { podId: '1', name: 'a', namespace: 'ns', version: 'v1', kubernetesVersion: '', connectedAt: now, meta: undefined }
const reported = (report: MessageInitShape<typeof ReportRequestSchema>) => toldIn(create(ReportRequestSchema, report))
const good = { commit: 'c1', path: 'p.yaml', mistakes: [] }
const bad = { commit: 'c2', path: 'p.yaml', mistakes: [{ message: 'no', line: 3, column: 7 }] }

describe('Agent status', (it) => {
  it('says what to do while nobody has connected', () => {
    const reasons = (agent: Agent) => statusAfter(agent, nothing, now).conditions?.map(({ reason }) => reason)
    equal(reasons(agentWith()), ['NotConnected', 'NotConnected', 'NotRead'])
    const { conditions } = statusAfter(agentWith(undefined, []), nothing, now)
    match(conditionOf(conditions, 'Ready')?.message ?? '', 'berth agent token add dev --namespace home')
  })

  it('is ready with a pod and a good configuration, and the same a second time', () => {
    const facts = { ...nothing, pods: [pod], configuration: good }
    const status = statusAfter(agentWith(), facts, now)
    equal(
      status.conditions?.map((one) => [one.type, one.status]),
      [
        ['Ready', 'True'],
        ['Connected', 'True'],
        ['ConfigurationValid', 'True'],
      ],
    )
    equal(statusAfter(agentWith(status), facts, now + 60_000), status)
  })

  it('keeps the last good configuration beside the mistakes of a newer one, until they are mended', () => {
    const first = statusAfter(agentWith(), { ...nothing, configuration: good }, now)
    const second = statusAfter(agentWith(first), { ...nothing, configuration: bad }, now)
    equal(second.configuration, { commit: 'c1', path: 'p.yaml', rejectedCommit: 'c2', errors: bad.mistakes })
    match(conditionOf(second.conditions, 'ConfigurationValid')?.message ?? '', 'line 3, column 7: no')
    equal(statusAfter(agentWith(second), { ...nothing, configuration: { ...good, commit: 'c3' } }, now).configuration, {
      commit: 'c3',
      path: 'p.yaml',
    })
  })

  it('changes nothing of what a new kas has not heard of yet', () => {
    const facts = { ...nothing, pods: [pod], configuration: good }
    const before = statusAfter(agentWith(), facts, now)
    equal(statusAfter(agentWith(before), { ...nothing, isSettled: false }, now), before)
    not(statusAfter(agentWith(before), nothing, now).connectedPods)
  })

  it('shows what an agent reports, cut to what fits, and shows no project twice', () => {
    const report = reported({
      projects: [
        { id: 'a/b', health: 'Weird', message: `\u001b[1m${'x'.repeat(5000)}`, syncedAt: { seconds: 10n ** 15n } },
        { id: 'c/d', health: 'Degraded', reason: 'ApplyFailed', objects: 2, undone: 1 },
        { id: 'c/d', health: 'Healthy', objects: 4, syncedAt: { seconds: BigInt(now / 1000) } },
      ],
    })
    const { projects } = statusAfter(agentWith(), { ...nothing, report }, now)
    equal([projects?.[0]?.health, projects?.[0]?.message?.length, projects?.[0]?.syncedAt], ['Unknown', 1024, undefined])
    equal(projects?.slice(1), [{ id: 'c/d', objects: 4, health: 'Healthy', syncedAt: '2030-01-01T00:00:00Z' }])
  })

  it('has room for whatever an agent reports, and for pods that say the same number', () => {
    const most = '\u001b'.repeat(9) + 'x'.repeat(100_000)
    const project = { commitId: most, health: most, reason: most, message: most, objects: 2 ** 32 - 1 }
    const report = reported({
      configurationError: most,
      projects: Array.from({ length: 10_000 }, (_, at) => ({ ...project, id: `${at}${most}` })),
    })
    const pods = Array.from({ length: 300 }, (_, at) => ({ ...pod, name: `pod-${at}`, podId: String(at >> 1) }))
    const status = statusAfter(agentWith(), { ...nothing, pods, report }, now)
    is(status.projects?.length, 256)
    is(status.connectedPods?.length, 150)
    const text = JSON.stringify(status)
    ok(text.length < 300_000, String(text.length))
    not.match(text, /\\u00/)
  })

  it('says what the agent does not take', () => {
    const report = reported({ configurationError: 'two modules want one port' })
    const { conditions } = statusAfter(agentWith(), { ...nothing, configuration: good, report }, now)
    is(conditionOf(conditions, 'ConfigurationValid')?.reason, 'RefusedByAgent')
  })
})
