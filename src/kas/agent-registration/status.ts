import {
  type Agent,
  type AgentStatus,
  type Condition,
  conditionOf,
  keyOf,
  type Statement,
  withConditions,
} from '../../api/index.ts'
import { asSentence, type Failure, timestamp } from '../../std/index.ts'
import { isAnother } from '../ports/known-project.ts'
import type { ConfigurationFinding, ServedProject, UsedProject } from '../ports/ports.ts'
import { PROJECT_NOT_ACCESSIBLE, sentenceOf } from '../ports/refusals.ts'
import { numberIn, numberOf, type ProjectKnownToAgent } from '../projects/number.ts'
import type { Project } from '../projects/project.ts'
import type { KnownToken } from '../tokens/token-holder.ts'
import { type AgentPod, isDerived } from './pod.ts'
import { projectsAfter } from './projects.ts'
import type { AgentReport } from './report.ts'

/** The facts of an agent that this kas knows. A fact that is not known yet leaves the status as it is. */
export interface AgentFacts {
  pods: readonly AgentPod[]
  /** For a while after the start, pods that have not come back yet are taken to be there. */
  isSettled: boolean
  holders: Holders
  configuration: ConfigurationFinding | undefined
  /** Why it may not read the project with its configuration, where it may not. */
  refusal?: Failure | undefined
  /** A good configuration that was found before `configuration`, and that the status may not have yet. */
  goodConfiguration?: ConfigurationFinding | undefined
  report: AgentReport | undefined
  /** What was given to an agent that does not report, or refused, since the last report. */
  served: readonly ServedProject[]
  /** To which projects it was let in. */
  used: readonly UsedProject[]
  tokens: readonly KnownToken[]
  /** Gives the project that it would get under this path now. */
  projectOf(agent: Agent, path: string): Pick<Project, 'uid' | 'ref'> | undefined
}

/** Decides which kas may say that a pod is gone. */
export interface Holders {
  /** This kas. */
  self: string
  /** True for another kas that lives. */
  isAlive(kas: string): boolean
  /** Another kas may have this pod, and has still time to say so. */
  isAwaited(podId: string): boolean
}

/** The status that follows. The same facts a second time change nothing. */
export function statusAfter(agent: Agent, facts: AgentFacts, now: number): AgentStatus {
  const before = agent.status ?? {}
  const connectedPods = podsAfter(before, facts, agent.metadata.uid ?? '')
  const findings = [facts.goodConfiguration, facts.configuration]
  const configuration = findings.reduce(configurationAfter, before.configuration)
  const projects = projectsAfter(before, {
    ...{ report: facts.report, served: facts.served },
    configured: configuredIn(facts.configuration) ?? configuredIn(facts.goodConfiguration),
    isSilent: connectedPods.length > 0 && connectedPods.every(({ reports }) => reports === false),
  })
  const observedGeneration = agent.metadata.generation ?? 0
  const knownProjects = knownAfter(agent, facts)
  const trusted = trustedStatement(agent, knownProjects)
  const parts: Statement[] = [
    { type: 'Connected', observedGeneration, ...connectedStatement(agent, facts, connectedPods.length) },
    { type: 'ConfigurationValid', observedGeneration, ...validStatement(agent, facts) },
    ...(trusted ? [{ type: PROJECTS_TRUSTED, observedGeneration, ...trusted }] : []),
  ]
  const ready = { type: 'Ready', observedGeneration, ...readyStatement(parts) }
  const conditions = withConditions(before.conditions, [ready, ...parts], timestamp(now))
  return {
    ...(connectedPods.length > 0 ? { connectedPods } : {}),
    ...(configuration ? { configuration } : {}),
    ...(projects.length > 0 ? { projects: [...projects] } : {}),
    ...(knownProjects.length > 0 ? { knownProjects } : {}),
    ...(facts.tokens.length > 0 ? { tokens: [...facts.tokens] } : {}),
    observedGeneration,
    conditions,
  }
}

const configuredIn = (finding: ConfigurationFinding | undefined) =>
  finding && 'commit' in finding ? finding.projects : undefined

type ShownPod = NonNullable<AgentStatus['connectedPods']>[number]

/** As many as a status has room for. */
const MOST_PODS = 256

/**
 * In the order of their names, so that who comes first changes nothing. Each pod is held by one kas, which is the only one to take it
 * out. When that dies, or the pod has left it, any other one that has the pod holds it from then on; if none does, it goes.
 */
function podsAfter(before: AgentStatus, { pods, isSettled, holders }: AgentFacts, uid: string): ShownPod[] {
  const names = new Set(pods.map(({ name }) => name))
  const rest = new Set(pods)
  const shown: ShownPod[] = []
  for (const entry of before.connectedPods ?? []) {
    const pod = [...rest].find((one) => isSamePod(one, entry, uid))
    if (pod) rest.delete(pod)
    if (entry.kas !== undefined && holders.isAlive(entry.kas)) shown.push(entry)
    else if (pod) shown.push(shownPod(pod, entry, holders.self))
    // What this kas had in this life it has seen go.
    else if (!isSettled && entry.kas !== holders.self && !names.has(entry.name)) shown.push(entry)
    else if (isSettled && holders.isAwaited(entry.podId)) shown.push(heldByNobody(entry))
  }
  shown.push(...[...rest].map((pod) => shownPod(pod, undefined, holders.self)))
  // Two with one number the API server would not take, and pods may say any.
  const byNumber = new Map(shown.map((pod) => [pod.podId, pod]))
  return [...byNumber.values()].sort((a, b) => compare(a.name, b.name) || compare(a.podId, b.podId)).slice(0, MOST_PODS)
}

/** The numbers of one pod differ between kas as long as it has not told its own to each of them. */
const isSamePod = (pod: AgentPod, entry: ShownPod, uid: string): boolean =>
  pod.podId === entry.podId ||
  (pod.name === entry.name &&
    pod.namespace === (entry.namespace ?? '') &&
    (isDerived(uid, pod) || isDerived(uid, { ...pod, podId: entry.podId })))

const heldByNobody = ({ kas: _, ...entry }: ShownPod): ShownPod => entry

const shownPod = (
  { podId, name, namespace, version, kubernetesVersion, connectedAt, reports: told }: AgentPod,
  before: ShownPod | undefined,
  kas: string,
): ShownPod => {
  const ofCluster = kubernetesVersion || before?.kubernetesVersion
  const reports = told ?? before?.reports
  return {
    podId,
    name,
    ...(namespace ? { namespace } : {}),
    ...(version ? { version } : {}),
    ...(ofCluster ? { kubernetesVersion: ofCluster } : {}),
    connectedAt: before?.connectedAt ?? timestamp(connectedAt),
    ...(reports === undefined ? {} : { reports }),
    kas,
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The last good configuration stays; mistakes stand beside it, with the commit that they are in. */
function configurationAfter(
  before: AgentStatus['configuration'],
  finding: ConfigurationFinding | undefined,
): AgentStatus['configuration'] {
  if (finding && 'failure' in finding && finding.at)
    return rejected(before, finding.at.commit, [{ message: finding.failure.message }])
  if (!(finding && 'commit' in finding)) return before
  const { commit, path, mistakes } = finding
  if (mistakes.length === 0) return { commit, ...(path ? { path } : {}) }
  return rejected(
    before,
    commit,
    mistakes.map((mistake) => ({ ...mistake })),
  )
}

type Shown = NonNullable<AgentStatus['configuration']>

function rejected(before: Shown | undefined, rejectedCommit: string, errors: Shown['errors']): Shown {
  const { errors: _, ...good } = before ?? {}
  return { ...good, rejectedCommit, ...(errors ? { errors } : {}) }
}

/** As many as a status has room for; then those go that were used first, but for the one with the agent's configuration. */
const MOST_KNOWN = 512

function knownAfter(agent: Agent, { used, projectOf }: AgentFacts): ProjectKnownToAgent[] {
  const before = agent.status?.knownProjects ?? []
  const known = new Map([...before, ...used].map(({ path, uid }) => [path, uid]))
  const { trustedProjects: trusted, configurationProject } = agent.spec
  const others = [...known.keys()].filter((path) => path !== configurationProject)
  for (const path of others.slice(0, Math.max(0, known.size - MOST_KNOWN))) known.delete(path)
  const knownProjects = [...known].map(([path, uid]) => projectAfter(before, { path, uid }))
  return knownProjects.map((project) => {
    const now = projectOf(agent, project.path)
    if (!now || !isAnother({ path: project.path, uid: now.uid }, { trusted, used: [project] })) return project
    return { ...project, replacedBy: { namespace: now.ref.namespace, name: now.ref.name, uid: now.uid } }
  })
}

/** The number is written down where it is not the project's own. */
function projectAfter(before: readonly ProjectKnownToAgent[], { path, uid }: UsedProject): ProjectKnownToAgent {
  const number = numberIn(before, { path, uid })
  return { path, uid, ...(number !== numberOf(uid) && { projectId: String(number) }) }
}

type Short = Pick<Statement, 'status' | 'reason' | 'message'>

const say = (status: Short['status'], reason: string, message: string): Short => ({ status, reason, message })

function connectedStatement({ metadata, spec }: Agent, { tokens }: AgentFacts, pods: number): Short {
  if (pods > 0) return say('True', 'Connected', `${pods} ${pods === 1 ? 'pod is' : 'pods are'} connected.`)
  const names = `${metadata.name} --namespace ${metadata.namespace}`
  if ((spec.tokens ?? []).length === 0)
    return say('False', 'NoToken', `The Agent has no token. Run: berth agent token add ${names}.`)
  const shut = spec.tokens?.find(({ sha256 }) => !tokens.some((token) => token.sha256 === sha256 && !token.copied))
  if (shut) {
    const message = `The token ${shut.name} stands in another Agent, too, and does not open for this one. Run: berth agent token revoke ${metadata.name} ${shut.name} --namespace ${metadata.namespace}, and: berth agent token add ${names}.`
    return say('False', 'TokenCopied', message)
  }
  const message = `No pod of the agent is connected. Look at its pods, or install it: berth agent manifest ${names}.`
  return say('False', 'NotConnected', message)
}

function validStatement(agent: Agent, { configuration: heard, report, refusal }: AgentFacts): Short {
  const file = `.berth/agents/${agent.metadata.name}/config.yaml`
  const { configurationProject } = agent.spec
  const configuration = heard ?? (report && goodIn(agent.status))
  const said = conditionOf(agent.status?.conditions, 'ConfigurationValid')
  const wasIn = said?.status === 'True' || said?.reason === refusal?.reason
  // Right now, and not only when the agent asks again.
  if (refusal && (configuration ? !('failure' in configuration) : wasIn)) return unreadable(refusal)
  if (configuration === undefined) return refusal ? unread(said) : readable(said)
  if ('failure' in configuration) return unreadable(configuration.failure, configuration.at)
  if ('empty' in configuration)
    return say('Unknown', 'RepositoryEmpty', `Nothing has been pushed to ${configurationProject} yet. Add ${file}.`)
  const { commit, path, mistakes } = configuration
  const [first] = mistakes
  if (first) {
    const more = mistakes.length > 1 ? ` ${mistakes.length - 1} more in status.configuration.errors.` : ''
    const message = `${path} of ${commit.slice(0, 8)}, line ${first.line}, column ${first.column}: ${asSentence(first.message)}${more} The last good configuration stays in use. Correct the file and push it.`
    return say('False', 'ConfigurationInvalid', message)
  }
  if (report?.refusal) {
    const message = `The agent does not take the configuration: ${asSentence(report.refusal)} Correct the file and push it.`
    return say('False', 'RefusedByAgent', message)
  }
  if (path === undefined) {
    const message = `There is no file, so the configuration is empty. Add ${file} to ${configurationProject}.`
    return say('True', 'FileMissing', message)
  }
  return say('True', 'Valid', `${path} of ${commit.slice(0, 8)} is in use.`)
}

/** The configuration that was found good, whatever the agent said of it then. */
function goodIn(status: AgentStatus | undefined): ConfigurationFinding | undefined {
  const reason = conditionOf(status?.conditions, 'ConfigurationValid')?.reason ?? ''
  const { commit, path } = status?.configuration ?? {}
  if (!commit || !['Valid', 'FileMissing', 'RefusedByAgent'].includes(reason)) return undefined
  return { commit, ...(path ? { path } : {}), mistakes: [] }
}

const NOT_READ = 'The configuration is read when the agent connects.'

/** Before anything was read in this life of kas, what was said in the one before still holds. */
function unread(said: Condition | undefined): Short {
  if (said) return say(said.status, said.reason, said.message)
  return say('Unknown', 'NotRead', NOT_READ)
}

/** What was said of a project that might not be read holds no longer when it may. */
const readable = (said: Condition | undefined): Short =>
  said?.reason === PROJECT_NOT_ACCESSIBLE ? say('Unknown', 'NotRead', NOT_READ) : unread(said)

function unreadable(failure: Failure, at?: { commit: string; path?: string }): Short {
  const sentence = sentenceOf(failure, 'Internal error; the cause is in the log of kas')
  const where = at ? `${at.path ?? 'The configuration'} of ${at.commit.slice(0, 8)}: ` : ''
  return say('False', failure.reason ?? 'GitFailed', `${where}${sentence}`)
}

/** The condition that says if the agent is given the projects behind its paths. */
export const PROJECTS_TRUSTED = 'ProjectsTrusted'

/** Nothing while no project has ever taken the place of another. */
function trustedStatement(
  { metadata: { name, namespace }, status }: Agent,
  known: readonly ProjectKnownToAgent[],
): Short | undefined {
  const held = known.filter(({ replacedBy }) => replacedBy)
  const [first] = held
  if (!first?.replacedBy) {
    const wasSaid = status?.conditions?.some(({ type }) => type === PROJECTS_TRUSTED)
    return wasSaid ? say('True', 'Trusted', 'Behind each path is the GitProject that the agent knows.') : undefined
  }
  const more = held.length > 1 ? ` So it is with ${held.length - 1} more.` : ''
  const message = `${first.path} is now GitProject ${keyOf(first.replacedBy)} with the uid ${first.replacedBy.uid}, which is another one than the agent has used.${more} The agent keeps what it has, and gets nothing of it. If that is right, run: berth agent trust ${name} --namespace ${namespace}.`
  return say('False', 'ProjectReplaced', message)
}

function readyStatement(parts: readonly Short[]): Short {
  const bad = parts.find(({ status }) => status !== 'True')
  if (!bad) return say('True', 'Ready', 'The agent is connected with a valid configuration.')
  return say('False', bad.reason, bad.message)
}
