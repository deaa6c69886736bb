import { isDeepStrictEqual } from 'node:util'
import { isDeleting, keyOf, type Ref, refOf, type SpaceRequest } from '../../api/index.ts'
import { type Clock, Failure, isFailure, minutes } from '../../std/index.ts'
import { numberOf } from '../number.ts'
import type { Ask } from './address.ts'
import { type AccessSources, type AccessVerdict, byNumber, judge } from './judge.ts'
import { concerns, hangsOn, type Right } from './rules.ts'

/** The right to act in the cluster of one agent, while it lasts. */
export interface ClusterAdmission {
  readonly agentId: bigint
  readonly right: Right
  /** Aborts when the right has gone, or is another; its reason is a `Failure`. */
  readonly ended: AbortSignal
  close(): void
}

/** No watch tells that a token has ended, so it is asked for again. */
const AGAIN = minutes(1)
/** So long a right counts on which something has changed. */
const PATIENCE = minutes(1)

/** Says who may pass, and looks again whenever something changes on which that depends. */
export async function admit(sources: AccessSources, ask: Ask): Promise<ClusterAdmission> {
  // What changes while somebody is asked must not be missed.
  const watch = new Watch(sources, ask)
  try {
    return watch.begin(await judge(sources, ask))
  } catch (thrown) {
    watch.close()
    throw thrown
  }
}

class Watch {
  readonly #sources: AccessSources
  readonly #ask: Ask
  readonly #end = new AbortController()
  readonly #stops: readonly (() => void)[]
  #verdict: AccessVerdict | undefined
  #isLooking = true
  #isStale = false
  #isClosed = false
  /** Calls off that the visit ends because a change waits too long for its look; none waits without it. */
  #cancelLate: (() => void) | undefined

  constructor(sources: AccessSources, ask: Ask) {
    this.#sources = sources
    this.#ask = ask
    this.#stops = this.#listen()
  }

  begin(verdict: AccessVerdict): ClusterAdmission {
    this.#verdict = verdict
    this.#isLooking = false
    if (this.#isStale) void this.#look()
    return {
      agentId: numberOf(verdict.agent.metadata.uid ?? ''),
      right: verdict.right,
      ended: this.#end.signal,
      close: () => this.close(),
    }
  }

  close(): void {
    this.#isClosed = true
    this.#callOffEnd()
    for (const stop of this.#stops) stop()
  }

  /** Only to what this visit's right may depend on: there may be thousands of visits. */
  #listen(): (() => void)[] {
    const { agents, configurations, projects, permissions, spaces, clock } = this.#sources
    const again = () => this.#lookAfterChange()
    return [
      onChangeOf(agents, this.#ask, (now, before) => {
        // Its status says every few minutes that it is connected.
        const isSame = now && !isDeleting(now) && now.metadata.generation === before?.metadata.generation
        if (!isSame) again()
      }),
      configurations.onChange((ref) => {
        if (!this.#isBySpace && this.#isIts(ref)) again()
      }),
      projects.onChange((_, paths) => {
        if (!this.#isBySpace && (!this.#verdict || concerns(this.#verdict, paths))) again()
      }),
      permissions.onChange((isTouched) => {
        if (!this.#isBySpace && (!this.#verdict || hangsOn(this.#verdict, projects, isTouched))) again()
      }),
      spaces.requests.onChange((now, before) => {
        if ((!this.#verdict || this.#isBySpace) && !givesTheSame(now, before)) again()
      }),
      eachMinute(clock, () => void this.#look()),
    ]
  }

  get #isBySpace(): boolean {
    return this.#verdict?.right.by === 'spaces'
  }

  #isIts(agent: Ref): boolean {
    return !this.#verdict || keyOf(agent) === keyOf(refOf(this.#verdict.agent))
  }

  async #look(): Promise<void> {
    this.#isStale = true
    if (this.#isLooking) return
    this.#isLooking = true
    while (this.#isStale && !this.#isClosed) await this.#lookInTurn()
    this.#isLooking = false
  }

  /** A right that nobody has time to look for is none: whoever keeps kas busy would have it for as long as he does. */
  #lookAfterChange(): void {
    this.#cancelLate ??= this.#sources.clock.after(PATIENCE, () => this.#end.abort(unchecked()))
    void this.#look()
  }

  /** What a space gives costs next to nothing to look for. */
  #lookInTurn(): Promise<void> {
    const look = async () => {
      if (this.#isClosed) return
      // What changes from here on is seen by the next look.
      this.#isStale = false
      this.#callOffEnd()
      if (!(await this.#holds())) this.#end.abort(revoked())
    }
    return this.#isBySpace ? look() : this.#sources.looks(this.#verdict?.agent.metadata.namespace ?? '', look)
  }

  #callOffEnd(): void {
    this.#cancelLate?.()
    this.#cancelLate = undefined
  }

  /** An API server that is away takes nobody's right. */
  async #holds(): Promise<boolean> {
    try {
      const now = await judge(this.#sources, this.#ask)
      if (!isDeepStrictEqual(now.right, this.#verdict?.right)) return false
      this.#verdict = now
      return true
    } catch (thrown) {
      return !isFailure(thrown, 'unauthorized', 'forbidden')
    }
  }
}

/** Of the agent that was asked for, whichever has that name or number. */
const onChangeOf = (
  agents: AccessSources['agents'],
  { agent }: Ask,
  listener: Parameters<AccessSources['agents']['onChange']>[0],
) => ('id' in agent ? agents.onChangeBy(byNumber, String(agent.id), listener) : agents.onChangeOf(agent, listener))

/** Their conditions change all the time; rights hang on the rest. */
function givesTheSame(now: SpaceRequest | undefined, before: SpaceRequest | undefined): boolean {
  const given = (request: SpaceRequest | undefined) =>
    request && [request.metadata.uid, isDeleting(request), request.metadata.annotations, request.status?.namespaceAccess]
  return isDeepStrictEqual(given(now), given(before))
}

function eachMinute(clock: Clock, again: () => void): () => void {
  let stop = clock.after(AGAIN, turn)
  function turn() {
    again()
    stop = clock.after(AGAIN, turn)
  }
  return () => stop()
}

const revoked = () =>
  new Failure('unauthorized', 'the right to reach this agent has ended or changed', { reason: 'AccessRevoked' })

const unchecked = () =>
  new Failure('unavailable', 'what the right to reach this agent depends on changes faster than it can be looked at', {
    reason: 'AccessUnchecked',
    remedy:
      "Ask again, and see who changes roles, GitProjects or Agents all the time, where the agent's configuration names many projects",
  })
