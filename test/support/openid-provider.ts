/** The OpenID Connect provider of npm, with pages on which people sign in. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import Provider, { type JWK } from 'oidc-provider'
import { listen } from '../../src/std/listen.ts'

export interface OpenidProvider {
  issuer: string
  clientId: string
  /** Where it tells the client that sessions are over: takes the form, gives the status of the answer. */
  onLogout: (form: string) => Promise<number>
  stop(): Promise<void>
}

/** On loopback. Whoever signs in with any password is who they say. */
export async function openidProvider(redirectUri: string): Promise<OpenidProvider> {
  const server = createServer()
  const issuer = `http://127.0.0.1:${await listen(server, '127.0.0.1', 0)}`
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key: JWK = { ...(await exportJWK(privateKey)), kty: 'RSA', kid: 'first', alg: 'RS256', use: 'sig' }
  const clientId = 'berth'
  const told = { onLogout: (_form: string) => Promise.resolve(404) }
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        token_endpoint_auth_method: 'none',
        redirect_uris: [redirectUri],
        backchannel_logout_uri: new URL('/backchannel-logout', redirectUri).href,
        backchannel_logout_session_required: true,
      },
    ],
    features: { backchannelLogout: { enabled: true } },
    // No name of the zone leads anywhere on this machine.
    fetch: async (_url, how) => new Response(undefined, { status: await told.onLogout(String(how?.body)) }),
    jwks: { keys: [key] },
    cookies: { keys: ['of-this-run'] },
    claims: { openid: ['sub'], email: ['email'] },
    // As the providers of organisations have it: what scopes allow is in the ID token.
    conformIdTokenClaims: false,
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, email: id }) }),
    ttl: { Session: 3600, Grant: 3600, Interaction: 3600, IdToken: 3600, AccessToken: 3600 },
  })
  server.on('request', provider.callback())
  return Object.assign(told, {
    issuer,
    clientId,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}
