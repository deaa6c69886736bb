import { hash } from 'node:crypto'
import { Failure, redactUrls, type Secret } from '../../std/index.ts'

/** Shown to the server. A token alone is sent as the password of a user whose name hosts ignore. */
export interface GitCredential {
  username?: string
  password: Secret<string>
}

/** How to log in to a host of `ssh://…`, and by which keys the host is known. */
export interface SshKey {
  /** As `ssh-keygen` writes it, without a passphrase. */
  privateKey: Secret<string>
  /** Lines of known_hosts(5). No other host is believed. */
  knownHosts: string
}

/** Credentials for a server, and the keys by which it is trusted. */
export interface GitAccess {
  readonly credential?: GitCredential | undefined
  readonly ssh?: SshKey | undefined
  /** PEM of authorities that are trusted instead of the machine's. */
  readonly authorities?: string | undefined
}

/** A repository as somebody reads it. */
export interface Remote extends GitAccess {
  /** Without credentials: `remoteUrl` made it. */
  readonly url: string
  /** Tells apart mirrors of one URL that were fetched with different rights. */
  readonly owner: string
}

export const PROTOCOLS = ['https', 'http', 'ssh'] as const
export type Protocol = (typeof PROTOCOLS)[number]

const REDACTED = '***'

/** The URL, if it is one that may be fetched. Refuses credentials here, so that nothing after this has to look for them. */
export function remoteUrl(text: string, protocols: readonly Protocol[]): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url?.hostname) throw refused('UrlInvalid', `url ${redactUrls(text)} is not a URL`, `Write ${protocols[0]}://host/path.`)
  const isSsh = url.protocol === 'ssh:'
  if ((url.username !== '' && !isSsh) || url.password !== '') {
    throw refused(
      'UrlHasCredentials',
      `url ${redactUrls(text)} has credentials in it`,
      'Put them into a Secret and name it in spec.credentialsSecretRef.',
    )
  }
  const scheme = url.protocol.slice(0, -1)
  if (!protocols.some((protocol) => protocol === scheme)) {
    throw refused(
      'ProtocolNotAllowed',
      `url ${redactUrls(text)} uses ${scheme}, which is not allowed here`,
      `Use one of: ${protocols.join(', ')}.`,
    )
  }
  // To curl it is another host than the one that is looked up here.
  if (url.hostname.endsWith('.'))
    throw refused('UrlInvalid', `url ${redactUrls(text)} has a dot behind its host`, 'Leave it away.')
  if (url.search !== '' || url.hash !== '')
    throw refused('UrlInvalid', `url ${redactUrls(text)} has a query or a fragment`, 'Leave it away.')
  return url.href
}

const refused = (reason: string, message: string, remedy: string) => new Failure('invalid', message, { reason, remedy })

/** Text of git with everything secret of this remote taken out, in each form in which it is sent. */
export function redact(text: string, { credential }: Remote): string {
  const clean = redactUrls(text)
  if (!credential) return clean
  const secrets = [
    authorizationOf(credential).replace(/^\S+ /, ''),
    credential.password.reveal(),
    encodeURIComponent(credential.password.reveal()),
  ]
  return secrets.filter((secret) => secret !== '').reduce((rest, secret) => rest.replaceAll(secret, REDACTED), clean)
}

export const authorizationOf = ({ username = 'git', password }: GitCredential): string =>
  `Basic ${Buffer.from(`${username}:${password.reveal()}`).toString('base64')}`

/** Name of the mirror's folder. */
export const mirrorName = ({ url, owner }: Remote): string => hash('sha256', JSON.stringify([url, owner])).slice(0, 40)
