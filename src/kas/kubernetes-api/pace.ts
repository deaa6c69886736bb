import { accountOfUser, keyOf, type ServiceAccountName, userOfAccount } from '../../api/index.ts'
import { type Buckets, type Clock, createBuckets, isFailure, LRUCache, type Rate, type Secret, seconds } from '../../std/index.ts'
import type { Develops } from '../projects/develop.ts'
import { createProve, tooManyRequests } from '../tokens/strangers.ts'
import type { Ask } from './address.ts'
import type { Identify, TokenOwner } from './people.ts'

export type Limit = 'person' | 'namespace' | 'unknown' | 'refused' | 'questions'

export interface PaceOptions {
  identify: Identify
  /** Requests of one person in a second; for a moment ten times as many. */
  perSecond: number
  /** Works for all tenants at once, and is not limited. */
  operator: ServiceAccountName
  /** Told of each that has to wait, and by which limit. */
  slowed: (limit: Limit) => void
  clock: Clock
}

/**
 * Refusals of one person. For each, the repository of another agent may have to be read: whoever has no rights must not have kas look
 * at all of them. An agent that does not exist counts as much, so that the limit does not tell which there are.
 */
const REFUSALS: Rate = { burst: 100, perSecond: 1 }
const BURST = 10
/** All accounts of a namespace together may ask as often as so many people, and be refused as often as ten: anybody there may make a thousand. */
const TOGETHER = 2
const REFUSALS_TOGETHER: Rate = { burst: 1000, perSecond: 10 }
/**
 * Projects of an agent's configuration of which the API server is asked whether a visitor develops them, by user or namespace of accounts.
 * There may be hundreds of them for each new token.
 */
const QUESTIONS: Rate = { burst: 10_000, perSecond: 500 }
/** One whose answer is remembered takes kas a moment, and nobody else. */
const REMEMBERED = 0.1
/** Who may begin may ask to the end, unless so many have begun at once that others would wait so long for it. */
const MOST_DEBT = seconds(4)
const MOST_KNOWN = 10_000

interface TakenLimit {
  buckets: Buckets
  key: string
  limit: Limit
}

export type VisitPace = ReturnType<typeof createPace>

/** Limits how fast people may ask, over all agents together. */
export function createPace({ identify, perSecond, operator, slowed, clock }: PaceOptions) {
  const ofPerson = createBuckets({ burst: perSecond * BURST, perSecond }, clock)
  const prove = createProve(() => slowed('unknown'), clock)
  const together = { burst: perSecond * BURST * TOGETHER, perSecond: perSecond * TOGETHER }
  const ofNamespace = createBuckets(together, clock)
  const ofRefusals = createBuckets(REFUSALS, clock)
  const ofRefusalsTogether = createBuckets(REFUSALS_TOGETHER, clock)
  const reached = new LRUCache<string, true>({ max: MOST_KNOWN })
  const isOperator = isAccount(operator)
  /** Takes one from each, or fails and takes nothing. */
  const take = (...limits: readonly TakenLimit[]): void => {
    for (const { buckets, key, limit } of limits) {
      const wait = buckets.wait(key)
      if (wait === 0) continue
      slowed(limit)
      throw tooManyRequests(wait)
    }
    for (const { buckets, key } of limits) buckets.spend(key, 1)
  }
  const giveBack = (person: TokenOwner): void => {
    ofRefusals.giveBack(person.name)
    ofRefusalsTogether.giveBack(payerOf(person))
  }
  const stillReached = async <T>(key: string, judge: () => Promise<T>): Promise<T> => {
    try {
      return await judge()
    } catch (thrown) {
      if (isFailure(thrown, 'forbidden')) reached.delete(key)
      throw thrown
    }
  }
  return {
    /** Lets a visitor go on, and says who it is, or fails with `TooManyRequests`. */
    visit: (token: Secret<string>, peer: string): Promise<TokenOwner> =>
      prove(token, peer, async () => {
        const person = await identify(token)
        if (isOperator(person)) return person
        take(
          { buckets: ofPerson, key: person.name, limit: 'person' },
          { buckets: ofNamespace, key: payerOf(person), limit: 'namespace' },
        )
        return person
      }),
    /** Does `judge`, which says whether he may reach the agent, unless too many agents have been refused to him already. */
    async judged<T>(person: TokenOwner, agent: Ask['agent'], judge: () => Promise<T>): Promise<T> {
      const key = `${person.name} ${'id' in agent ? agent.id : keyOf(agent)}`
      if (isOperator(person)) return judge()
      if (reached.has(key)) return stillReached(key, judge)
      // Taken before, so that many at once are no way around it.
      take(
        { buckets: ofRefusals, key: person.name, limit: 'refused' },
        { buckets: ofRefusalsTogether, key: payerOf(person), limit: 'refused' },
      )
      try {
        const verdict = await judge()
        giveBack(person)
        reached.set(key, true)
        return verdict
      } catch (thrown) {
        if (!isFailure(thrown, 'forbidden')) giveBack(person)
        throw thrown
      }
    },
  }
}

/** Who pays for what somebody has kas do: a user, or for an account its namespace. */
export function payerOf({ name }: Pick<TokenOwner, 'name'>): string {
  const account = accountOfUser(name)
  return account ? `namespace ${account.namespace}` : `user ${name}`
}

function isAccount(account: ServiceAccountName): (person: Pick<TokenOwner, 'name'>) => boolean {
  const expected = userOfAccount(account)
  return ({ name }) => name === expected
}

/** Gives one for each visit that is to be let in. */
export function createDevelopsAtPace({
  develops,
  operator,
  slowed,
  clock,
}: Pick<PaceOptions, 'operator' | 'slowed' | 'clock'> & { develops: Develops }): () => Develops {
  const questions = createBuckets(QUESTIONS, clock)
  const isOperator = isAccount(operator)
  return () => {
    let isBegun = false
    return async (person, project) => {
      if (isOperator(person)) return develops(person, project)
      const payer = payerOf(person)
      const wait = questions.wait(payer)
      if (wait > (isBegun ? MOST_DEBT : 0)) {
        slowed('questions')
        throw tooManyRequests(wait)
      }
      isBegun = true
      questions.spend(payer, REMEMBERED)
      return develops(person, project, () => questions.spend(payer, 1 - REMEMBERED))
    }
  }
}
