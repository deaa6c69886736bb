import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Upstream } from '../adapters/http/index.ts'
import type { Ref, WorkspaceStatus } from '../api/index.ts'
import type { Person, Premises } from '../engines/access/index.ts'

/** What the proxy knows of a workspace; another one after each change. */
export interface House {
  readonly uid: string
  readonly workspace: Ref & { readonly namespace: string }
  readonly premises: Premises
  /** As the operator found it; `undefined` before it did. */
  readonly status: Pick<WorkspaceStatus, 'actualState' | 'step' | 'failure' | 'willStartAt' | 'stoppedBecause'>
  /** Whether somebody wants it to run. */
  readonly isWanted: boolean
  /** Whether its class stops it when nobody uses it. */
  readonly isWatched: boolean
  /** When it was last used, as far as that is written; milliseconds since the epoch. */
  readonly lastActivity: number
  /** When some proxy last looked at that. */
  readonly watchedAt: number
  /** By number of the port; nothing while its Services are not there, or lie in another cluster. */
  readonly upstreams: ReadonlyMap<number, Upstream>
}

/** One host: a port of a workspace. */
export interface Route {
  readonly host: string
  readonly port: number
  readonly house: House
}

/** What somebody wants of which host: a request, or what an ingress says of one. */
export interface Call {
  readonly method: string
  /** In lower case, without the dot at its end. */
  readonly host: string
  /** Path and query, as they were sent. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly isUpgrade: boolean
  /** The request itself, if it came here: an ingress that asks keeps the body. */
  readonly request?: IncomingMessage | undefined
}

export interface Routes {
  /** `host` in lower case; a port in it that no URL has is ignored. */
  at(host: string): Route | undefined
  house(uid: string): House | undefined
  houses(): Iterable<House>
  readonly size: number
  /** Told the UID of a workspace that is another now, or gone. */
  onChange(listener: (uid: string) => void): () => void
}

/** That somebody has signed in, as one host was told. */
export interface Session {
  readonly person: Person
  /** When they signed in at the provider, milliseconds since the epoch. */
  readonly since: number
  readonly until: number
}

export interface Sessions {
  /** Whose request it is at that host; `undefined` for nobody's, and for whatever does not count any more. */
  of(call: Pick<Call, 'headers'>, host: string): Promise<Session | undefined>
  /** Whether it still counts: it is not over, and nobody has signed out since. */
  holds(session: Session): boolean
  /** Told when people have signed out. */
  onSignOut(listener: () => void): () => void
}

/** What is known of whoever asks, beside what their workspace says. */
export interface Guest {
  readonly session: Session | undefined
  /** Digests of the links that they have shown. */
  readonly links: readonly string[]
}

/** What the roles of the cluster say. */
export interface Rights {
  /** Whether somebody may open a workspace, as of seconds ago. Throws when nobody can tell. */
  mayOpen(person: Person, house: House): Promise<boolean>
}

/** What a role allows is asked for again before then, milliseconds: nobody tells when roles change. */
export const ROLE_COUNTS = 10_000

/** An answer of the proxy itself. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  /** A function goes on writing after the head, for as long as it likes. */
  readonly body: string | Uint8Array | ((to: ServerResponse) => void)
}

/** Whoever looks at a page of the proxy. */
export interface Reader {
  readonly requestId: string
  readonly method: string
  /** A browser that shows a page, and no script that wants data. */
  readonly wantsPage: boolean
}

/** What is asked at one of the doors that the proxy has on the hosts of workspaces. */
export interface Knock {
  readonly call: Call
  readonly route: Route
  readonly url: URL
  readonly reader: Reader
}

/** What a page says. */
export interface Notice {
  readonly status: number
  readonly title: string
  /** Plain text, a paragraph each. */
  readonly lines: readonly string[]
  /** A form with one button. */
  readonly button?: { readonly label: string; readonly action: string } | undefined
  readonly link?: { readonly label: string; readonly to: string } | undefined
  /** Seconds after which the browser asks again by itself. */
  readonly again?: number | undefined
}

export type Say = (notice: Notice, reader: Reader, headers?: Reply['headers']) => Reply
