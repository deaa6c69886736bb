import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Kube } from '../adapters/kube/index.ts'
import type { Person } from '../engines/access/index.ts'

/** Somebody who has signed in, as long as that counts. */
export interface SignedInUser {
  readonly person: Person
  /** When the session is over, milliseconds since the epoch. */
  readonly until: number
  /** Whether it still counts. */
  holds(): boolean
  /** Calls the listener when people have signed out. */
  onSignOut(listener: () => void): () => void
}

export interface DashboardRequest {
  readonly user: SignedInUser
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly requestId: string
  /** Aborts when whoever asks has hung up. */
  readonly leaves: AbortSignal
  /** The body, if it is one of a form that is not too long; throws `too-large` or `invalid`. */
  form(): Promise<URLSearchParams>
}

/** An answer that a program gives itself. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  /** A function goes on writing after the head, for as long as it likes. */
  readonly body: string | Uint8Array | ((to: LiveAnswer) => void)
}

/** An answer of which more is to come. */
export interface LiveAnswer extends Pick<ServerResponse, 'destroyed' | 'closed' | 'writableLength'> {
  write(text: string): unknown
  end(text: string): unknown
  destroy(): unknown
  on(event: 'error', listener: () => void): unknown
  once(event: 'close', listener: () => void): unknown
}

/** Gives the API server as somebody who has signed in sees it. */
export type Impersonate = (person: Person) => Kube

/**
 * Tells a request that a page of this origin has sent. Workspaces are hosts of the same domain, so that cookies come along
 * whoever asks; a browser says where a form was sent from, and no page can have it say otherwise. A request that does not say so does not count.
 */
export const isFromOwnPage = ({ headers }: { headers: IncomingHttpHeaders }, origin: string): boolean =>
  headers.origin === origin && (headers['sec-fetch-site'] === undefined || headers['sec-fetch-site'] === 'same-origin')
