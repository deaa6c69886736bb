import { seconds } from '../../std/index.ts'

/** How a session gets from the host for signing in to that of a workspace. */
export const TRANSFER = { kind: 'transfer', path: '/.berth/arrive', lasts: seconds(30) } as const

/** Where somebody wants to go. */
export interface Transfer {
  readonly host: string
  readonly path: string
  /** Digest of what the browser that left that host alone knows. */
  readonly visit: string
}

export function transferClaims({ host, path, visit }: Readonly<Record<string, unknown>>): Transfer | undefined {
  if (typeof host !== 'string' || typeof path !== 'string' || typeof visit !== 'string') return undefined
  return { host, path, visit }
}
