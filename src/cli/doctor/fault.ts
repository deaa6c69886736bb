import { type AnyObject, type Condition, conditionOf } from '../../api/index.ts'

/** What is wrong with an object that will not mend itself, in its own words. */
export interface Fault {
  reason: string
  message: string
  /** Empty where the message says it. */
  remedy: string
}

/** Phases and states in which somebody has to act. */
const WRONG = ['Failed', 'Lost', 'Error']
/** Of these kinds the ones that are not ready are in error: nothing that they wait for comes by itself. */
const NEVER_WAITING = ['GitProject', 'GitOpsDeploymentManagedEnvironment']

/** The error that an object is in now, however young; nothing for one that is only under way. */
export function faultOf(object: AnyObject): Fault | undefined {
  const conditions = conditionsOf(object)
  const ready = conditionOf(conditions, 'Ready')
  const error = conditionOf(conditions, 'ErrorOccurred')
  const isWrong = [wordOf(object, 'phase'), wordOf(object, 'actualState')].some((word) => WRONG.includes(word))
  const isUnready = ready?.status === 'False' && NEVER_WAITING.includes(object.kind)
  if (!isWrong && !isUnready && error?.status !== 'True') return undefined
  const told = failureOf(object)
  if (told) return told
  const said = ready?.status === 'False' ? ready : error
  return {
    reason: said?.reason ?? wordOf(object, 'phase'),
    message: (error?.status === 'True' && error.message) || said?.message || 'it does not say why',
    remedy: '',
  }
}

/** Where a status has the failure in parts, as workspaces do. */
function failureOf({ status }: AnyObject): Fault | undefined {
  const failure = fieldOf(status, 'failure')
  const text = (name: string) => {
    const value = fieldOf(failure, name)
    return typeof value === 'string' ? value : ''
  }
  return text('reason') ? { reason: text('reason'), message: text('message'), remedy: text('remedy') } : undefined
}

function wordOf({ status }: AnyObject, field: string): string {
  const word = fieldOf(status, field)
  return typeof word === 'string' ? word : ''
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined

/** The conditions of an object of which nothing is known. */
export function conditionsOf({ status }: AnyObject): Condition[] {
  const conditions = fieldOf(status, 'conditions')
  return Array.isArray(conditions) ? conditions : []
}
