import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { equal, is, match, not, ok } from 'uvu/assert'
import { type Agent, conditionOf } from '../../../src/api/index.ts'
import { agentReportFrom, statusAfter } from '../../../src/kas/agent-registration/index.ts'
import { type AgentPod, podFrom } from '../../../src/kas/agent-registration/pod.ts'
import { numberOf } from '../../../src/kas/projects/number.ts'
import { AgentMetaSchema, ReportRequestSchema } from '../../../src/rpc/index.ts'
import { Failure } from '../../../src/std/index.ts'
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
const alone = { self: 'kas-1', isAlive: () => false, isAwaited: () => false }
const nothing = {
  ...{ pods: [], isSettled: true, holders: alone, configuration: undefined, report: undefined, served: [], used: [] },
  tokens: [{ sha256 }],
  projectOf: () => undefined,
}
const pod = { podId: '1', name: 'a', namespace: 'ns', version: 'v1', kubernetesVersion: '', connectedAt: now, meta: undefined }
const reported = (report: MessageInitShape<typeof ReportRequestSchema>) => agentReportFrom(create(ReportRequestSchema, report))
const good = { commit: 'c1', path: 'p.yaml', mistakes: [] }
const bad = { commit: 'c2', path: 'p.yaml', mistakes: [{ message: 'no', line: 3, column: 7 }] }

describe('Agent status', (it) => {
  it('says what to do while nobody has connected', () => {
    const reasons = (agent: Agent) => statusAfter(agent, nothing, now).conditions?.map(({ reason }) => reason)
    equal(reasons(agentWith()), ['NotConnected', 'NotConnected', 'NotRead'])
    const copied = statusAfter(agentWith(), { ...nothing, tokens: [{ sha256, copied: true }] }, now)
    is(conditionOf(copied.conditions, 'Connected')?.reason, 'TokenCopied')
    equal(copied.tokens, [{ sha256, copied: true }])
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

  it('says that the configuration may not be read any more, whatever was read before', () => {
    const refusal = new Failure('forbidden', 'there is no GitProject', { reason: 'ProjectNotAccessible', remedy: 'Create one.' })
    const valid = statusAfter(agentWith(), { ...nothing, pods: [pod], configuration: good }, now)
    const said = (agent: Agent, more: object) => {
      const { conditions } = statusAfter(agent, { ...nothing, pods: [pod], ...more }, now)
      const condition = conditionOf(conditions, 'ConfigurationValid')
      return [condition?.status, condition?.reason, condition?.message]
    }
    const barred = ['False', 'ProjectNotAccessible', 'there is no GitProject. Create one.']
    equal(said(agentWith(valid), { refusal }), barred)
    equal(said(agentWith(valid), { refusal, configuration: good }), barred)
    const then = statusAfter(agentWith(valid), { ...nothing, pods: [pod], refusal }, now)
    equal(said(agentWith(then), { refusal }), barred)
    is(said(agentWith(then), {})[1], 'NotRead')
    is(said(agentWith(), { refusal })[1], 'NotRead', 'nobody has asked for it yet')
  })

  it('keeps the last good configuration beside the mistakes of a newer one, until they are mended', () => {
    const first = statusAfter(agentWith(), { ...nothing, configuration: good }, now)
    const second = statusAfter(agentWith(first), { ...nothing, configuration: bad }, now)
    equal(second.configuration, { commit: 'c1', path: 'p.yaml', rejectedCommit: 'c2', errors: bad.mistakes })
    const atOnce = statusAfter(agentWith(), { ...nothing, goodConfiguration: good, configuration: bad }, now)
    equal(atOnce.configuration, second.configuration, 'both were found before the status was written')
    match(conditionOf(second.conditions, 'ConfigurationValid')?.message ?? '', 'line 3, column 7: no')
    equal(statusAfter(agentWith(second), { ...nothing, configuration: { ...good, commit: 'c3' } }, now).configuration, {
      commit: 'c3',
      path: 'p.yaml',
    })
  })

  it('remembers which project was behind a path, and says when it is another one, until that is trusted', () => {
    const at = (uid: string) => ({ projectOf: () => ({ uid, ref: { name: 'base', namespace: 'platform' } }) })
    const path = 'platform/base'
    const facts = { ...nothing, ...at('one') }
    const first = statusAfter(agentWith(), { ...facts, used: [{ path, uid: 'one' }] }, now)
    equal(first.knownProjects, [{ path, uid: 'one' }])
    is(conditionOf(first.conditions, 'ProjectsTrusted'), undefined)
    equal(statusAfter(agentWith(first), facts, now + 1000), first)
    const held = statusAfter(agentWith(first), { ...facts, ...at('two') }, now)
    equal(held.knownProjects, [{ path, uid: 'one', replacedBy: { namespace: 'platform', name: 'base', uid: 'two' } }])
    const said = conditionOf(held.conditions, 'ProjectsTrusted')
    equal([said?.status, said?.reason], ['False', 'ProjectReplaced'])
    match(said?.message ?? '', 'platform/base is now GitProject platform/base with the uid two')
    match(said?.message ?? '', 'berth agent trust dev --namespace home')
    const agent = agentWith(held)
    const trusting = { ...agent, spec: { ...agent.spec, trustedProjects: [{ path, uid: 'two' }] } }
    const trusted = statusAfter(trusting, { ...facts, ...at('two') }, now)
    is(conditionOf(trusted.conditions, 'ProjectsTrusted')?.status, 'True')
    const projectId = String(numberOf('one'))
    const used = statusAfter({ ...trusting, status: trusted }, { ...facts, ...at('two'), used: [{ path, uid: 'two' }] }, now)
    equal(used.knownProjects, [{ path, uid: 'two', projectId }])
    equal(statusAfter({ ...trusting, status: used }, { ...facts, ...at('two') }, now).knownProjects, [
      { path, uid: 'two', projectId },
    ])
    const third = statusAfter(trusting, { ...facts, ...at('three') }, now)
    is(third.knownProjects?.[0]?.replacedBy?.uid, 'three')
    // The first one again: what is trusted now is another one.
    is(statusAfter(trusting, facts, now).knownProjects?.[0]?.replacedBy?.uid, 'one')
  })

  it('never forgets the project with its configuration, however many others are used', () => {
    const { configurationProject } = agentWith().spec
    const first = statusAfter(agentWith(), { ...nothing, used: [{ path: configurationProject, uid: 'one' }] }, now)
    const used = Array.from({ length: 600 }, (_, at) => ({ path: `home/${at}`, uid: `${at}` }))
    const { knownProjects = [] } = statusAfter(agentWith(first), { ...nothing, used }, now)
    equal([knownProjects.length, knownProjects[0]?.path], [512, configurationProject])
    is(knownProjects.at(-1)?.path, 'home/599')
  })

  it('changes nothing of what a new kas has not heard of yet', () => {
    const facts = { ...nothing, pods: [pod], configuration: good }
    const before = statusAfter(agentWith(), facts, now)
    const holders = { ...alone, self: 'kas-of-now' }
    equal(statusAfter(agentWith(before), { ...nothing, holders, isSettled: false }, now), before)
    not(statusAfter(agentWith(before), nothing, now).connectedPods)
  })

  const other = { ...pod, podId: '2', name: 'b' }
  const held = (...by: [AgentPod, string | undefined][]) =>
    agentWith({
      connectedPods: by.map(([{ podId, name, namespace }, kas]) => ({ podId, name, namespace, ...(kas ? { kas } : {}) })),
    })
  const two = { self: 'kas-1', isAlive: (kas: string) => kas === 'kas-2', isAwaited: () => false }
  const shown = (agent: Agent, facts: Partial<Parameters<typeof statusAfter>[1]>) =>
    statusAfter(agent, { ...nothing, holders: two, ...facts }, now).connectedPods?.map(({ podId, kas }) => [podId, kas])

  it('shows the pods of all kas, each held by the one that came first', () => {
    equal(shown(held([pod, 'kas-2']), { pods: [other] }), [
      ['1', 'kas-2'],
      ['2', 'kas-1'],
    ])
    equal(shown(held([pod, 'kas-2']), { pods: [pod] }), [['1', 'kas-2']])
    equal(shown(held([pod, 'kas-2']), {}), [['1', 'kas-2']])
  })

  it('lets go of the pods of a kas that is dead, unless they are here', () => {
    const before = held([pod, 'kas-3'], [other, 'kas-3'])
    equal(shown(before, { pods: [pod] }), [['1', 'kas-1']])
    equal(shown(before, { pods: [pod], isSettled: false }), [
      ['1', 'kas-1'],
      ['2', 'kas-3'],
    ])
    equal(shown(held([pod, 'kas-3']), {}), undefined)
  })

  it('knows from the start that a pod is gone which it has had itself', () => {
    equal(shown(held([pod, 'kas-1'], [other, 'kas-0']), { isSettled: false }), [['2', 'kas-0']])
  })

  it('leaves a pod to the other kas for a while when it has left this one', () => {
    const waiting = { ...two, isAwaited: () => true }
    equal(shown(held([pod, 'kas-1']), { holders: waiting }), [['1', undefined]])
    equal(shown(held([pod, undefined]), { holders: waiting }), [['1', undefined]])
    equal(shown(held([pod, undefined]), { holders: two }), undefined)
    equal(shown(held([pod, undefined]), { pods: [pod] }), [['1', 'kas-1']])
  })

  it('knows a pod that has not told its number to every kas, and keeps two of one name apart', () => {
    const nameless = podFrom('', create(AgentMetaSchema, { podName: 'a', podNamespace: 'ns' }), undefined, now)
    equal(shown(held([pod, 'kas-2']), { pods: [nameless] }), [['1', 'kas-2']])
    equal(shown(held([nameless, 'kas-1']), { pods: [pod] }), [['1', 'kas-1']])
    equal(shown(held([pod, 'kas-2']), { pods: [{ ...pod, podId: '3' }] }), [
      ['1', 'kas-2'],
      ['3', 'kas-1'],
    ])
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

  const berths = { ...pod, reports: true }
  const agentks = { ...pod, podId: '2', name: 'b', reports: false }
  const project = { id: 'a/b', health: 'Healthy', commitId: 'c'.repeat(40), objects: 3 }
  const berthWas = statusAfter(agentWith(), { ...nothing, pods: [berths], report: reported({ projects: [project] }) }, now)
  const projectsOf = (pods: AgentPod[], more: Partial<Parameters<typeof statusAfter>[1]> = {}) =>
    statusAfter(agentWith(berthWas), { ...nothing, pods, ...more }, now).projects

  it('says that nothing is known of projects while only an agent that does not report is connected', () => {
    const [told, ...others] = projectsOf([agentks]) ?? []
    equal([told?.id, told?.health, told?.reason, told?.commit, others], ['a/b', 'Unknown', 'NotReported', undefined, []])
    match(told?.message ?? '', 'does not report what it applies')
    const configuration = { ...good, projects: ['a/b', 'c/d'] }
    equal(
      projectsOf([agentks], { configuration })?.map(({ id, health }) => [id, health]),
      [
        ['a/b', 'Unknown'],
        ['c/d', 'Unknown'],
      ],
    )
  })

  it('keeps what was reported last while pods come back, are exchanged, or have not said yet what they are', () => {
    for (const pods of [[], [berths], [{ ...pod, reports: undefined }], [berths, agentks], [agentks, { ...pod, name: 'c' }]])
      equal(projectsOf(pods), berthWas.projects)
    const unsettled = { isSettled: false, pods: [agentks], holders: { ...alone, self: 'kas-of-now' } }
    equal(statusAfter(agentWith(berthWas), { ...nothing, ...unsettled }, now).projects, berthWas.projects)
  })

  it('believes whoever spoke last: an agent that asks for objects and reports nothing, or a report', () => {
    const failure = new Failure('forbidden', 'there is no GitProject', { reason: 'ProjectNotAccessible', remedy: 'Create one.' })
    const served = [
      { path: 'c/d', commit: 'd'.repeat(40) },
      { path: 'e/f', failure },
    ]
    const status = statusAfter(agentWith(berthWas), { ...nothing, pods: [berths, agentks], served }, now)
    equal(
      status.projects?.map(({ id, health, reason }) => [id, health, reason]),
      [
        ['a/b', 'Unknown', 'NotReported'],
        ['c/d', 'Unknown', 'NotReported'],
        ['e/f', 'Unknown', 'ProjectNotAccessible'],
      ],
    )
    match(status.projects?.[1]?.message ?? '', 'kas gave it commit dddddddddddd.')
    match(status.projects?.[2]?.message ?? '', 'there is no GitProject. Create one.')
    equal(statusAfter(agentWith(status), { ...nothing, pods: [agentks] }, now).projects, status.projects)
    const report = reported({ projects: [project] })
    equal(statusAfter(agentWith(status), { ...nothing, pods: [agentks], report }, now).projects, berthWas.projects)
  })

  it('says what the agent does not take', () => {
    const report = reported({ configurationError: 'two modules want one port' })
    const { conditions } = statusAfter(agentWith(), { ...nothing, configuration: good, report }, now)
    is(conditionOf(conditions, 'ConfigurationValid')?.reason, 'RefusedByAgent')
  })
})
