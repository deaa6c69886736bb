import { type Agent, type AgentStatus, type Condition, type Statement, withConditions } from '../../api/index.ts'
import { type Failure, timestamp } from '../../std/index.ts'
import type { ConfigurationFinding } from '../ports.ts'
import type { Pod } from './pod.ts'
import type { Told } from './told.ts'

/** What is known of an agent here. What is not known yet leaves the status as it is. */
export interface AgentFacts {
  pods: readonly Pod[]
  /** For a while after the start, pods that have not come back yet are taken to be there. */
  isSettled: boolean
  configuration: ConfigurationFinding | undefined
  report: Told | undefined
}

/** The status that follows. The same facts a second time change nothing. */
export function statusAfter(agent: Agent, facts: AgentFacts, now: number): AgentStatus {
  const before = agent.status ?? {}
  const connectedPods = podsAfter(before, facts)
  const configuration = configurationAfter(before.configuration, facts.configuration)
  const projects = facts.report?.projects ?? before.projects
  const observedGeneration = agent.metadata.generation ?? 0
  const connected = connectedStatement(agent, connectedPods.length, observedGeneration)
  const valid = validStatement(agent, facts, observedGeneration)
  const conditions = withConditions(
    before.conditions,
    [readyStatement(connected, valid, observedGeneration), connected, valid],
    timestamp(now),
  )
  return {
    ...(connectedPods.length > 0 ? { connectedPods } : {}),
    ...(configuration ? { configuration } : {}),
    ...(projects && projects.length > 0 ? { projects } : {}),
    observedGeneration,
    conditions,
  }
}

type ShownPod = NonNullable<AgentStatus['connectedPods']>[number]

/** As many as the Agent has room for. */
const MOST_SHOWN = 256

/** In the order of their names, so that who comes first changes nothing. */
function podsAfter(before: AgentStatus, { pods, isSettled }: AgentFacts): ShownPod[] {
  const known = new Map((before.connectedPods ?? []).map((pod) => [pod.podId, pod]))
  const here = pods.map((pod) => shownPod(pod, known.get(pod.podId)))
  const names = new Set(here.map(({ name }) => name))
  const awaited = isSettled ? [] : [...known.values()].filter(({ name }) => !names.has(name))
  // Two with one number the API server would not take, and pods may say any.
  const byNumber = new Map([...awaited, ...here].map((pod) => [pod.podId, pod]))
  return [...byNumber.values()].sort((a, b) => compare(a.name, b.name) || compare(a.podId, b.podId)).slice(0, MOST_SHOWN)
}

const shownPod = (
  { podId, name, namespace, version, kubernetesVersion, connectedAt }: Pod,
  before: ShownPod | undefined,
): ShownPod => {
  const ofCluster = kubernetesVersion || before?.kubernetesVersion
  return {
    podId,
    name,
    ...(namespace ? { namespace } : {}),
    ...(version ? { version } : {}),
    ...(ofCluster ? { kubernetesVersion: ofCluster } : {}),
    connectedAt: before?.connectedAt ?? timestamp(connectedAt),
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** What was good last stays; mistakes stand beside it, with the commit that they are in. */
function configurationAfter(
  before: AgentStatus['configuration'],
  finding: ConfigurationFinding | undefined,
): AgentStatus['configuration'] {
  if (!(finding && 'commit' in finding)) return before
  const { commit, path, mistakes } = finding
  if (mistakes.length === 0) return { commit, ...(path ? { path } : {}) }
  const { errors: _, ...good } = before ?? {}
  return { ...good, rejectedCommit: commit, errors: mistakes.map((mistake) => ({ ...mistake })) }
}

type Short = Pick<Statement, 'status' | 'reason' | 'message'>

function connectedStatement({ metadata, spec }: Agent, pods: number, observedGeneration: number): Statement {
  const about = { type: 'Connected', observedGeneration }
  if (pods > 0)
    return { ...about, status: 'True', reason: 'Connected', message: `${pods} ${pods === 1 ? 'pod is' : 'pods are'} connected.` }
  const names = `${metadata.name} --namespace ${metadata.namespace}`
  if ((spec.tokens ?? []).length === 0) {
    const message = `The Agent has no token. Run: berth agent token add ${names}.`
    return { ...about, status: 'False', reason: 'NoToken', message }
  }
  const message = `No pod of the agent is connected. Look at its pods, or install it: berth agent manifest ${names}.`
  return { ...about, status: 'False', reason: 'NotConnected', message }
}

function validStatement(agent: Agent, { configuration, report }: AgentFacts, observedGeneration: number): Statement {
  const about = { type: 'ConfigurationValid', observedGeneration }
  const refusal = report?.refusal
  if (configuration === undefined) return { ...about, ...unread(agent.status?.conditions) }
  if ('failure' in configuration) return { ...about, ...unreadable(configuration.failure) }
  if ('empty' in configuration) {
    const message = `Nothing has been pushed to ${agent.spec.configurationProject} yet. Add .berth/agents/${agent.metadata.name}/config.yaml.`
    return { ...about, status: 'Unknown', reason: 'RepositoryEmpty', message }
  }
  const { commit, path, mistakes } = configuration
  const [first] = mistakes
  if (first) {
    const more = mistakes.length > 1 ? ` ${mistakes.length - 1} more in status.configuration.errors.` : ''
    const message = `${path} of ${commit.slice(0, 8)}, line ${first.line}, column ${first.column}: ${first.message}.${more} The last good configuration stays in use. Correct the file and push it.`
    return { ...about, status: 'False', reason: 'ConfigurationInvalid', message }
  }
  if (refusal) {
    const message = `The agent does not take the configuration: ${refusal}. Correct the file and push it.`
    return { ...about, status: 'False', reason: 'RefusedByAgent', message }
  }
  if (path === undefined) {
    const message = `There is no file, so the configuration is empty. Add .berth/agents/${agent.metadata.name}/config.yaml to ${agent.spec.configurationProject}.`
    return { ...about, status: 'True', reason: 'FileMissing', message }
  }
  return { ...about, status: 'True', reason: 'Valid', message: `${path} of ${commit.slice(0, 8)} is in use.` }
}

/** Before anything was read in this life of kas, what was said in the one before still holds. */
function unread(conditions: readonly Condition[] | undefined): Short {
  const said = conditions?.find(({ type }) => type === 'ConfigurationValid')
  if (said) return { status: said.status, reason: said.reason, message: said.message }
  return { status: 'Unknown', reason: 'NotRead', message: 'The configuration is read when the agent connects.' }
}

function unreadable({ code, reason, message, remedy }: Failure): Short {
  const what = code === 'internal' ? 'Internal error; the cause is in the log of kas.' : message.replace(/\.?$/, '.')
  return { status: 'False', reason: reason ?? 'GitFailed', message: `${what}${remedy ? ` ${remedy}` : ''}` }
}

function readyStatement(connected: Statement, valid: Statement, observedGeneration: number): Statement {
  const about = { type: 'Ready', observedGeneration }
  const bad = [connected, valid].find(({ status }) => status !== 'True')
  if (!bad) return { ...about, status: 'True', reason: 'Ready', message: 'The agent is connected with a valid configuration.' }
  return { ...about, status: 'False', reason: bad.reason, message: bad.message }
}
