import { createHash } from 'node:crypto'
import { Failure, redactUrls, type Secret } from '../../std/index.ts'

/** What the server is shown. A token alone is sent as the password of a user whose name hosts ignore. */
export interface GitCredential {
  username?: string
  password: Secret<string>
}

/** A repository as somebody reads it. */
export interface Remote {
  /** Without credentials: `remoteUrl` made it. */
  readonly url: string
  readonly credential?: GitCredential | undefined
  /** Tells apart mirrors of one URL that were fetched with different rights. */
  readonly owner: string
}

export type Protocol = 'https' | 'http'

const REDACTED = '***'

/** The URL, if it is one that may be fetched. Refuses credentials here, so that nothing after this has to look for them. */
export function remoteUrl(text: string, protocols: readonly Protocol[]): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url?.hostname) throw refused('UrlInvalid', `url ${redactUrls(text)} is not a URL`, `Write ${protocols[0]}://host/path.`)
  if (url.username !== '' || url.password !== '') {
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
export const mirrorName = ({ url, owner }: Remote): string =>
  createHash('sha256')
    .update(JSON.stringify([url, owner]))
    .digest('hex')
    .slice(0, 40)
