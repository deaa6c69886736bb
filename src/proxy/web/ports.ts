import type { IncomingHttpHeaders } from 'node:http'
import type { Upstream, WebRequest } from '../../adapters/http/index.ts'
import type { Ref, WorkspaceStatus } from '../../api/index.ts'
import type { AccessRules, Person } from '../../engines/access/index.ts'

/** The proxy knows this of a workspace; it is another object after each change. */
export interface RoutedWorkspace {
  readonly uid: string
  readonly ref: Ref & { readonly namespace: string }
  readonly rules: AccessRules
  /** Keys of its owner, as clients show them: the second words of their lines. */
  readonly sshKeys: ReadonlySet<string>
  /** As the operator found it; `undefined` before it did. */
  readonly status: Pick<WorkspaceStatus, 'actualState' | 'step' | 'failure' | 'willStartAt' | 'stoppedBecause'>
  /** Whether somebody wants it to run. */
  readonly isWanted: boolean
  /** Whether its class stops it when nobody uses it. */
  readonly isWatched: boolean
  /** The port where its editor is a terminal. */
  readonly terminal: number | undefined
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
  readonly workspace: RoutedWorkspace
}

/** The head of a request that came here, or that an ingress asks about. */
export interface BrowserRequestHead {
  readonly method: string
  /** In lower case, without the dot at its end. */
  readonly host: string
  /** Path and query, as they were sent. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly isUpgrade: boolean
  /** The request itself, if it came here: an ingress that asks keeps the body. */
  readonly request?: WebRequest | undefined
}

export interface RouteTable {
  /** `host` in lower case; a port in it that no URL has is ignored. */
  at(host: string): Route | undefined
  workspace(uid: string): RoutedWorkspace | undefined
  workspaces(): Iterable<RoutedWorkspace>
  readonly size: number
  /** Tells the UID of a workspace that is another now, or gone. */
  onChange(listener: (uid: string) => void): () => void
}

/** Says to one host that somebody has signed in. */
export interface Session {
  readonly person: Person
  /** When they signed in at the provider, milliseconds since the epoch. */
  readonly since: number
  readonly until: number
  /** As the provider calls them, who may end the session from there. */
  readonly atProvider?: ProviderSession | undefined
}

export interface ProviderSession {
  readonly subject: string
  readonly session?: string | undefined
}

export interface Sessions {
  /** Finds whose request it is at that host; `undefined` for nobody's, and for a session that does not count any more. */
  of(head: Pick<BrowserRequestHead, 'headers'>, host: string): Promise<Session | undefined>
  /** Whether it still counts: it is not over, and nobody has signed out since. */
  holds(session: Session): boolean
  /** Calls the listener when people have signed out. */
  onSignOut(listener: () => void): () => void
}

/** A request shows these to get in. */
export interface RequestCredentials {
  readonly session: Session | undefined
  /** Digests of links to the workspace. */
  readonly links: readonly string[]
}

/** Asks whether the roles of the cluster let somebody open a workspace, as of a second ago. Throws when nobody can tell. */
export type MayOpen = (person: Person, workspace: Pick<RoutedWorkspace, 'ref'>) => Promise<boolean>

/** A role is asked for again before then, milliseconds: of rights that other authorizers give nobody tells when they end. */
export const ROLE_COUNTS = 10_000

/** The client that gets an answer of the proxy itself. */
export interface Recipient {
  readonly requestId: string
  readonly method: string
  /** A browser that shows a page, and no script that wants data. */
  readonly wantsPage: boolean
}

/** A request for one of the paths that the proxy keeps for itself on the hosts of workspaces. */
export interface OwnPathRequest {
  readonly head: BrowserRequestHead
  readonly route: Route
  readonly url: URL
  readonly recipient: Recipient
}
