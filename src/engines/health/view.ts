import type { AnyObject } from '../../api/index.ts'
import { isRecord } from '../../std/index.ts'

interface Condition {
  type: string
  status: string
  reason: string
  message: string
}

/** Conditions of any object, whatever its schema. */
export const conditionOf = (object: AnyObject, type: string): Condition | undefined =>
  conditionIn(fieldsOf(object.status).conditions, type)

export function conditionIn(list: unknown, type: string): Condition | undefined {
  const found = Array.isArray(list) ? list.filter(isRecord).find((condition) => condition.type === type) : undefined
  if (!found) return undefined
  const { status, reason = '', message = '' } = found
  return { type, status: String(status), reason: String(reason), message: String(message) }
}

/** Spec and status with numbers where numbers are meant. */
export interface View {
  object: AnyObject
  spec: Record<string, unknown>
  status: Record<string, unknown>
  count(field: string): number
  condition(type: string): Condition | undefined
}

export function viewOf(object: AnyObject): View {
  const status = fieldsOf(object.status)
  return {
    object,
    spec: fieldsOf(object.spec),
    status,
    count: (field) => numberOf(status[field]) ?? 0,
    condition: (type) => conditionOf(object, type),
  }
}

export const saying = ({ type, reason, message }: Condition): string => message || reason || type
export const firstOf = (checks: [boolean, string][]): string | undefined => checks.find(([holds]) => holds)?.[1]
export const fieldsOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {})
export const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

export type HealthStatus = 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended' | 'Missing' | 'Unknown'

export interface Health {
  status: HealthStatus
  /** Why, when it is not healthy. */
  message?: string
}

export const HEALTHY: Health = { status: 'Healthy' }
export const progressing = (message: string): Health => ({ status: 'Progressing', message })
export const degraded = (message: string): Health => ({ status: 'Degraded', message })

/** The worst first. */
const WORST: HealthStatus[] = ['Degraded', 'Missing', 'Progressing', 'Unknown', 'Suspended', 'Healthy']

export const worse = (a: HealthStatus, b: HealthStatus): HealthStatus => (WORST.indexOf(a) <= WORST.indexOf(b) ? a : b)
