import { type AnyObject, groupOf } from '../../api/index.ts'
import type { Program, Spent } from '../../cel/index.ts'
import { Failure, isFailure, sayFailure } from '../../std/index.ts'
import { degraded, HEALTHY, type Health, progressing } from './view.ts'

/** How the objects of a kind do, in CEL over `object`; its top-level fields may also be named alone. */
export interface HealthRule {
  group: string
  kind: string
  healthy: string
  progressing?: string | undefined
  failed?: string | undefined
}

export interface HealthRules {
  /** `undefined` where no rule is for the kind, UNJUDGED where there is no time for it. */
  judge(object: AnyObject): Health | undefined
}

/** Compiled once, for objects of any number of tenants. Without an allowance they take what they need. */
export type CompiledRules = (allowance?: Allowance) => HealthRules

/** Steps of CEL that a tenant may take with all of its rules, about a microsecond each. */
export interface Allowance {
  isUsedUp(): boolean
  spend(steps: number): void
}

/** So it is until the object is read again, when there may be time. */
export const UNJUDGED: Health = progressing(
  'the health rules of the namespace have taken their share of time; it is looked at again later',
)

const NAMES = ['object', 'apiVersion', 'kind', 'metadata', 'spec', 'status', 'data']

/** Of all expressions together: to check a long one takes milliseconds, in which nothing else is done. */
const LONGEST = 16_384

interface Question {
  /** Where it is written: `spec.healthRules[0].failed`. */
  field: string
  holds: Program
  verdict: Health
}

/** Compiles the rules; one that cannot be is an `invalid` failure that names the field and the position in its text. */
export async function healthRules(rules: readonly HealthRule[]): Promise<CompiledRules> {
  const { length } = rules.map(({ healthy, progressing: underWay = '', failed = '' }) => healthy + underWay + failed).join('')
  if (length > LONGEST)
    throw invalid(
      `spec.healthRules: the expressions have ${length} characters, more than ${LONGEST}`,
      'Shorten some, or leave some out',
    )
  // Nobody without rules waits for the language to be loaded.
  const { compile } = await import('../../cel/index.ts')
  const questionsOf = (rule: HealthRule, path: string): Question[] => {
    const question = (word: 'failed' | 'progressing' | 'healthy', verdict: Health): Question[] => {
      if (rule[word] === undefined) return []
      const holds = compile(rule[word], NAMES)
      if (typeof holds !== 'function') throw invalid(`${path}.${word}: ${holds.wrong}`)
      return [{ field: `${path}.${word}`, holds, verdict }]
    }
    return [
      ...question('failed', degraded('the health rule says that it failed')),
      ...question('progressing', progressing('the health rule says that it is on its way')),
      ...question('healthy', HEALTHY),
    ]
  }
  const questions = new Map(
    rules.map((rule, index) => [`${rule.group}/${rule.kind}`, questionsOf(rule, `spec.healthRules[${index}]`)]),
  )
  return (allowance) => ({
    judge(object) {
      const asked = questions.get(`${groupOf(object.apiVersion)}/${object.kind}`)
      if (asked && allowance?.isUsedUp()) return UNJUDGED
      return asked && judged(object, asked, allowance?.spend)
    },
  })
}

const CORRECT = 'Correct the expression; it is CEL over object, such as object.status.phase == "Ready"'

const invalid = (message: string, remedy = CORRECT): Failure =>
  new Failure('invalid', message, { reason: 'HealthRuleInvalid', remedy })

/** The first that holds decides. An expression without value, as when there is no status yet, is one that does not hold. */
function judged(object: AnyObject, questions: readonly Question[], spent: Spent | undefined): Health {
  const scope = { ...Object.fromEntries(NAMES.slice(1).map((name) => [name, object[name]])), object }
  for (const { field, holds, verdict } of questions)
    try {
      if (holds(scope, spent)) return verdict
    } catch (thrown) {
      if (!isFailure(thrown, 'too-large')) throw thrown
      return progressing(`${field}: ${sayFailure(thrown)}`)
    }
  return progressing('the health rule does not say that it is healthy')
}
