import { type PublicKey, signCertificate, type UserCertificate } from '../../adapters/ssh/index.ts'
import { accountOfUser, SSH_GROUPS } from '../../api/index.ts'
import { type Clock, Failure, minutes, seconds } from '../../std/index.ts'
import type { Session, Sessions } from '../web/ports.ts'
import type { UserAuthority } from './authority.ts'

/** What is certified of somebody is who they are, and nothing of where they may go: that is judged at each login. */
export interface Certificates {
  /** As a line has it. */
  authority(): string | undefined
  /** The second word of the line that certifies the key, and its number. Throws a sentence that says why it is not. */
  issue(session: Session, key: PublicKey, length: number): { text: string; serial: bigint }
  /** Whose session it is, or why it is nobody's. */
  sessionOf(certificate: UserCertificate): Session | string
}

interface CertificateSources {
  authority: Pick<UserAuthority, 'current'>
  /** The longest, milliseconds. */
  longest: number
  sessions: Pick<Sessions, 'holds'>
  clock: Clock
}

/** A client sends all of it with each login. */
const MOST_OF_GROUPS = 16 * 1024
const MOST_OF_NAME = 1024
const SHORTEST = minutes(1)
/** So much may the clocks of several proxies differ. */
const SKEW = minutes(1)

export function createCertificates({ authority, longest, sessions, clock }: CertificateSources): Certificates {
  return {
    authority: () => authority.current()?.line,
    issue(session, key, length) {
      const signer = authority.current()
      if (!signer)
        throw new Failure('unavailable', 'there is no key just now that signs certificates', { remedy: 'Try again in a moment.' })
      if (length > longest || length < SHORTEST)
        throw new Failure(
          'invalid',
          `certificates count from 60 to ${longest / seconds(1)} seconds here, and not ${length / 1000}`,
        )
      const { person } = session
      const name = wordFor(person.user)
      const groups = JSON.stringify(person.groups)
      if (name.length > MOST_OF_NAME || Buffer.byteLength(groups) > MOST_OF_GROUPS)
        throw new Failure('invalid', 'your name and your groups are more than fits into a certificate', {
          remedy: 'Log in with a key, or with a token where the proxy takes them.',
        })
      // As a certificate says it.
      const since = Math.floor(clock.now() / seconds(1)) * seconds(1)
      // Tokens of accounts are short where somebody wants them so, as those of a Job; one of a person is renewed, and the person stays.
      const until = accountOfUser(person.user) ? Math.min(since + length, session.until) : since + length
      if (!sessions.holds({ person, since, until }))
        throw new Failure('unavailable', 'it would not count: you have just been signed out everywhere, or your token ends now', {
          remedy: 'Try again in a moment.',
        })
      const said = { keyId: name, principals: [name], since, until, extensions: new Map([[SSH_GROUPS, groups]]) }
      return signCertificate(signer, { key, ...said })
    },
    sessionOf({ keyId, principals, since, until, criticalOptions, extensions }) {
      const [name = '', ...others] = principals
      const [option] = criticalOptions.keys()
      if (option !== undefined) return 'it has an option that nothing is known of here'
      const user = nameIn(name)
      if (user === undefined || keyId !== name || others.length > 0) return 'it names nobody as this proxy does'
      const groups = groupsIn(extensions.get(SSH_GROUPS))
      if (!groups) return 'it says no groups as this proxy does'
      const now = clock.now()
      if (now < since - SKEW) return 'it does not count yet'
      if (now >= until) return 'it is over'
      if (until - since > longest) return 'it counts longer than certificates may here'
      const session = { person: { user, groups }, since, until }
      return sessions.holds(session) ? session : 'its person has signed out everywhere since'
    },
  }
}

/** A name as one word of ASCII, so that nothing that shows a certificate shows another one: what is neither letter nor digit is `%XX`. */
const wordFor = (user: string): string =>
  [...Buffer.from(user, 'utf8')].map((byte) => (isPlain(byte) ? String.fromCharCode(byte) : escaped(byte))).join('')

const isPlain = (byte: number): boolean => /^[\w.@:-]$/.test(String.fromCharCode(byte))
const escaped = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`

/** `undefined` for a word that is written otherwise. */
function nameIn(word: string): string | undefined {
  if (word.length > MOST_OF_NAME || !/^(?:[\w.@:-]|%[0-9A-F]{2})+$/.test(word)) return
  const bytes = word.replaceAll(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  const user = Buffer.from(bytes, 'latin1').toString('utf8')
  return wordFor(user) === word ? user : undefined
}

function groupsIn(text: string | undefined): string[] | undefined {
  if (text === undefined || text.length > MOST_OF_GROUPS) return
  try {
    const groups: unknown = JSON.parse(text)
    return Array.isArray(groups) && groups.every((group) => typeof group === 'string') ? groups : undefined
  } catch {
    // It is not written as we write it.
    return undefined
  }
}
