import { createHash, randomBytes, type webcrypto } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { systemClock } from '../../src/std/index.ts'
import { listen } from '../../src/std/listen.ts'

/** What the provider says of somebody. */
export interface Claims {
  sub: string
  [claim: string]: unknown
}

export interface IdentityProvider {
  readonly issuer: string
  /** Where it is on 127.0.0.1. */
  readonly port: number
  readonly clientId: string
  /** Whoever comes next is signed in as this one. */
  signInAs(claims: Claims): void
  /** Seconds that what it says counts. */
  lifetime: number
  /** Changes what the next ID token says of itself; for tests of those who are shown it. */
  forge: ((claims: Record<string, unknown>) => Record<string, unknown>) | undefined
  /** With another key than it publishes. */
  signsWrongly: boolean
  /** Says that sessions are over. */
  logoutToken(claims: Record<string, unknown>): Promise<string>
  close(): Promise<void>
}

interface Code {
  claims: Claims
  challenge: string
  nonce: string
  redirectUri: string
}

const CLIENT = 'berth'

/**
 * A small OpenID Connect provider on loopback, real in what matters to a client: discovery, keys, authorization code with PKCE (a
 * code counts once, for the redirect and the challenge it was given for), ID tokens signed with RS256. Nobody types a password. With `tls`
 * it is behind this certificate; `issuer` is how others know it, where something leads from there to its port.
 */
export async function identityProvider({
  tls,
  issuer,
}: {
  tls?: { cert: string; key: string }
  issuer?: string
} = {}): Promise<IdentityProvider> {
  const [own, foreign] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')])
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'first', alg: 'RS256', use: 'sig' }
  const codes = new Map<string, Code>()
  let person: Claims = { sub: 'nobody' }

  const idToken = async ({ claims, nonce }: Code): Promise<string> => {
    const now = Math.floor(systemClock.now() / 1000)
    const said = { iss: provider.issuer, aud: CLIENT, iat: now, exp: now + provider.lifetime, nonce, ...claims }
    return new SignJWT(provider.forge?.(said) ?? said)
      .setProtectedHeader({ alg: 'RS256', kid: 'first' })
      .sign(provider.signsWrongly ? foreign.privateKey : own.privateKey)
  }
  const authorize = (query: URLSearchParams, response: ServerResponse) => {
    const asked = (name: string) => query.get(name) ?? ''
    const isWell =
      asked('client_id') === CLIENT &&
      asked('response_type') === 'code' &&
      asked('code_challenge_method') === 'S256' &&
      asked('scope').includes('openid')
    if (!isWell) return json(response, { error: 'invalid_request' }, 400)
    const code = randomBytes(16).toString('hex')
    const given = { challenge: asked('code_challenge'), nonce: asked('nonce'), redirectUri: asked('redirect_uri') }
    codes.set(code, { claims: person, ...given })
    const back = new URL(given.redirectUri)
    for (const [name, value] of Object.entries({ code, state: asked('state'), iss: provider.issuer }))
      back.searchParams.set(name, value)
    response.writeHead(302, { location: back.href }).end()
  }
  const token = async (request: IncomingMessage, response: ServerResponse) => {
    const given = new URLSearchParams(await text(request))
    const code = codes.get(given.get('code') ?? '')
    codes.delete(given.get('code') ?? '')
    const verifier = given.get('code_verifier') ?? ''
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    if (code?.challenge !== challenge || code.redirectUri !== given.get('redirect_uri'))
      return json(response, { error: 'invalid_grant' }, 400)
    const access = { access_token: randomBytes(8).toString('hex'), token_type: 'Bearer', expires_in: provider.lifetime }
    json(response, { ...access, id_token: await idToken(code) })
  }
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', provider.issuer)
    if (pathname === '/.well-known/openid-configuration') return json(response, describe(provider.issuer))
    if (pathname === '/keys') return json(response, { keys: [jwk] })
    if (pathname === '/authorize') return authorize(searchParams, response)
    if (pathname === '/token') return void token(request, response)
    json(response, {}, 404)
  }
  const server = tls ? createSecureServer(tls, answer) : createServer(answer)
  const port = await listen(server, '127.0.0.1', 0)
  const provider: IdentityProvider = {
    issuer: issuer ?? `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    clientId: CLIENT,
    lifetime: 3600,
    forge: undefined,
    signsWrongly: false,
    logoutToken: (claims) => logoutTokenOf(provider, claims, provider.signsWrongly ? foreign.privateKey : own.privateKey),
    signInAs: (claims) => {
      person = claims
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return provider
}

function logoutTokenOf({ issuer }: IdentityProvider, claims: Record<string, unknown>, key: webcrypto.CryptoKey): Promise<string> {
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const iat = Math.floor(systemClock.now() / 1000)
  return new SignJWT({ iss: issuer, aud: CLIENT, iat, jti: randomBytes(8).toString('hex'), events, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'first', typ: 'logout+jwt' })
    .sign(key)
}

const json = (response: ServerResponse, value: unknown, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))

const describe = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
})
