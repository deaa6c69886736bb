import { type AccessRules, narrowest, type PublishedPort, type Visibility, type WorkspaceShare } from './rules.ts'

/** Somebody who has signed in. */
export interface Person {
  /** As the API server would call them: the same name as that of an owner. */
  readonly user: string
  readonly groups: readonly string[]
}

type RefusedBecause =
  /** Nobody gets in: the workspace is being terminated. */
  | 'Ending'
  /** Nobody gets in: no such port is declared and published. */
  | 'PortNotDeclared'
  /** It is not known who asks, and that matters. */
  | 'SignInNeeded'
  /** It is not theirs, and nobody shares it with them. */
  | 'NotShared'
  /** Somebody did, and that has ended. */
  | 'ShareExpired'

export type Judgement =
  | {
      readonly may: true
      readonly as: 'owner' | 'share' | 'link' | 'role' | 'member' | 'authenticated' | 'public'
      /** When it is no longer so if nothing else changes, milliseconds since the epoch. */
      readonly until: number
    }
  | { readonly may: false; readonly why: RefusedBecause }

/** The number of a port, or the shell over SSH. */
export type Way = number | 'ssh'

interface AccessQuestion {
  readonly rules: AccessRules
  readonly port: Way
  /** `undefined`: nobody has signed in. */
  readonly person: Person | undefined
  /** Digests of the links that came with the request. */
  readonly links?: readonly string[]
  /** The roles of the cluster let them open the workspace. */
  readonly hasRole?: boolean
  /** Milliseconds since the epoch. */
  readonly now: number
}

const ALWAYS = Number.POSITIVE_INFINITY
const no = (why: RefusedBecause): Judgement => ({ may: false, why })

/** Decides about access, for everybody. What nothing allows is refused. */
export function judgeAccess({ rules, port: way, person, links = [], hasRole = false, now }: AccessQuestion): Judgement {
  if (rules.isEnding) return no('Ending')
  const port = way === 'ssh' ? rules.shell : rules.ports.get(way)
  if (!port) return no('PortNotDeclared')
  const visibility = narrowest(port.visibility, rules.maxVisibility)
  if (visibility === 'public') return { may: true, as: 'public', until: ALWAYS }
  const opens = (share: WorkspaceShare): boolean => share.link !== undefined && links.includes(share.link)
  const byLink = judgeLinks(rules.shares.filter(opens), port, rules.maxVisibility, now)
  // An empty name would be equal to one that is missing.
  if (!person || person.user === '') return rules.maxVisibility === 'public' && byLink.may ? byLink : no('SignInNeeded')
  if (person.user === rules.owner) return { may: true, as: 'owner', until: ALWAYS }
  // Without an editor there is no port that anybody could have been let into.
  if (port.names.length === 0) return no('NotShared')
  if (visibility === 'authenticated') return { may: true, as: 'authenticated', until: ALWAYS }
  if (rules.maxVisibility === 'owner') return no('NotShared')
  if (hasRole) return { may: true, as: 'role', until: ALWAYS }
  // Of a port for members every share lets in, whatever ports it names; rules.ts (visibilityOf) says which ports are for members.
  const byShare = judgeShares(
    rules.shares.filter((share) => isFor(share, person)),
    { names: port.names, isForMembers: visibility === 'members', now },
  )
  return byShare.may || byLink.may ? longer(byShare, byLink) : byShare.why === 'NotShared' ? byLink : byShare
}

/** Everybody who has it gets in, so it counts only where the class lets in everybody who has signed in, and never into a shell. */
function judgeLinks(shares: readonly WorkspaceShare[], port: PublishedPort, maxVisibility: Visibility, now: number): Judgement {
  if (port.isShell || (maxVisibility !== 'authenticated' && maxVisibility !== 'public')) return no('NotShared')
  const found = judgeShares(shares, { names: port.names, isForMembers: false, now })
  return found.may ? { ...found, as: 'link' } : found
}

function longer(one: Judgement, other: Judgement): Judgement {
  if (!(one.may && other.may)) return one.may ? one : other
  return other.until > one.until ? other : one
}

const isFor = ({ user, group }: WorkspaceShare, person: Person): boolean =>
  user === undefined ? group !== undefined && person.groups.includes(group) : user === person.user

/** The share that lasts longest counts. */
function judgeShares(
  shares: readonly WorkspaceShare[],
  { names, isForMembers, now }: { names: readonly string[]; isForMembers: boolean; now: number },
): Judgement {
  const naming = shares.filter(({ ports }) => ports.some((name) => names.includes(name)))
  const letting = isForMembers ? shares : naming
  const until = Math.max(0, ...letting.map((share) => share.until))
  if (until > now) return { may: true, as: naming.some((share) => share.until > now) ? 'share' : 'member', until }
  return no(letting.length > 0 ? 'ShareExpired' : 'NotShared')
}
