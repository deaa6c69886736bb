import { isDeleting, type Ref } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { digestOf } from '../digest.ts'
import { type Admission, type Caller, type Claim, type Gate, type Knock, moved } from '../ports.ts'
import { type Project, type Projects, sourceOf } from '../project.ts'
import { mayRead, refusal } from './grants.ts'
import { agentOf, bearerOf, type Identities, identify, known } from './identify.ts'
import type { TokenRate } from './token-rate.ts'
import type { ReviewToken, ServiceAccountName } from './token-reviews.ts'

/** Lets callers in, and throws them out at the moment they lose the right: the objects that give it are watched. */
export const createGate = (projects: Projects, identities: Identities, rate: TokenRate): Gate & { knock: Knock } => ({
  knock: (authorization, peer) => known(identities, authorization, peer),
  async admit(claim) {
    const caller = await identify(identities, claim)
    // The operator has a stream for each deployment, and one token.
    if (!caller.isVouchedFor) rate(digestOf(bearerOf(claim.authorization)), `${caller.namespace}/${caller.name}`)
    return new Watch(projects, standingOf(identities, claim, caller))
  },
  admitAgent: (agent, path) => new Watch(projects, registered(identities, agent, path)),
})

/** Lets that service account in and nobody else. */
const createAccountGate =
  (reviewToken: ReviewToken, allowed: ServiceAccountName, other: { what: string; reason: string }): Knock =>
  async (authorization, peer) => {
    const { namespace, name } = await reviewToken(bearerOf(authorization), peer)
    if (namespace === allowed.namespace && name === allowed.name) return
    const { what, reason } = other
    throw new Failure('forbidden', `service account ${namespace}/${name} is not ${what}`, { reason })
  }

export const createOperatorGate = ({ reviewToken, operator }: Pick<Identities, 'reviewToken' | 'operator'>) =>
  createAccountGate(reviewToken, operator, { what: 'the operator', reason: 'NotTheOperator' })

/** For whoever has decided already which people may reach which workspace. */
export const createProxyGate = (reviewToken: ReviewToken, proxy: ServiceAccountName) =>
  createAccountGate(reviewToken, proxy, { what: 'the proxy', reason: 'NotTheProxy' })

/** Who somebody was when he was let in, and how that is proved again. */
interface Standing {
  readonly caller: Caller
  readonly wanted: Pick<Claim, 'path' | 'projectUid'>
  /** Throws when it cannot be. */
  prove(): Promise<Caller>
  /** What can be seen without asking anybody. */
  isLost(): boolean
  /** Told when that may be another answer; the answer ends it. */
  onChange(look: () => void): () => void
}

const standingOf = (identities: Identities, claim: Claim, caller: Caller): Standing => ({
  caller,
  wanted: claim,
  prove: () => identify(identities, claim),
  isLost: () => caller.kind === 'agent' && !isSame(caller, agentOf(identities, bearerOf(claim.authorization))),
  onChange: (look) =>
    caller.kind === 'agent'
      ? identities.agents.onChangeBy('token', digestOf(bearerOf(claim.authorization)), look)
      : () => undefined,
})

/** It needs no token, and yet has no more rights than with one. */
function registered({ agents }: Identities, agent: Ref & { namespace: string }, path: string): Standing {
  const uid = agents.get(agent)?.metadata.uid
  const caller: Caller = { kind: 'agent', namespace: agent.namespace, name: agent.name }
  const isLost = () => {
    const now = agents.get(agent)
    return !now || isDeleting(now) || now.metadata.uid !== uid
  }
  return {
    caller,
    wanted: { path, projectUid: undefined },
    async prove() {
      if (isLost()) throw revoked()
      return caller
    },
    isLost,
    onChange: (look) => agents.onChangeOf(agent, look),
  }
}

function readable(projects: Projects, caller: Caller, { path, projectUid }: Standing['wanted']): Project {
  const project = projects.find(path, caller.namespace, projectUid)
  if (!project || !mayRead(caller, project)) throw refusal(caller, path)
  return project
}

class Watch implements Admission {
  readonly caller: Caller
  readonly project: Project
  readonly #projects: Projects
  readonly #standing: Standing
  readonly #end = new AbortController()
  readonly #stops: (() => void)[]

  constructor(projects: Projects, standing: Standing) {
    this.caller = standing.caller
    this.project = readable(projects, standing.caller, standing.wanted)
    this.#projects = projects
    this.#standing = standing
    this.#stops = [
      // Thousands are let in: a change costs a look for each of those whom it concerns.
      projects.onChangeAt(standing.wanted.path, () => this.#look()),
      standing.onChange(() => this.#look()),
    ]
  }

  get ended(): AbortSignal {
    return this.#end.signal
  }

  async renew(): Promise<void> {
    const caller = await this.#standing.prove()
    if (!isSame(caller, this.caller)) throw revoked()
    readable(this.#projects, caller, this.#standing.wanted)
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }

  /** The caches have just changed. */
  #look(): void {
    const { path, projectUid } = this.#standing.wanted
    const now = this.#projects.find(path, this.caller.namespace, projectUid)
    if (this.#standing.isLost()) this.#end.abort(revoked())
    else if (!now || !mayRead(this.caller, now)) this.#end.abort(refusal(this.caller, path))
    else if (sourceOf(now) !== sourceOf(this.project)) this.#end.abort(moved)
  }
}

const isSame = (a: Caller, b: Caller | undefined): boolean =>
  a.kind === b?.kind && a.namespace === b.namespace && a.name === b.name

export const revoked = () =>
  new Failure('unauthorized', 'the token is no longer valid', { reason: 'TokenRevoked', remedy: 'Show a valid one.' })
