import type { Workspace } from '../../api/index.ts'

/** From the narrowest to the widest. */
const ORDER = ['owner', 'members', 'authenticated', 'public'] as const

/** These may reach a port besides those it is shared with. */
export type Visibility = (typeof ORDER)[number]

/** All that decides about access to a workspace, read once whenever it changes. */
export interface AccessRules {
  /** User name; nobody's while it is not known. */
  readonly owner: string | undefined
  readonly shares: readonly WorkspaceShare[]
  /** By number: the ports that are declared and published. All others are closed to everybody. */
  readonly ports: ReadonlyMap<number, PublishedPort>
  /** Over SSH people get into the shell as through the editor: with the editor's port, or the owner alone. `undefined`: nobody does. */
  readonly shell: PublishedPort | undefined
  /** The widest that the class allows. */
  readonly maxVisibility: Visibility
  /** It is being terminated: nobody gets in any more. */
  readonly isEnding: boolean
}

export interface PublishedPort {
  readonly port: number
  /** Several names may stand for one number. */
  readonly names: readonly string[]
  /** In lower case, with a port where the URL has one. */
  readonly host: string
  readonly visibility: Visibility
  /** It leads into the owner's shell. */
  readonly isShell: boolean
}

export interface WorkspaceShare {
  readonly user: string | undefined
  readonly group: string | undefined
  /** Digest of a link; everybody who has that may use it. */
  readonly link: string | undefined
  /** Names of ports. */
  readonly ports: readonly string[]
  /** Milliseconds since the epoch; infinite without an end. */
  readonly until: number
}

/** The editor has a terminal: a visitor who reaches it is in the owner's shell. */
const EDITOR = 'editor-server'

/** Ports are taken from the status, which the operator alone writes: what tenants write claims no host. */
export function accessRulesOf({ metadata, spec, status }: Workspace): AccessRules {
  const { proxy } = status?.class?.settings ?? {}
  const isEnding =
    metadata.deletionTimestamp !== undefined ||
    spec.desiredState === 'Terminated' ||
    status?.actualState === 'Terminating' ||
    status?.actualState === 'Terminated'
  return {
    owner: spec.owner || undefined,
    shares: (spec.shares ?? []).map(shareFrom),
    ports: proxy?.httpEnabled === false ? new Map() : portsOf(spec, status),
    shell: proxy?.sshEnabled === false ? undefined : shellOf(spec, status),
    maxVisibility: visibilityFrom(proxy?.maxVisibility, 'authenticated'),
    isEnding,
  }
}

function shareFrom(share: NonNullable<Workspace['spec']['shares']>[number]): WorkspaceShare {
  const { user, group, linkDigest, ports, expiresAt } = share
  // A link without an end is none.
  const until = expiresAt === undefined ? (linkDigest === undefined ? Number.POSITIVE_INFINITY : 0) : Date.parse(expiresAt)
  const who = { user: user || undefined, group: group || undefined, link: linkDigest || undefined }
  // A time that cannot be read has passed.
  return { ...who, ports: ports ?? [], until: Number.isNaN(until) ? 0 : until }
}

function portsOf(spec: Workspace['spec'], status: Workspace['status']): ReadonlyMap<number, PublishedPort> {
  const found = new Map<number, PublishedPort>()
  for (const { name, port, url } of status?.ports ?? []) {
    if (url === undefined || !URL.canParse(url)) continue
    const names = [...(found.get(port)?.names ?? []), name]
    const isShell = names.includes(EDITOR)
    found.set(port, { port, names, host: new URL(url).host, visibility: visibilityOf(spec, port, isShell), isShell })
  }
  return found
}

const OF_OWNER: PublishedPort = { port: 22, names: [], host: '', visibility: 'owner', isShell: true }

const shellOf = (spec: Workspace['spec'], status: Workspace['status']): PublishedPort =>
  [...portsOf(spec, status).values()].find(({ isShell }) => isShell) ?? OF_OWNER

function visibilityOf(spec: Workspace['spec'], number: number, isShell: boolean): Visibility {
  const wishes = (spec.ports ?? []).filter(({ port }) => port === number)
  if (wishes.length === 0) return 'owner'
  const wished = wishes.map(({ visibility }) => visibilityFrom(visibility, 'owner'))
  return narrowest(...wished, isShell ? 'members' : 'public')
}

/** No part of an answer may go beyond this. Of none it is what needs no trust. */
export const narrowest = (...given: readonly Visibility[]): Visibility =>
  ORDER.find((visibility) => given.includes(visibility)) ?? 'owner'

/** A word that is not known, of a later version perhaps, lets nobody in but the owner. */
const visibilityFrom = (word: string | undefined, otherwise: Visibility): Visibility =>
  word === undefined ? otherwise : (ORDER.find((visibility) => visibility === word) ?? 'owner')
