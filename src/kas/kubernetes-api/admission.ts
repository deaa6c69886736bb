import { isDeepStrictEqual } from 'node:util'
import { type Agent, isDeleting, keyOf, type Ref, refOf, type SpaceRequest } from '../../api/index.ts'
import { type Clock, Failure, isFailure, LRUCache, minutes, seconds } from '../../std/index.ts'
import { digestOf } from '../tokens/token.ts'
import type { Ask } from './address.ts'
import { type AccessSources, type AccessVerdict, byNumber, judge } from './judge.ts'
import { payerOf } from './pace.ts'
import type { TokenOwner } from './people.ts'
import { concerns, type Right } from './rules.ts'

/** The right to act in the cluster of one agent, while it lasts. */
export interface ClusterAdmission {
  readonly agentId: bigint
  readonly right: Right
  /** Aborts when the right has gone, or is another; its reason is a `Failure`. */
  readonly ended: AbortSignal
  close(): void
}

/** Lets visitors in, each by the right that he has. */
export interface Admissions {
  admit(ask: Ask, person: TokenOwner): Promise<ClusterAdmission>
  /** Forgets the rights that are kept for later visits. */
  close(): void
}

/** No watch tells that a token has ended, so it is asked for again. */
const AGAIN = minutes(1)
/** So long a right counts on which something has changed. */
const PATIENCE = minutes(1)
/** A right is kept so long after the last visit, for the next one. */
const KEPT = seconds(10)
const MOST_KEPT = 1000

/**
 * To find a right may take hundreds of questions, and whoever works in a cluster visits it many times a second: what was found counts for all
 * visits of one person with one token, until something changes on which it depends. For those who are in it is looked for again then, in turn;
 * who comes next finds his own, and waits for nobody.
 */
export function createAdmissions(sources: AccessSources): Admissions {
  const watches = new Map<string, Watch>()
  const unvisited = new LRUCache<string, Watch>({
    max: MOST_KEPT,
    disposeAfter: (watch, _, why) => why === 'evict' && watch.close(),
  })
  const open = (key: string, ask: Ask): Watch => {
    const outdated = () => {
      if (watches.get(key) !== watch) return
      watches.delete(key)
      unvisited.delete(key)
    }
    const watch: Watch = new Watch(sources, ask, { unvisited: () => unvisited.set(key, watch), outdated })
    watches.set(key, watch)
    return watch
  }
  return {
    admit(ask, person) {
      const key = keyOfVisits(ask, person)
      const watch = watches.get(key) ?? open(key, ask)
      unvisited.delete(key)
      return watch.join()
    },
    close() {
      for (const watch of [...watches.values()]) watch.close()
    },
  }
}

/** With his groups, which may be others from one review of his token to the next. */
const keyOfVisits = ({ token, as, agent }: Ask, { name, uid, groups, extra }: TokenOwner): string =>
  JSON.stringify([digestOf(token), as, 'id' in agent ? String(agent.id) : keyOf(agent), name, uid, groups, extra])

interface WatchListener {
  /** Nobody is in by this right, for now. */
  unvisited(): void
  /** Nobody new may come in by what was found. */
  outdated(): void
}

/** One right, and the visits by it. */
class Watch {
  readonly #sources: AccessSources
  readonly #ask: Ask
  readonly #listener: WatchListener
  readonly #visits = new Set<AbortController>()
  readonly #stops: readonly (() => void)[]
  /** The first look. It never fails: the visits end. */
  readonly #found: Promise<void>
  #verdict: AccessVerdict | undefined
  #isLooking = true
  #isStale = false
  #isOutdated = false
  #isClosed = false
  /** Calls off that the right ends because a change waits too long for its look; none waits without it. */
  #cancelLate: (() => void) | undefined
  /** Calls off that a right without visits ends. */
  #cancelEnd: (() => void) | undefined

  constructor(sources: AccessSources, ask: Ask, listener: WatchListener) {
    this.#sources = sources
    this.#ask = ask
    this.#listener = listener
    // What changes while somebody is asked must not be missed.
    this.#stops = this.#listen()
    this.#found = this.#lookFirst()
  }

  async join(): Promise<ClusterAdmission> {
    const visit = new AbortController()
    this.#visits.add(visit)
    this.#cancelEnd?.()
    await this.#found
    if (visit.signal.aborted || !this.#verdict) throw Failure.from(visit.signal.reason)
    const { agentId, right } = this.#verdict
    return {
      agentId,
      right,
      ended: visit.signal,
      close: () => this.#leave(visit),
    }
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancelLate?.()
    this.#cancelEnd?.()
    for (const stop of this.#stops) stop()
    this.#listener.outdated()
  }

  #leave(visit: AbortController): void {
    if (!this.#visits.delete(visit) || this.#visits.size > 0 || this.#isClosed) return
    if (this.#isOutdated) this.close()
    else {
      this.#cancelEnd = this.#sources.clock.after(KEPT, () => this.close())
      this.#listener.unvisited()
    }
  }

  #end(reason: Failure): void {
    this.close()
    for (const visit of this.#visits) visit.abort(reason)
  }

  #outdate(): void {
    this.#isOutdated = true
    this.#listener.outdated()
    if (this.#visits.size === 0) this.close()
  }

  /** Only to what this right may depend on: there may be thousands of them. */
  #listen(): (() => void)[] {
    const { agents, configurations, projects, permissions, spaces, clock } = this.#sources
    const again = () => this.#lookAfterChange()
    return [
      onChangeOf(agents, this.#ask, (now, before) => {
        if (!now || isDeleting(now) || !isSameSpec(now, before)) again()
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
      projects.onMeaningChange(() => {
        if (!this.#isBySpace) again()
      }),
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
    this.#isLooking = false
    if (this.#isStale) void this.#lookWhileStale()
  }

  /** A right that nobody has time to look for is none: whoever keeps kas busy would have it for as long as he does. */
  #lookAfterChange(): void {
    this.#outdate()
    if (this.#isClosed) return
    this.#cancelLate ??= this.#sources.clock.after(PATIENCE, () => this.#end(unchecked()))
    this.#lookAgain()
  }

  #lookAgain(): void {
    this.#isStale = true
    if (!this.#isLooking) void this.#lookWhileStale()
  }

  async #lookWhileStale(): Promise<void> {
    this.#isLooking = true
    while (this.#isStale && !this.#isClosed) await this.#lookInTurn()
    this.#isLooking = false
  }

  /** What a space gives costs next to nothing to look for. */
  #lookInTurn(): Promise<void> {
    const look = async () => {
      if (this.#isClosed) return
      // What changes from here on is seen by the next look.
      this.#isStale = false
      this.#cancelLate?.()
      this.#cancelLate = undefined
      if (!(await this.#holds())) this.#end(revoked())
    }
    const person = this.#verdict?.person
    return this.#isBySpace || !person ? look() : this.#sources.looks(payerOf(person), look)
  }

  /** An API server that is away takes nobody's right, and gives none. */
  async #holds(): Promise<boolean> {
    try {
      const now = await judge(this.#sources, this.#ask)
      if (!isDeepStrictEqual(now.right, this.#verdict?.right)) return false
      this.#verdict = now
      return true
    } catch (thrown) {
      if (isFailure(thrown, 'unauthorized', 'forbidden')) return false
      this.#outdate()
      return true
    }
  }
}

/** Its status says every few minutes that it is connected. */
const isSameSpec = ({ metadata }: Agent, before: Agent | undefined): boolean =>
  metadata.generation === before?.metadata.generation && metadata.uid === before?.metadata.uid

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
