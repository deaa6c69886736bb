import { accountOfUser, keyOf, type Ref } from '../../api/index.ts'
import { type Clock, createBuckets, createLimiter, isFailure, LRUCache, type Rate, type Secret } from '../../std/index.ts'
import type { Develops } from '../develop.ts'
import { createProve, tooManyRequests } from '../strangers.ts'
import type { Ask } from './address.ts'
import type { Identify, TokenOwner } from './people.ts'

export type Limit = 'person' | 'unknown' | 'refused' | 'questions'

export interface PaceOptions {
  identify: Identify
  /** Requests of one person, or of all accounts of one namespace, in a second; for a moment ten times as many. */
  perSecond: number
  /** Works for all tenants at once, and is not limited. */
  operator: Ref
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
/**
 * Projects of an agent's configuration of which it is asked whether one person develops them. There may be hundreds of them for each new
 * token.
 */
const QUESTIONS: Rate = { burst: 10_000, perSecond: 500 }
const MOST_KNOWN = 10_000

export type VisitPace = ReturnType<typeof createPace>

/** Limits how fast people may ask, over all agents together. */
export function createPace({ identify, perSecond, operator, slowed, clock }: PaceOptions) {
  const ofPerson = createLimiter({ burst: perSecond * BURST, perSecond }, clock)
  const prove = createProve(() => slowed('unknown'), clock)
  const ofRefusals = createBuckets(REFUSALS, clock)
  const reached = new LRUCache<string, true>({ max: MOST_KNOWN })
  const isOperator = isOf(operator)
  const take = (wait: number, limit: Limit): void => {
    if (wait === 0) return
    slowed(limit)
    throw tooManyRequests(wait)
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
        if (!isOperator(person)) take(ofPerson(payerOf(person)), 'person')
        return person
      }),
    /** Does `judge`, which says whether he may reach the agent, unless too many agents have been refused to him already. */
    async judged<T>(person: TokenOwner, agent: Ask['agent'], judge: () => Promise<T>): Promise<T> {
      const key = `${person.name} ${'id' in agent ? agent.id : keyOf(agent)}`
      if (isOperator(person)) return judge()
      if (reached.has(key)) return stillReached(key, judge)
      // Taken before, so that many at once are no way around it.
      take(ofRefusals.take(person.name), 'refused')
      try {
        const verdict = await judge()
        ofRefusals.giveBack(person.name)
        reached.set(key, true)
        return verdict
      } catch (thrown) {
        if (!isFailure(thrown, 'forbidden')) ofRefusals.giveBack(person.name)
        throw thrown
      }
    },
  }
}

/** Who counts as one person: a user, or all accounts of a namespace, for whoever may make one makes a thousand of them. */
function payerOf({ name }: Pick<TokenOwner, 'name'>): string {
  const account = accountOfUser(name)
  return account ? `namespace ${account.namespace}` : `user ${name}`
}

function isOf(operator: Ref): (person: Pick<TokenOwner, 'name'>) => boolean {
  const key = keyOf(operator)
  return ({ name }) => {
    const account = accountOfUser(name)
    return account !== undefined && keyOf(account) === key
  }
}

/** For each visit one more: who has asked too much already is not let in, and who may begin may ask to the end. */
export function createDevelopsAtPace({
  develops,
  operator,
  slowed,
  clock,
}: Pick<PaceOptions, 'operator' | 'slowed' | 'clock'> & { develops: Develops }): () => Develops {
  const questions = createBuckets(QUESTIONS, clock)
  const isOperator = isOf(operator)
  return () => {
    let isBegun = false
    return (person, project) => {
      if (isOperator(person)) return develops(person, project)
      const payer = payerOf(person)
      const wait = isBegun ? 0 : questions.wait(payer)
      if (wait > 0) {
        slowed('questions')
        throw tooManyRequests(wait)
      }
      isBegun = true
      questions.spend(payer, 1)
      return develops(person, project)
    }
  }
}
