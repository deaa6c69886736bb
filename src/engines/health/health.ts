import { type AnyObject, groupOf } from '../../api/index.ts'
import { beginningOf } from '../../std/index.ts'
import { BUILT_IN } from './built-in.ts'
import type { HealthRules } from './rules.ts'
import { RUNS } from './runs.ts'
import { conditionOf, degraded, fieldsOf, HEALTHY, type Health, numberOf, progressing, saying, viewOf } from './view.ts'

/**
 * How an object does, by the rules of kstatus: first what is true of every kind, then the rule that the user gave for the
 * kind or else the kind's own, then its Ready condition.
 */
export function healthOf(object: AnyObject | undefined, now: number, rules?: HealthRules): Health {
  if (!object) return { status: 'Missing', message: 'is not there' }
  return short(general(object) ?? rules?.judge(object) ?? BUILT_IN[ruleOf(object)]?.(viewOf(object), now) ?? byReady(object))
}

/** The same of an object that is there to end: it does well when it has, and not as long as it runs. */
export function healthOfRun(object: AnyObject | undefined, now: number, rules?: HealthRules): Health {
  if (!object) return healthOf(object, now)
  const judged = general(object) ?? rules?.judge(object)
  return short(judged ?? RUNS[ruleOf(object)]?.(viewOf(object)) ?? bySucceeded(object) ?? healthOf(object, now))
}

/** As runs of Tekton say how they ended, whatever their kind. */
function bySucceeded(object: AnyObject): Health | undefined {
  const succeeded = conditionOf(object, 'Succeeded')
  if (!succeeded) return undefined
  const { status } = succeeded
  return status === 'True' ? HEALTHY : status === 'False' ? degraded(saying(succeeded)) : progressing(saying(succeeded))
}

/** Characters. The object's status may have a million of them, and they are shown for each of a thousand objects. */
const LONGEST = 1024

/** The very same where there is nothing to cut: rules that had no time are told by theirs. */
const short = (health: Health): Health =>
  (health.message?.length ?? 0) <= LONGEST ? health : { ...health, message: beginningOf(health.message ?? '', LONGEST) }

/**
 * A Job that removes itself when it is over: once it was made, its absence is its success, and making it again would run
 * it again.
 */
export function endsByGoing({ apiVersion, kind, spec }: AnyObject): boolean {
  return groupOf(apiVersion) === 'batch' && kind === 'Job' && numberOf(fieldsOf(spec).ttlSecondsAfterFinished) !== undefined
}

/** Rules are for the built-in kinds only: somebody's own `Service` is judged by its Ready condition. */
const ruleOf = ({ apiVersion, kind }: AnyObject): string => `${groupOf(apiVersion)}/${kind}`

function general(object: AnyObject): Health | undefined {
  const { deletionTimestamp, generation } = object.metadata
  if (deletionTimestamp !== undefined) return progressing(`is being deleted since ${deletionTimestamp}`)
  const observed = numberOf(fieldsOf(object.status).observedGeneration)
  if (observed !== undefined && generation !== undefined && observed !== generation)
    return progressing('its latest change was not looked at yet')
  const reconciling = conditionOf(object, 'Reconciling')
  if (reconciling?.status === 'True') return progressing(saying(reconciling))
  const stalled = conditionOf(object, 'Stalled')
  if (stalled?.status === 'True') return degraded(saying(stalled))
  return undefined
}

function byReady(object: AnyObject): Health {
  const ready = conditionOf(object, 'Ready')
  return ready === undefined || ready.status === 'True' ? HEALTHY : progressing(saying(ready))
}
