import { isDeepStrictEqual } from 'node:util'
import type { Cache, EventRecorder, Kube } from '../../adapters/kube/index.ts'
import {
  type Agent,
  type AgentStatus,
  Agents,
  conditionOf,
  isDeleting,
  keyOf,
  NOT_REPORTED,
  type Ref,
  refFromKey,
} from '../../api/index.ts'
import type { ReportRequest } from '../../rpc/index.ts'
import { type Clock, createWorkQueue, Failure, isFailure, isRecord, type Log, seconds } from '../../std/index.ts'
import { byKnownProject } from '../ports/known-project.ts'
import type { AgentPass, ConfigurationFinding, OnServed, Presence, ServedProject, UsedProject } from '../ports/ports.ts'
import type { Project, Projects } from '../projects/project.ts'
import { knownTokensOf } from '../tokens/token-holder.ts'
import type { AgentPod } from './pod.ts'
import { type AgentReport, agentReportFrom } from './report.ts'
import type { RollOfPods } from './roll.ts'
import { type AgentFacts, type Holders, PROJECTS_TRUSTED, statusAfter } from './status.ts'

export interface StatusWriterOptions {
  /** Its writes show in the cache at once. */
  kube: Kube
  agents: Cache<Agent>
  projects: Pick<Projects, 'onChange'>
  /** Gives the project that the agent would get under this path. */
  projectOf: (agent: Agent, path: string) => Project | undefined
  /** Says why the agent may not read its configuration, where it may not. */
  refusalOf: (agent: Agent) => Failure | undefined
  roll: RollOfPods
  presence: Presence
  events: EventRecorder
  clock: Clock
  log: Log
}

/** Of one Agent, at most one write in this time. */
const PACE = seconds(1)
const AGAIN = seconds(5)
const WRITERS = 4
/** After the start: agents come back within this time. */
const SETTLING = seconds(60)

/** A pod that has left its kas is there for so long, so that another one can say that it has it. */
const CLAIMING = seconds(15)

/** Paths that an agent asks for and that are not written down yet. It may invent any. */
const MOST_SERVED = 256

interface Known {
  uid: string
  /** Since when pods in the status are held by nobody. */
  unheld: Map<string, number>
  /**
   * What was heard here and does not stand in the status yet. Then it is forgotten: another kas that hears more writes over it, and
   * would be written over in turn for ever.
   */
  finding?: ConfigurationFinding | undefined
  /** The last good one: a bad one that follows it before it was written does not take it away. */
  good?: ConfigurationFinding | undefined
  report?: AgentReport | undefined
  /** By path, since the last report. */
  served: Map<string, ServedProject>
  /** Uids by path. */
  used: Map<string, string>
}

/**
 * Writes what is known of agents into their status: only what differs, and of many changes in a second the last. Each report of an
 * agent replaces the one before; a project that it has used is written down, so that another one of that path is seen to be another.
 */
export function createStatusWriter(options: StatusWriterOptions) {
  const { agents, projectOf, refusalOf, roll, presence, clock, log } = options
  const memory = createMemory(agents)
  const written = new Map<string, number>()
  let isSettled = false

  const write = async (key: string): Promise<void> => {
    const here = memory.of(key)
    const agent = agents.get(refFromKey(key))
    if (!(here && agent) || isDeleting(agent)) return
    const pods = roll.of(here.uid)
    const lookAgain = (after: number) => queue.addAfter(key, after)
    const holders = holdersOf(agent, { pods, unheld: here.unheld }, { presence, now: clock.now(), lookAgain })
    const news = { ...newsIn(here), tokens: knownTokensOf(agent, agents) }
    const status = statusAfter(agent, { pods, isSettled, holders, ...news, projectOf, refusal: refusalOf(agent) }, clock.now())
    if (await isWritten(options, agent, status)) written.set(key, clock.now())
    forgetTold(here, news)
  }
  const queue = createWorkQueue({
    clock,
    concurrency: WRITERS,
    groupOf: (key) => refFromKey(key).namespace ?? '',
    async work(key) {
      const wait = (written.get(key) ?? Number.NEGATIVE_INFINITY) + PACE - clock.now()
      if (wait > 0) return queue.addAfter(key, wait)
      try {
        await write(key)
      } catch (thrown) {
        // Gone, or changed since: the cache will ring.
        if (isFailure(thrown, 'not-found')) return
        if (!isFailure(thrown, 'conflict'))
          log.warn('The status of an Agent could not be written', { agent: key, error: Failure.from(thrown) })
        queue.addAfter(key, isFailure(thrown, 'conflict') ? PACE : AGAIN)
      }
    },
  })
  const forget = agents.onChange((now, before) => {
    const gone = before && before.metadata.uid !== now?.metadata.uid ? before : undefined
    if (gone) {
      roll.forget(gone.metadata.uid ?? '')
      memory.forget(keyOf(gone.metadata))
      written.delete(keyOf(gone.metadata))
    }
    if (now) queue.add(keyOf(now.metadata))
  })
  const notifyAll = () => {
    for (const { metadata } of agents.all()) queue.add(keyOf(metadata))
  }
  const forgetOthers = onOthers(options, { notify: (key) => queue.add(key), notifyAll })
  const settle = clock.after(SETTLING, () => {
    isSettled = true
    notifyAll()
  })
  notifyAll()
  return {
    ...hearing(memory, (agent) => queue.add(keyOf(agent))),
    async stop() {
      settle()
      forget()
      forgetOthers()
      roll.stop()
      await queue.stop()
    },
  }
}

/** Remembers what is heard of agents until it is written. */
function hearing(memory: ReturnType<typeof createMemory>, ring: (agent: Ref) => void) {
  const onReport = ({ agent, uid }: AgentPass, report: ReportRequest) => {
    const here = memory.of(keyOf(agent))
    if (here?.uid !== uid) return
    here.report = agentReportFrom(report)
    here.served.clear()
    ring(agent)
  }
  /** Who asks is in charge, whatever was reported before. */
  const onServed: OnServed = (agent, served) => {
    const here = memory.of(keyOf(agent))
    if (!here || here.served.size >= MOST_SERVED) return
    here.report = undefined
    here.served.set(served.path, served)
    ring(agent)
  }
  return {
    report(agent: Ref, finding: ConfigurationFinding) {
      const here = memory.of(keyOf(agent))
      if (!here) return
      here.finding = finding
      if (isGood(finding)) here.good = finding
      ring(agent)
    },
    onReport,
    onServed,
    onUsed(agent: Ref, used: UsedProject) {
      if (memory.use(agent, used)) ring(agent)
    },
  }
}

/** Rings for each Agent about which something else than itself has changed; the answer ends that for the projects. */
function onOthers(
  { agents, projects, roll, presence }: StatusWriterOptions,
  { notify, notifyAll }: { notify: (key: string) => void; notifyAll: () => void },
): () => void {
  roll.onChange((agent) => notify(keyOf(agent)))
  presence.onChange(notifyAll)
  return projects.onChange((_, paths) => {
    for (const path of paths) for (const { metadata } of agents.by(byKnownProject, path)) notify(keyOf(metadata))
  })
}

const isGood = (finding: ConfigurationFinding): boolean => 'commit' in finding && finding.mistakes.length === 0

type News = Pick<AgentFacts, 'configuration' | 'goodConfiguration' | 'report' | 'served' | 'used'>

const newsIn = ({ finding, good, report, served, used }: Known): News => ({
  configuration: finding,
  goodConfiguration: good,
  report,
  served: [...served.values()],
  used: [...used].map(([path, uid]) => ({ path, uid })),
})

/** Forgets what stands in the status now, and keeps what has come meanwhile. */
function forgetTold(here: Known, { configuration, goodConfiguration, report, served, used }: News): void {
  if (here.finding === configuration) here.finding = undefined
  if (here.good === goodConfiguration) here.good = undefined
  if (here.report === report) here.report = undefined
  for (const one of served) if (here.served.get(one.path) === one) here.served.delete(one.path)
  for (const { path, uid } of used) if (here.used.get(path) === uid) here.used.delete(path)
}

/** Counts for how long nobody has held each pod; looks again when it will have been long enough. */
function holdersOf(
  { status }: Agent,
  { pods, unheld }: { pods: readonly AgentPod[]; unheld: Known['unheld'] },
  { presence, now, lookAgain }: { presence: Presence; now: number; lookAgain: (after: number) => void },
): Holders {
  const here = new Set(pods.map(({ podId }) => podId))
  const isFree = ({ podId, kas }: { podId: string; kas?: string }) =>
    !here.has(podId) && (kas === undefined || !presence.isAlive(kas))
  const free = new Set((status?.connectedPods ?? []).filter(isFree).map(({ podId }) => podId))
  for (const podId of unheld.keys()) if (!free.has(podId)) unheld.delete(podId)
  const isAwaited = (podId: string) => {
    if (presence.others === 0) return false
    const since = unheld.get(podId) ?? now
    unheld.set(podId, since)
    if (now - since >= CLAIMING) return false
    lookAgain(since + CLAIMING - now)
    return true
  }
  return { self: presence.self, isAlive: presence.isAlive, isAwaited }
}

/** Remembers what was heard of each Agent by its uid: nothing of a deleted Agent counts for a new one of the same name. */
function createMemory(agents: Cache<Agent>) {
  const known = new Map<string, Known>()
  return {
    of(key: string): Known | undefined {
      const uid = agents.get(refFromKey(key))?.metadata.uid
      if (uid === undefined) return undefined
      const here = known.get(key)
      if (here?.uid === uid) return here
      const fresh: Known = { uid, unheld: new Map(), served: new Map(), used: new Map() }
      known.set(key, fresh)
      return fresh
    },
    forget: (key: string) => void known.delete(key),
    /** True when that is news. */
    use(agent: Ref, { path, uid }: UsedProject): boolean {
      const isKnown = agents.get(agent)?.status?.knownProjects?.some((one) => one.path === path && one.uid === uid)
      const here = isKnown ? undefined : this.of(keyOf(agent))
      here?.used.set(path, uid)
      return here !== undefined
    },
  }
}

/** A write that came in between is not overwritten: then this one is a conflict. */
async function isWritten({ kube, events }: StatusWriterOptions, agent: Agent, status: AgentStatus): Promise<boolean> {
  if (isDeepStrictEqual(status, agent.status)) return false
  const { uid, resourceVersion, name, namespace } = agent.metadata
  const ref: Ref = { name, ...(namespace ? { namespace } : {}) }
  const patch = { metadata: { uid, resourceVersion }, status: withNulls(status, agent.status) }
  await kube.patch(Agents, ref, patch, { subresource: 'status', manager: 'berth-kas' })
  tell(events, agent, status)
  return true
}

/** To a merge patch what is not named stays. */
function withNulls(after: unknown, before: unknown): unknown {
  if (!(isRecord(after) && isRecord(before))) return after
  const gone = Object.keys(before).filter((key) => !(key in after))
  const kept = Object.entries(after).map(([key, value]) => [key, withNulls(value, before[key])] as const)
  return Object.fromEntries([...kept, ...gone.map((key) => [key, null] as const)])
}

/** Says what has changed for people. */
function tell(events: EventRecorder, agent: Agent, status: AgentStatus): void {
  for (const type of ['Connected', 'ConfigurationValid', PROJECTS_TRUSTED]) {
    const [before, now] = [conditionOf(agent.status?.conditions, type), conditionOf(status.conditions, type)]
    if (!now || (before?.reason === now.reason && before.message === now.message)) continue
    // That a new Agent is not connected yet is no news; nor is it how many pods there are.
    const isFirst = !before && now.status !== 'True' && type !== PROJECTS_TRUSTED
    if (isFirst || (type === 'Connected' && before?.status === now.status)) continue
    events.record(agent, { type: now.status === 'False' ? 'Warning' : 'Normal', reason: now.reason, message: now.message })
  }
  const before = new Map((agent.status?.projects ?? []).map((project) => [project.id, project]))
  for (const { id, reason, message } of status.projects ?? []) {
    if (!reason || reason === NOT_REPORTED || before.get(id)?.reason === reason) continue
    events.record(agent, { type: 'Warning', reason: 'ProjectTroubled', message: `${id}: ${reason}: ${message ?? ''}` })
  }
}
