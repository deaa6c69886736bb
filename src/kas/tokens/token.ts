import { createHash } from 'node:crypto'
import { Secret } from '../../std/index.ts'

/** The token of the header; its scheme may be written in any case. */
export function bearerIn(authorization: string | undefined): Secret<string> | undefined {
  const [, token] = /^bearer +(\S+)$/i.exec(authorization ?? '') ?? []
  return token === undefined ? undefined : new Secret(token)
}

/** Stands for a token wherever one is remembered or compared. Only digests are compared, so the time taken tells nothing of the token. */
export const digestOf = (token: Secret<string>): string => createHash('sha256').update(token.reveal()).digest('hex')
