import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Kube } from '../adapters/kube/index.ts'
import type { Person } from '../engines/access/index.ts'

/** Somebody who has signed in, as long as that counts. */
export interface Guest {
  readonly person: Person
  /** When the session is over, milliseconds since the epoch. */
  readonly until: number
  /** Whether it still counts. */
  holds(): boolean
  /** Told when people have signed out. */
  onSignOut(listener: () => void): () => void
}

/** What a guest asks for. */
export interface Question {
  readonly guest: Guest
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly requestId: string
  /** The body, if it is one of a form that is not too long; throws `too-large` or `invalid`. */
  form(): Promise<URLSearchParams>
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  /** A function goes on writing after the head. */
  readonly body: string | Uint8Array | ((to: ServerResponse) => void)
}

/** The API server as whoever has signed in. */
export type As = (person: Person) => Kube
