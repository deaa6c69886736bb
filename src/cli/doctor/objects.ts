import { type AnyObject, conditionOf, DeploymentTargetClasses, isDeleting, keyOf, nameOf, refOf } from '../../api/index.ts'
import { minutes } from '../../std/index.ts'
import { causesFirst, conditionsOf, faultOf } from '../fault.ts'
import { listOwnObjects } from '../manifests.ts'
import { unlessForbidden } from '../options.ts'
import { type DoctorFinding, type Examination, ok, warn } from './finding.ts'

/** Patience before something that is not ready is worth a line. */
const LONG = minutes(2)

/** Not ready because somebody wants it so. */
const ON_PURPOSE = new Set(['Stopped', 'Suspended', 'Terminated', 'Manual'])

/** Without a class every claim waits for a target that somebody makes by hand. */
export const examineClasses: Examination = async ({ kube }) => {
  const classes = await kube.list(DeploymentTargetClasses)
  if (classes.length > 0) return ok(`there is ${classes.map(({ metadata }) => metadata.name).join(', ')}`)
  const remedy = 'Run `berth install --defaults | kubectl apply --server-side -f -`, or write one of your own.'
  return warn('there is no DeploymentTargetClass: nothing is provisioned', remedy)
}

/**
 * Objects of every kind that are in error, or that have not become ready, or gone, for long; with what they say of themselves. Who may not
 * look everywhere hears of one namespace.
 */
export const examineObjects: Examination = async ({ kube, home, namespaceOfContext, now }) => {
  const all = await unlessForbidden(() => listOwnObjects(kube, home))
  const kinds = all ?? (await listOwnObjects(kube, home, namespaceOfContext))
  const troubles = causesFirst([...kinds.values()].flat()).flatMap((object) => troubleOf(object, now))
  return troubles.length > 0 ? troubles : ok(`none ${all ? '' : `in ${namespaceOfContext} `}waits for long`)
}

export function troubleOf(object: AnyObject, now: number): DoctorFinding[] {
  const since = (time: string | undefined): number => now - Date.parse(time ?? '')
  const ready = conditionOf(conditionsOf(object), 'Ready')
  if (isDeleting(object)) {
    if (since(object.metadata.deletionTimestamp) < LONG) return []
    const waits = (object.metadata.finalizers ?? []).join(', ')
    // What is kept for others goes on serving, and says how it can go.
    const says = ready?.status === 'True' && ready.message ? `; Ready says: ${ready.message}` : ''
    const message = `${nameOf(object)} is being deleted since ${object.metadata.deletionTimestamp}, held by ${waits}${says}`
    return [about(object, 'Deleting', message, `Run \`${describe(object)}\`.`)]
  }
  const fault = faultOf(object)
  if (fault) {
    const message = `${nameOf(object)} (${fault.reason}): ${fault.message}`
    return [about(object, fault.reason, message, fault.remedy || explain(object, fault.reason))]
  }
  if (!ready || ready.status === 'True' || ON_PURPOSE.has(ready.reason) || since(ready.lastTransitionTime) < LONG) return []
  const message = `${nameOf(object)} is not ready (${ready.reason}): ${ready.message}`
  return [about(object, ready.reason, message, explain(object, ready.reason))]
}

const about = (object: AnyObject, reason: string, message: string, remedy: string): DoctorFinding => ({
  ...warn(message, remedy),
  object: { kind: object.kind, name: keyOf(refOf(object)), reason },
})

const describe = ({ kind, metadata: { name, namespace } }: AnyObject): string =>
  `kubectl describe ${kind.toLowerCase()} ${name}${namespace ? ` -n ${namespace}` : ''}`

/** Messages say themselves what helps, where the object knows it. */
const explain = (object: AnyObject, reason: string): string =>
  `\`${describe(object)}\` shows what led to it; docs/conditions.md says what ${reason} means.`
