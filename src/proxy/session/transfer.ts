import { seconds } from '../../std/index.ts'

/** A session gets so from the host for signing in to that of a workspace. */
export const TRANSFER = { kind: 'transfer', path: '/.berth/arrive', lasts: seconds(30) } as const

/** Names the page to which somebody wants to go. */
export interface SessionTransfer {
  readonly host: string
  readonly path: string
  /** Digest of a secret that only the browser that left that host knows. */
  readonly visit: string
}

export function transferClaims({ host, path, visit }: Readonly<Record<string, unknown>>): SessionTransfer | undefined {
  if (typeof host !== 'string' || typeof path !== 'string' || typeof visit !== 'string') return undefined
  return { host, path, visit }
}
