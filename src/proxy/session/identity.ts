import type { Person } from '../../engines/access/index.ts'
import { Failure } from '../../std/index.ts'

/** Claims become names by these: the same settings, with the same meaning, as those of an API server for OpenID Connect. */
export interface IdentitySettings {
  issuer: string
  usernameClaim: string
  /** `undefined`: the issuer and `#`, except for `email`. */
  usernamePrefix: string | undefined
  /** Without it nobody is in a group. */
  groupsClaim: string | undefined
  groupsPrefix: string
}

/** Names of the cluster itself: a provider that gave one would make somebody a controller. */
const RESERVED = 'system:'
const LONGEST = 512
/** They travel in a cookie, of which browsers take 4 KB. */
const GROUPS_BYTES = 2048

/** Whom the API server would see. Throws `unauthorized` for claims that name nobody. */
export function personFrom(claims: Readonly<Record<string, unknown>>, settings: IdentitySettings): Person {
  const { usernameClaim, usernamePrefix, issuer } = settings
  const name = claims[usernameClaim]
  if (typeof name !== 'string' || name === '') throw nobody(`the claim ${usernameClaim} names nobody`)
  // An address that nobody has proved may be anybody's.
  if (usernameClaim === 'email' && claims.email_verified !== undefined && claims.email_verified !== true)
    throw nobody('the e-mail address has not been verified')
  const prefix = usernamePrefix ?? (usernameClaim === 'email' ? '' : `${issuer}#`)
  const user = prefix + name
  if (user.startsWith(RESERVED) || user.length > LONGEST || !isPrintable(user)) throw nobody('the name cannot be a user name')
  return { user, groups: groupsFrom(claims, settings) }
}

function groupsFrom(claims: Readonly<Record<string, unknown>>, { groupsClaim, groupsPrefix }: IdentitySettings): string[] {
  const given = groupsClaim === undefined ? [] : claims[groupsClaim]
  const names = typeof given === 'string' ? [given] : Array.isArray(given) ? given : []
  const groups: string[] = []
  let bytes = 0
  for (const name of names) {
    if (typeof name !== 'string' || name === '') continue
    const group = groupsPrefix + name
    bytes += Buffer.byteLength(group) + 3
    // A person who is in more groups than fit has the first of them: less is given, never more.
    if (bytes > GROUPS_BYTES) break
    if (!group.startsWith(RESERVED) && isPrintable(group)) groups.push(group)
  }
  return groups
}

const isPrintable = (text: string): boolean => !/\p{Cc}/u.test(text)

const nobody = (why: string): Failure =>
  new Failure('unauthorized', why, {
    reason: 'NobodyNamed',
    remedy: 'Ask the platform engineers to check the claims that the provider sends',
  })
