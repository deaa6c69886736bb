/** The OpenID Connect provider of npm, with pages on which people sign in. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { exportJWK, generateKeyPair } from 'jose'
import Provider, { type JWK } from 'oidc-provider'
import type { Page } from 'playwright-core'
import { listen } from '../../src/std/listen.ts'

export interface OpenidProvider {
  issuer: string
  /** Where it is on 127.0.0.1. */
  port: number
  clientId: string
  /** Where it tells the client that sessions are over: takes the form, gives the status of the answer. */
  onLogout: (form: string) => Promise<number>
  stop(): Promise<void>
}

interface ProviderOptions {
  /** Its certificate; it speaks HTTP without one. */
  tls?: { cert: string; key: string }
  /** How others know it, where something leads from there to its port. */
  issuer?: string
  /** What the client shows, where it has one. */
  clientSecret?: string
}

/** On loopback. Whoever signs in with any password is who they say. */
export async function openidProvider(redirectUri: string, options: ProviderOptions = {}): Promise<OpenidProvider> {
  const { tls, clientSecret } = options
  const server = tls ? createSecureServer(tls) : createServer()
  const port = await listen(server, '127.0.0.1', 0)
  const issuer = options.issuer ?? `${tls ? 'https' : 'http'}://127.0.0.1:${port}`
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key: JWK = { ...(await exportJWK(privateKey)), kty: 'RSA', kid: 'first', alg: 'RS256', use: 'sig' }
  const clientId = 'berth'
  const told = { onLogout: (_form: string) => Promise.resolve(404) }
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        ...(clientSecret === undefined
          ? { token_endpoint_auth_method: 'none' as const }
          : { token_endpoint_auth_method: 'client_secret_basic' as const, client_secret: clientSecret }),
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
    port,
    clientId,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}

/** Types a name into its page, and agrees to what it asks then. */
export async function fillIn(page: Page, email: string): Promise<void> {
  await page.fill('input[name=login]', email)
  await page.fill('input[name=password]', 'any')
  await page.click('button[type=submit]')
  await page.getByRole('button', { name: 'Continue' }).click()
}
