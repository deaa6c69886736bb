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
