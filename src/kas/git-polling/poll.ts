import { keyOf, type Ref } from '../../api/index.ts'
import { type Backoff, type Clock, Failure, minutes, pause, seconds, unlessAborted, waitOf } from '../../std/index.ts'
import type { PollSighting, PollSubscriber, PollSubscription } from '../ports/ports.ts'
import type { Project } from '../projects/project.ts'
import type { PollPace, PollTurn } from './pace.ts'

export interface PollWork {
  /** Asks the Git server once, unless somebody else has asked it since then (milliseconds since 1970). */
  look: (since: number) => Promise<PollSighting>
  /** Whether a look asks nobody. */
  isKnown?: (since: number) => boolean
  /** Others are answered by its looks: it comes before them. */
  isShared?: boolean
  /** Somebody knows better than to wait after what failed. */
  hurry?: () => void
  /** The version of the credentials as they are now, where there are some to read. Must not reject. */
  version?: () => Promise<string | undefined>
  /** Tells what was found. */
  report: (projects: Project[], sighting: PollSighting, since: number) => void
  pace: PollPace
  clock: Clock
}

interface Follower {
  project: Project
  by: PollSubscriber
  /** Set when the right was not renewed. */
  refused?: Failure
}

const LONGEST_WAIT = minutes(5)
/** Polls of many repositories drift apart instead of coming in waves. */
const JITTER = 0.1
/** Intervals; whoever asks for many refs each interval may be late, and wakes the others where there is something new. */
const OLDEST = 2
/** Between a look and the next that a poke asks for: longer by this much each time, until nobody has poked for a while. */
const GAP = seconds(0.5)
const LONGEST_GAP = seconds(3)
const CALM = seconds(2)

/**
 * One repository, ref and credential, asked for by any number of followers. It looks every interval while somebody follows,
 * waits longer after failures, and ends by itself when nobody has come back for an interval.
 */
export class Poll {
  readonly #work: PollWork
  readonly #followers = new Set<Follower>()
  /** Keys of the projects of all who ever followed: between two calls of a client nobody does. */
  readonly #served = new Set<string>()
  #last: { sighting: PollSighting; at: number } | undefined
  #failures = 0
  /** When the first poke came to which there was no answer yet. */
  #pokedAt: number | undefined
  /** Pokes in a row, each soon after the look before. */
  #hurries = 0
  /** The credentials that the last look was made with, as far as that was worth asking. */
  #version: string | undefined
  /** The shortest interval that is, or was last, asked for. */
  #shortest = LONGEST_WAIT
  #alarm = new AbortController()
  #isResting = false
  /** Somebody waits for the next look. */
  #isUrgent = true
  /** While it waits for the turn of its namespaces. */
  #standing: PollTurn | undefined
  #hasEnded = false
  /** Resolved, and replaced, with each sighting and each refusal. */
  #news = Promise.withResolvers<void>()

  constructor(work: PollWork) {
    this.#work = work
  }

  follow(project: Project, by: PollSubscriber): PollSubscription {
    const follower: Follower = { project, by }
    this.#standing?.join(by.caller.namespace)
    this.#followers.add(follower)
    this.#served.add(keyOf(project.ref))
    // A look that is under way will serve this one too.
    if (this.#isResting && !this.#isFresh()) this.poke()
    return {
      next: (seen, signal) => this.#next(follower, seen, signal),
      close: () => {
        this.#followers.delete(follower)
        if (this.#followers.size === 0) this.#standing?.leave()
      },
    }
  }

  /** Nobody may join any more. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** The ref that the last look found; `undefined` if none did, or there was none, or what it found is refused. */
  get meant(): string | undefined {
    const sighting = this.#last?.sighting
    return sighting && 'snapshot' in sighting && !sighting.refused ? sighting.snapshot.refName : undefined
  }

  /** What the last look found. */
  get sighting(): PollSighting | undefined {
    return this.#last?.sighting
  }

  get projects(): Project[] {
    return [...this.#followers].map(({ project }) => project)
  }

  /**
   * Of those who follow, not of what they follow: who looks at another's repository does it at a cost of his own. Whoever wants the
   * shortest interval comes first.
   */
  get #namespaces(): Set<string> {
    const [followers, interval] = [[...this.#followers], this.#interval()]
    const keenest = followers.find(({ project }) => project.pollInterval === interval)
    return new Set([...(keenest ? [keenest] : []), ...followers].map(({ by }) => by.caller.namespace))
  }

  serves(project: Ref): boolean {
    return this.#served.has(keyOf(project))
  }

  /** Looks now, and forgets that it was to wait longer. With nobody here it ends, so that the next one begins with a look. */
  poke(): void {
    this.#failures = 0
    this.#pokedAt ??= this.#work.clock.now()
    this.#work.hurry?.()
    this.#alarm.abort()
    if (!this.#isUrgent) this.#standing?.leave()
    this.#isUrgent = true
  }

  /** Somebody else has asked the Git server: where that found something new it looks at once, and nobody waits for a turn any more. */
  wake(isNew: boolean): void {
    if (isNew) this.#alarm.abort()
    if (this.#standing && this.#work.isKnown?.(this.#since)) this.#standing.leave()
  }

  /** Returns when the signal aborts, or when it is no longer wanted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#turn(signal)
      await this.#renew()
      const interval = this.#interval()
      // Everybody who poked until now is answered by this look.
      this.#alarm = new AbortController()
      if (this.#followers.size > 0) await this.#look(signal)
      await this.#rest(
        this.#failures > 0 ? waitOf(this.#backoff(interval), this.#failures - 1) : interval * (1 + JITTER * Math.random()),
        signal,
      )
      if (this.#followers.size === 0) break
    }
    this.#hasEnded = true
  }

  /** What was found before does not count. */
  get #since(): number {
    return Math.max(this.#pokedAt ?? 0, this.#work.clock.now() - this.#interval() * OLDEST)
  }

  /** What costs the Git server nothing has no turn. */
  async #turn(signal: AbortSignal): Promise<void> {
    if (this.#work.isKnown?.(this.#since)) {
      this.#isUrgent = false
      return
    }
    for (let isUrgent: boolean | undefined; isUrgent !== this.#isUrgent && !signal.aborted; ) {
      isUrgent = this.#isUrgent
      this.#standing = this.#work.pace.stand(this.#namespaces, isUrgent || this.#work.isShared === true)
      await unlessAborted(this.#standing.over, signal)
    }
    this.#standing?.leave()
    this.#standing = undefined
    this.#isUrgent = false
  }

  async #look(signal: AbortSignal): Promise<void> {
    const pokedAt = this.#pokedAt
    const since = pokedAt ?? this.#work.clock.now()
    // Asked before the look: a Secret that is mended meanwhile counts as changed.
    this.#version = this.#failures > 0 ? await this.#work.version?.() : undefined
    const sighting = await this.#work.look(this.#since)
    if (signal.aborted) return
    // What the user has to mend in the cluster, or to sign, costs nothing to look at again, so it is not made to wait.
    const isOurs = 'failure' in sighting && !/^(?:Secret|Commit|NamespaceNotOnboarded$)/.test(sighting.failure.reason ?? '')
    this.#failures = isOurs ? this.#failures + 1 : 0
    // Of a poke that came meanwhile the next look is made, and of one that found nothing out.
    if (!('failure' in sighting) && this.#pokedAt === pokedAt) this.#pokedAt = undefined
    const known = this.#last?.sighting
    const kept = known && isSameAndHere(known, sighting) ? known : sighting
    this.#last = { sighting: kept, at: this.#work.clock.now() }
    this.#work.report(this.projects, kept, since)
    this.#announce()
  }

  /** Asks each follower whether it still may; a poll for nobody is not made. */
  async #renew(): Promise<void> {
    const ask = async (follower: Follower) => {
      try {
        await follower.by.renew()
      } catch (thrown) {
        follower.refused = Failure.from(thrown)
        this.#followers.delete(follower)
      }
    }
    const before = this.#followers.size
    await Promise.all([...this.#followers].map(ask))
    if (this.#followers.size < before) this.#announce()
  }

  async #next(follower: Follower, seen: PollSighting | undefined, signal: AbortSignal): Promise<PollSighting | undefined> {
    while (!signal.aborted) {
      if (follower.refused) throw follower.refused
      const news = this.#news.promise
      if (this.#last && this.#last.sighting !== seen && this.#isFresh()) return this.#last.sighting
      await unlessAborted(news, signal)
    }
    return undefined
  }

  /** Sightings from before the last wait are not for newcomers. A failure stays what is known until the next look, and all else until its turn. */
  #isFresh(): boolean {
    if (!this.#last) return false
    if ('failure' in this.#last.sighting || this.#standing) return true
    return this.#work.clock.now() - this.#last.at < this.#interval() * (1 + JITTER)
  }

  #interval(): number {
    const asked = [...this.#followers].map(({ project }) => project.pollInterval)
    if (asked.length > 0) this.#shortest = Math.min(...asked)
    return this.#shortest
  }

  #backoff(interval: number): Backoff {
    return { base: interval, max: Math.max(LONGEST_WAIT, interval) }
  }

  async #rest(ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#work
    const woken = AbortSignal.any([signal, this.#alarm.signal])
    const until = clock.now() + ms
    this.#isResting = true
    for (let left = ms; left > 0 && !woken.aborted; left = until - clock.now()) {
      // A long wait is for the Git server's sake; to see whether the user has mended the Secret costs it nothing.
      await pause(clock, Math.min(left, this.#interval()), woken)
      if (!woken.aborted && clock.now() < until && (await this.#isMended())) this.poke()
    }
    if (this.#alarm.signal.aborted) await this.#gather(signal)
    this.#isResting = false
  }

  /** The first poke is answered at once; the longer they go on, the more of them share a look. */
  async #gather(signal: AbortSignal): Promise<void> {
    const { clock } = this.#work
    const since = this.#last ? clock.now() - this.#last.at : CALM
    this.#hurries = since < CALM ? this.#hurries + 1 : 0
    await pause(clock, Math.max(Math.min(this.#hurries * GAP, LONGEST_GAP) - since, 0), signal)
  }

  async #isMended(): Promise<boolean> {
    if (this.#version === undefined) return false
    const now = await this.#work.version?.()
    return now !== undefined && now !== this.#version
  }

  #announce(): void {
    this.#news.resolve()
    this.#news = Promise.withResolvers<void>()
  }
}

/** The same commit whose files have been fetched: the older sighting saves fetching them again. */
function isSameAndHere(known: PollSighting, now: PollSighting): boolean {
  if (!('snapshot' in known && 'snapshot' in now)) return false
  return (
    known.refused?.message === now.refused?.message &&
    known.snapshot.isFetched &&
    known.snapshot.commit === now.snapshot.commit &&
    known.snapshot.refName === now.snapshot.refName
  )
}
