import { type Agent, isDeleting, type Ref, type ServiceAccountName } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { isAnother, trustOf } from '../ports/known-project.ts'
import { newsOf } from '../ports/news.ts'
import {
  type AccessRequest,
  type Admission,
  type Caller,
  type CheckToken,
  moved,
  type OnUsed,
  type ProjectGate,
} from '../ports/ports.ts'
import { asKnownTo, type Project, type Projects, sourceOf } from '../projects/project.ts'
import { digestOf } from '../tokens/token.ts'
import { byToken } from '../tokens/token-holder.ts'
import { findFor } from './find.ts'
import { refusal, replaced } from './grants.ts'
import { agentOf, bearerOf, callerOf, type Identities, identify, known } from './identify.ts'
import type { TokenRate } from './token-rate.ts'
import type { ReviewToken } from './token-reviews.ts'

export interface GateOptions {
  projects: Projects
  identities: Identities
  rate: TokenRate
  /** Told which project was behind the path when an agent was let in. */
  onUsed: OnUsed
}

/** Lets callers in, and throws them out at the moment they lose the right: the objects that give it are watched. */
export function createProjectGate({ projects, identities, rate, onUsed }: GateOptions): ProjectGate & { checkToken: CheckToken } {
  const letIn = (live: LiveCaller, { project }: Verdict): LiveAdmission => {
    if (!project) throw refusalFor(live)
    const { caller, wanted } = live
    if (caller.kind === 'agent' && caller.name !== undefined)
      onUsed({ name: caller.name, namespace: caller.namespace }, { path: wanted.path, uid: project.uid })
    return new LiveAdmission(projects, live, project)
  }
  return {
    checkToken: (authorization, peer) => known(identities, authorization, peer),
    async admit(claim, { signal, onUntrusted, onRefused }) {
      const caller = await identify(identities, claim)
      // The operator has a stream for each deployment, and one token.
      if (!caller.isVouchedFor) rate(digestOf(bearerOf(claim.authorization)), `${caller.namespace}/${caller.name}`)
      const live = liveCallerOf(identities, claim, caller)
      let verdict = verdictOf(projects, live)
      if (!verdict.project && !verdict.isLost) onRefused?.(caller, refusalFor(live))
      while (verdict.needsTrust) {
        onUntrusted(caller, replaced(caller, claim.path))
        const news = newsOf([(notify) => projects.onChangeAt(claim.path, notify), live.onChange], signal)
        await news.promise
        news.close()
        if (signal.aborted) return
        await live.prove()
        verdict = verdictOf(projects, live)
      }
      return letIn(live, verdict)
    },
    admitAgent(agent, path) {
      const live = registeredCaller(identities, agent, path)
      const verdict = verdictOf(projects, live)
      if (verdict.needsTrust) throw replaced(live.caller, path)
      return letIn(live, verdict)
    },
  }
}

/** Lets that service account in and nobody else. */
const createAccountGate =
  (reviewToken: ReviewToken, allowed: ServiceAccountName, other: { what: string; reason: string }): CheckToken =>
  async (authorization, peer) => {
    const { namespace, name } = await reviewToken(bearerOf(authorization), peer)
    if (namespace === allowed.namespace && name === allowed.name) return
    const { what, reason } = other
    throw new Failure('forbidden', `service account ${namespace}/${name} is not ${what}`, { reason })
  }

export const createOperatorGate = ({ reviewToken, operator }: Pick<Identities, 'reviewToken' | 'operator'>) =>
  createAccountGate(reviewToken, operator, { what: 'the operator', reason: 'NotTheOperator' })

/** The proxy has decided already which people may reach which workspace. */
export const createProxyGate = (reviewToken: ReviewToken, proxy: ServiceAccountName) =>
  createAccountGate(reviewToken, proxy, { what: 'the proxy', reason: 'NotTheProxy' })

/** A caller as it was when it came, and the ways to see whether it still is: its proof, and the Agent that it is. */
interface LiveCaller {
  readonly caller: Caller
  readonly wanted: Pick<AccessRequest, 'path' | 'projectUid'>
  /** Throws when it cannot be. */
  prove(): Promise<Caller>
  /** The Agent as it is now, which is seen without asking anybody; `undefined` when it is lost, and for whoever is no agent. */
  agent(): Agent | undefined
  /** Told when that may be another answer; the answer ends it. */
  onChange(look: () => void): () => void
}

const liveCallerOf = (identities: Identities, claim: AccessRequest, caller: Caller): LiveCaller => ({
  caller,
  wanted: claim,
  prove: () => identify(identities, claim),
  agent() {
    if (caller.kind !== 'agent') return
    const agent = agentOf(identities, bearerOf(claim.authorization))
    return agent && isSame(caller, callerOf(agent)) ? agent : undefined
  },
  onChange: (look) =>
    caller.kind === 'agent'
      ? identities.agents.onChangeBy(byToken, digestOf(bearerOf(claim.authorization)), look)
      : () => undefined,
})

/** It needs no token, and yet has no more rights than with one. */
function registeredCaller({ agents }: Identities, agent: Ref & { namespace: string }, path: string): LiveCaller {
  const uid = agents.get(agent)?.metadata.uid
  const caller: Caller = { kind: 'agent', namespace: agent.namespace, name: agent.name }
  const seen = () => {
    const now = agents.get(agent)
    return now && !isDeleting(now) && now.metadata.uid === uid ? now : undefined
  }
  return {
    caller,
    wanted: { path, projectUid: undefined },
    async prove() {
      if (!seen()) throw revoked()
      return caller
    },
    agent: seen,
    onChange: (look) => agents.onChangeOf(agent, look),
  }
}

/** What a caller gets now, and what keeps it from more. */
interface Verdict {
  project: Project | undefined
  /** The caller was an agent, and is none any more. */
  isLost: boolean
  /** Another project than the one that the agent has used is held back until it is trusted; what the agent has it keeps. */
  needsTrust: boolean
}

function verdictOf(projects: Projects, { caller, wanted, agent: seen }: LiveCaller): Verdict {
  const agent = seen()
  const project = findFor({ caller, wanted, agent }, projects)
  const needsTrust =
    agent !== undefined && project !== undefined && isAnother({ path: wanted.path, uid: project.uid }, trustOf(agent))
  return { project, isLost: caller.kind === 'agent' && agent === undefined, needsTrust }
}

const refusalFor = ({ caller, wanted: { path }, agent }: LiveCaller): Failure =>
  refusal(caller, path, agent()?.spec.configurationProject === path)

class LiveAdmission implements Admission {
  readonly caller: Caller
  readonly project: Project
  readonly #projects: Projects
  readonly #live: LiveCaller
  readonly #end = new AbortController()
  readonly #stops: (() => void)[]

  constructor(projects: Projects, live: LiveCaller, project: Project) {
    this.caller = live.caller
    const agent = live.agent()
    this.project = agent ? asKnownTo(agent, project) : project
    this.#projects = projects
    this.#live = live
    this.#stops = [
      // Thousands are let in: a change costs a look for each of those whom it concerns.
      projects.onChangeAt(live.wanted.path, () => this.#look()),
      live.onChange(() => this.#look()),
    ]
  }

  get ended(): AbortSignal {
    return this.#end.signal
  }

  async renew(): Promise<void> {
    const caller = await this.#live.prove()
    if (!isSame(caller, this.caller)) throw revoked()
    if (!verdictOf(this.#projects, this.#live).project) throw refusalFor(this.#live)
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }

  /** The caches have just changed. */
  #look(): void {
    const { project, isLost, needsTrust } = verdictOf(this.#projects, this.#live)
    if (isLost) this.#end.abort(revoked())
    else if (!project) this.#end.abort(refusalFor(this.#live))
    else if (needsTrust || sourceOf(project) !== sourceOf(this.project)) this.#end.abort(moved)
  }
}

const isSame = (a: Caller, b: Caller | undefined): boolean =>
  a.kind === b?.kind && a.namespace === b.namespace && a.name === b.name

export const revoked = () =>
  new Failure('unauthorized', 'the token is no longer valid', { reason: 'TokenRevoked', remedy: 'Show a valid one.' })
