import { isDeepStrictEqual } from 'node:util'
import { isDeleting, keyOf, type Ref, refOf, type SpaceRequest } from '../../api/index.ts'
import { type Clock, Failure, isFailure, LRUCache, minutes, seconds } from '../../std/index.ts'
import { numberOf } from '../number.ts'
import { digestOf } from '../token.ts'
import type { Ask } from './address.ts'
import { type AccessSources, type AccessVerdict, byNumber, judge } from './judge.ts'
import { concerns, type Right } from './rules.ts'

/** The right to act in the cluster of one agent, while it lasts. */
export interface ClusterAdmission {
  readonly agentId: bigint
  readonly right: Right
  /** Aborts when the right has gone, or is another; its reason is a `Failure`. */
  readonly ended: AbortSignal
  close(): void
}

/** Says who may pass. */
export type Admit = (ask: Ask) => Promise<ClusterAdmission>

/** No watch tells that a token has ended, so it is asked for again. */
const AGAIN = minutes(1)
/** So long a right counts on which something has changed. */
const PATIENCE = minutes(1)
/** A right is kept so long after the last visit, for the next one. */
const KEPT = seconds(10)
const MOST_KEPT = 1000

/**
 * Looks again whenever something changes on which a right depends. To find it may take hundreds of questions, and whoever works in a cluster
 * visits it many times a second: what was found for a token counts for all of its visits.
 */
export function createAdmit(sources: AccessSources): Admit {
  const watches = new Map<string, Watch>()
  /** Those without a visit. */
  const kept = new LRUCache<string, Watch>({
    max: MOST_KEPT,
    disposeAfter: (watch, _, why) => why === 'evict' && watch.close(),
  })
  const open = (key: string, ask: Ask): Watch => {
    const over = () => {
      watches.delete(key)
      kept.delete(key)
    }
    const watch: Watch = new Watch(sources, ask, { unused: () => kept.set(key, watch), over })
    watches.set(key, watch)
    return watch
  }
  return async function admit(ask): Promise<ClusterAdmission> {
    const key = keyOfAsk(ask)
    const watch = watches.get(key) ?? open(key, ask)
    kept.delete(key)
    return (await watch.join()) ?? admit(ask)
  }
}

const keyOfAsk = ({ token, as, agent }: Ask): string => `${digestOf(token)} ${as} ${'id' in agent ? agent.id : keyOf(agent)}`

/** What becomes of a watch. */
interface Told {
  unused(): void
  over(): void
}

class Watch {
  readonly #sources: AccessSources
  readonly #ask: Ask
  readonly #told: Told
  readonly #visits = new Set<AbortController>()
  readonly #stops: readonly (() => void)[]
  #verdict: AccessVerdict | undefined
  /** The look that is under way, or waits for its turn. It never fails. */
  #look: Promise<void> | undefined
  #isLooking = true
  #isStale = false
  #isOver = false
  /** Calls off that the right ends because a change waits too long for its look; none waits without it. */
  #cancelLate: (() => void) | undefined
  #cancelEnd: (() => void) | undefined

  constructor(sources: AccessSources, ask: Ask, told: Told) {
    this.#sources = sources
    this.#ask = ask
    this.#told = told
    // What changes while somebody is asked must not be missed.
    this.#stops = this.#listen()
    this.#look = this.#lookFirst()
  }

  /** `undefined` where the right has ended, or become another, while it was looked for: then it is to be found anew. */
  async join(): Promise<ClusterAdmission | undefined> {
    const visit = new AbortController()
    this.#visits.add(visit)
    this.#cancelEnd?.()
    await this.#look
    const { signal } = visit
    if (signal.aborted || !this.#verdict) {
      const failure = Failure.from(signal.reason)
      if (failure.reason === REVOKED) return undefined
      throw failure
    }
    const { agent, right } = this.#verdict
    return { agentId: numberOf(agent.metadata.uid ?? ''), right, ended: signal, close: () => this.#leave(visit) }
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelLate?.()
    this.#cancelEnd?.()
    for (const stop of this.#stops) stop()
    this.#told.over()
  }

  #leave(visit: AbortController): void {
    if (!this.#visits.delete(visit) || this.#visits.size > 0 || this.#isOver) return
    this.#cancelEnd = this.#sources.clock.after(KEPT, () => this.close())
    this.#told.unused()
  }

  #end(reason: Failure): void {
    this.close()
    for (const visit of this.#visits) visit.abort(reason)
  }

  /** Only to what this right may depend on: there may be thousands of them. */
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
        if (!this.#isBySpace && (!this.#verdict || [...this.#verdict.askedIn].some(isTouched))) again()
      }),
      spaces.requests.onChange((now, before) => {
        if ((!this.#verdict || this.#isBySpace) && !givesTheSame(now, before)) again()
      }),
      projects.onMeaningChange(again),
      eachMinute(clock, () => this.#lookAgain()),
    ]
  }

  get #isBySpace(): boolean {
    return this.#verdict?.right.by === 'spaces'
  }

  #isIts(agent: Ref): boolean {
    return !this.#verdict || keyOf(agent) === keyOf(refOf(this.#verdict.agent))
  }

  async #lookFirst(): Promise<void> {
    const { developsAtPace } = this.#sources
    try {
      this.#verdict = await judge({ ...this.#sources, develops: developsAtPace() }, this.#ask)
    } catch (thrown) {
      this.#end(Failure.from(thrown))
    }
    void this.#lookWhileStale()
  }

  /** A right that nobody has time to look for is none: whoever keeps kas busy would have it for as long as he does. */
  #lookAfterChange(): void {
    this.#cancelLate ??= this.#sources.clock.after(PATIENCE, () => this.#end(unchecked()))
    this.#lookAgain()
  }

  #lookAgain(): void {
    this.#isStale = true
    if (!this.#isLooking) void this.#lookWhileStale()
  }

  async #lookWhileStale(): Promise<void> {
    this.#isLooking = true
    while (this.#isStale && !this.#isOver) {
      this.#look = this.#lookInTurn()
      await this.#look
    }
    this.#isLooking = false
    this.#look = undefined
  }

  /** What a space gives costs next to nothing to look for. */
  #lookInTurn(): Promise<void> {
    const look = async () => {
      if (this.#isOver) return
      // What changes from here on is seen by the next look.
      this.#isStale = false
      this.#cancelLate?.()
      this.#cancelLate = undefined
      if (!(await this.#holds())) this.#end(revoked())
    }
    return this.#isBySpace ? look() : this.#sources.looks(this.#verdict?.agent.metadata.namespace ?? '', look)
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

const REVOKED = 'AccessRevoked'

const revoked = () => new Failure('unauthorized', 'the right to reach this agent has ended or changed', { reason: REVOKED })

const unchecked = () =>
  new Failure('unavailable', 'what the right to reach this agent depends on changes faster than it can be looked at', {
    reason: 'AccessUnchecked',
    remedy:
      "Ask again, and see who changes roles, GitProjects or Agents all the time, where the agent's configuration names many projects",
  })
