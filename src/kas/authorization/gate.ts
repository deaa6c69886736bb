import { Failure } from '../../std/index.ts'
import { type Admission, type Caller, type Claim, type Gate, moved } from '../ports.ts'
import { type Project, type Projects, sourceOf } from '../project.ts'
import { mayRead, refusal } from './grants.ts'
import { agentOf, bearerOf, type Identities, identify } from './identify.ts'

/** Lets callers in, and throws them out at the moment they lose the right: the objects that give it are watched. */
export const createGate = (projects: Projects, identities: Identities): Gate => ({
  async admit(claim) {
    const caller = await identify(identities, claim)
    const project = readable(projects, caller, claim)
    return new Watch(projects, identities, claim, caller, project)
  },
})

function readable(projects: Projects, caller: Caller, { path, projectUid }: Claim): Project {
  const project = projects.find(path, caller.namespace, projectUid)
  if (!project || !mayRead(caller, project)) throw refusal(caller, path)
  return project
}

class Watch implements Admission {
  readonly caller: Caller
  readonly project: Project
  readonly #projects: Projects
  readonly #identities: Identities
  readonly #claim: Claim
  readonly #end = new AbortController()
  readonly #stops: (() => void)[]

  constructor(projects: Projects, identities: Identities, claim: Claim, caller: Caller, project: Project) {
    this.caller = caller
    this.project = project
    this.#projects = projects
    this.#identities = identities
    this.#claim = claim
    this.#stops = [
      projects.onChange(() => this.#look()),
      ...(caller.kind === 'agent' ? [identities.agents.onChange(() => this.#look())] : []),
    ]
  }

  get ended(): AbortSignal {
    return this.#end.signal
  }

  async renew(): Promise<void> {
    const caller = await identify(this.#identities, this.#claim)
    if (!isSame(caller, this.caller)) throw revoked()
    readable(this.#projects, caller, this.#claim)
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }

  /** What can be seen without asking anybody: the caches have just changed. */
  #look(): void {
    const now = this.#projects.find(this.#claim.path, this.caller.namespace, this.#claim.projectUid)
    if (this.#hasLostToken()) this.#end.abort(revoked())
    else if (!now || !mayRead(this.caller, now)) this.#end.abort(refusal(this.caller, this.#claim.path))
    else if (sourceOf(now) !== sourceOf(this.project)) this.#end.abort(moved)
  }

  #hasLostToken(): boolean {
    if (this.caller.kind !== 'agent') return false
    return !isSame(this.caller, agentOf(this.#identities, bearerOf(this.#claim.authorization)))
  }
}

const isSame = (a: Caller, b: Caller | undefined): boolean =>
  a.kind === b?.kind && a.namespace === b.namespace && a.name === b.name

export const revoked = () =>
  new Failure('unauthorized', 'the token is no longer valid', { reason: 'TokenRevoked', remedy: 'Show a valid one.' })
