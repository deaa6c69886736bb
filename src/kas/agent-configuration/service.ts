import { isDeepStrictEqual } from 'node:util'
import { create } from '@bufbuild/protobuf'
import { type Call, type Door, type GrpcService, offer } from '../../adapters/grpc/index.ts'
import type { Cache } from '../../adapters/kube/index.ts'
import { configurationFor } from '../../agentcfg/index.ts'
import { type Agent, keyOf } from '../../api/index.ts'
import {
  AgentConfigurationService,
  type ConfigurationRequest,
  type ConfigurationResponse,
  ConfigurationResponseSchema,
} from '../../rpc/index.ts'
import { areTooFarApart, type Clock, Failure, isFailure, type Log, VERSION_SKEW } from '../../std/index.ts'
import { newsOf } from '../ports/news.ts'
import {
  type Admission,
  type AgentGate,
  type AgentPass,
  type AgentRoll,
  type ConfigurationFinding,
  type ConfigurationFindings,
  moved,
  type PollSighting,
  type Polls,
  type ProjectGate,
} from '../ports/ports.ts'
import type { Refusals } from '../ports/refusals.ts'
import { configurationOf, type Projects } from '../projects/project.ts'
import type { FindConfiguration, FoundConfiguration } from './find.ts'

export interface ConfigurationOptions {
  agentGate: AgentGate
  /** Proves who calls before anything of a request is read. */
  door: Door
  gate: ProjectGate
  agents: Cache<Agent>
  projects: Projects
  polls: Pick<Polls, 'follow'>
  findConfiguration: FindConfiguration
  roll: AgentRoll
  findings: ConfigurationFindings
  /** Of this kas. */
  version?: string | undefined
  /** Streams end after so long, before a load balancer cuts them. Milliseconds. */
  maxAge: number
  refused: Refusals
  clock: Clock
  log: Log
}

export const createAgentConfigurationService = (options: ConfigurationOptions): GrpcService =>
  offer(AgentConfigurationService, { getConfiguration: (request, call) => serve(options, request, call) }, options.door)

/** One stream of one pod. */
interface Visit {
  options: ConfigurationOptions
  pass: AgentPass
  call: Call
  /** It knows Berth's keys, and waits in the stream for what others come back for. */
  berth: boolean
  report(finding: ConfigurationFinding): void
  /** The commit that the agent has; nothing while it must be told anew. */
  known: string
  /** Aborts when the stream is to end. */
  signal: AbortSignal
}

/** The stream stays open as long as the token is valid; age and shutdown end it without an error. */
async function* serve(
  options: ConfigurationOptions,
  request: ConfigurationRequest,
  call: Call,
): AsyncGenerator<ConfigurationResponse> {
  const pass = admit(options, call)
  const leave = options.roll.enter(pass, request.agentMeta, { reports: request.berth, peer: call.peer })
  const old = new AbortController()
  const cancel = options.clock.after(options.maxAge * (1 + 0.05 * Math.random()), () => old.abort())
  const signal = AbortSignal.any([call.signal, pass.ended, old.signal])
  const report = (finding: ConfigurationFinding) => options.findings.report(pass.agent, finding)
  const visit: Visit = { options, pass, call, berth: request.berth, report, known: request.commitId, signal }
  try {
    if (request.berth) requireVersion(options.version, request.agentMeta?.version, report)
    call.accept()
    while (!signal.aborted) yield* fromOneProject(visit)
    if (pass.ended.aborted && !call.signal.aborted) throw pass.ended.reason
  } finally {
    cancel()
    leave(call.signal.aborted || pass.ended.aborted)
    pass.close()
  }
}

/** GitLab's agents count otherwise, and know what they ask for. */
function requireVersion(own: string | undefined, agents: string | undefined, report: Visit['report']): void {
  if (!areTooFarApart(own, agents)) return
  const failure = new Failure('invalid', `the agent is Berth ${agents}, and kas is ${own}`, {
    reason: 'VersionSkewTooLarge',
    remedy: VERSION_SKEW,
  })
  report({ failure })
  throw failure
}

/** The log names a refused peer, and never its token. */
function admit({ agentGate, refused }: ConfigurationOptions, call: Call): AgentPass {
  try {
    return agentGate.admit(call.metadata('authorization'))
  } catch (thrown) {
    refused('An agent was refused', call.peer, thrown)
    throw thrown
  }
}

/** Until the agent is to be configured from another one, or this one is another than it was. */
async function* fromOneProject(visit: Visit): AsyncGenerator<ConfigurationResponse> {
  const { options, pass, call, signal } = visit
  const wanted = configurationOf(options.agents.get(pass.agent))
  const changed = new AbortController()
  const forget = options.agents.onChangeOf(pass.agent, (now) => {
    if (now?.metadata.uid === pass.uid && !isDeepStrictEqual(configurationOf(now), wanted)) changed.abort()
  })
  try {
    const admission = await admitTo(visit, wanted.path, AbortSignal.any([signal, changed.signal]))
    if (admission) yield* fromAdmitted(visit, admission, changed.signal)
  } catch (thrown) {
    // The end of the token says more than what came of it.
    if (pass.ended.aborted && !call.signal.aborted) throw pass.ended.reason
    throw thrown
  } finally {
    forget()
  }
}

/** Those who wait in the stream are let in when they may; the others are told, and come back by themselves. */
async function admitTo(visit: Visit, path: string, signal: AbortSignal): Promise<Admission | undefined> {
  const { options, call, berth, report } = visit
  while (!signal.aborted) {
    const news = newsOf([(notify) => options.projects.onChangeAt(path, notify)], signal)
    const claim = {
      authorization: call.metadata('authorization'),
      path,
      namespace: undefined,
      serviceAccount: undefined,
      projectUid: undefined,
      peer: call.peer,
    }
    try {
      return await options.gate.admit(claim, { signal, onUntrusted: (_, failure) => report({ failure }) })
    } catch (thrown) {
      const failure = Failure.from(thrown)
      report({ failure })
      if (!berth || !isFailure(failure, 'forbidden')) throw failure
      await news.promise
    } finally {
      news.close()
    }
  }
  return undefined
}

async function* fromAdmitted(visit: Visit, admission: Admission, changed: AbortSignal): AsyncGenerator<ConfigurationResponse> {
  const { options, signal } = visit
  const ended = AbortSignal.any([signal, changed, admission.ended])
  const following = options.polls.follow(admission.project, { kind: 'default' }, admission)
  try {
    for (let seen = await following.next(undefined, ended); seen; seen = await following.next(seen, ended)) {
      const response = await responseTo(visit, admission, seen, ended)
      if (response) yield response
      if ('snapshot' in seen && seen.refused) visit.report({ failure: seen.refused })
    }
  } catch (thrown) {
    if (!ended.aborted) throw thrown
  } finally {
    following.close()
    admission.close()
  }
  const { reason } = admission.ended
  // What is read from now on is another repository, or another path: the agent is told even if the commit is the same.
  if (changed.aborted || reason === moved) visit.known = ''
  else if (!signal.aborted && admission.ended.aborted && !visit.berth) throw reason
}

/** `undefined`: there is nothing to tell. */
async function responseTo(
  visit: Visit,
  admission: Admission,
  seen: PollSighting,
  signal: AbortSignal,
): Promise<ConfigurationResponse | undefined> {
  const { options, pass, report } = visit
  if (!('snapshot' in seen)) return void report(seen)
  const unread = (thrown: unknown): undefined => {
    if (signal.aborted) return
    const failure = Failure.from(thrown)
    options.log.warn('A configuration could not be read', { agent: keyOf(pass.agent), error: failure })
    report({ failure })
  }
  // A commit that cannot be fetched is looked for again with the next poll.
  const found = await options.findConfiguration(seen.snapshot, pass.agent, admission.project.path, signal).catch(unread)
  return found && answer(visit, admission, found)
}

/** An agent keeps what it has while something is wrong. Berth's learns of it here no more than it has to: the Agent says it all. */
function answer(
  visit: Visit,
  { project }: Admission,
  { commit, path, parsed }: FoundConfiguration,
): ConfigurationResponse | undefined {
  const { pass, berth, report } = visit
  const where = { commit, ...(path === undefined ? {} : { path }) }
  if (!parsed.configuration) {
    const { mistakes } = parsed
    report({ ...where, mistakes })
    if (berth) return undefined
    const [first] = mistakes
    const more = mistakes.length > 1 ? `, and ${mistakes.length - 1} more` : ''
    throw invalid(`${path}, line ${first?.line}, column ${first?.column}: ${first?.message}${more}`)
  }
  try {
    const identity = { agentId: pass.id, projectId: project.id, projectPath: project.path, berth }
    const configuration = configurationFor(parsed.configuration, identity)
    const projects = configuration.gitops?.manifestProjects.map(({ id }) => id ?? project.path) ?? []
    report({ ...where, mistakes: [], projects })
    if (commit === visit.known) return undefined
    visit.known = commit
    return create(ConfigurationResponseSchema, { configuration, commitId: commit })
  } catch (thrown) {
    report({ failure: Failure.from(thrown), at: where })
    throw thrown
  }
}

const invalid = (message: string) =>
  new Failure('invalid', message, { reason: 'ConfigurationInvalid', remedy: 'Correct the file and push it.' })
