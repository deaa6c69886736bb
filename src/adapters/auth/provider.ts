import { X509Certificate } from 'node:crypto'
import type { FetchImplementation, JWTVerifyGetKey } from 'jose'
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import { Agent, fetch } from 'undici'
import { type Clock, Failure, hours, remembered, type Secret } from '../../std/index.ts'
import { keysAt, type Logout, readLogout } from './logout.ts'

interface ProviderOptions {
  /** Its URL, without `.well-known`. */
  issuer: string
  clientId: string
  /** Without it the client is a public one, and PKCE alone protects the code. */
  clientSecret: Secret<string> | undefined
  /** PEM of the authorities that its certificate is checked by; those of the system without it. */
  ca: string | undefined
  /** It sends people back there. */
  redirectUri: string
  scopes: readonly string[]
  clock: Clock
}

export type Provider = ReturnType<typeof connectProvider>

/** So long a provider's own description of itself counts; it changes when the provider does. */
const DESCRIBED = hours(1)
const ANSWER_WITHIN_SECONDS = 10

/** An OpenID Connect provider: authorization code, always with PKCE, state and nonce. Throws `invalid` for authorities that cannot be read. */
export function connectProvider(options: ProviderOptions) {
  const { redirectUri, scopes, clock, ca, clientId } = options
  const trusting = ca === undefined ? undefined : fetchTrusting(ca)
  const fetching = trusting ? { [customFetch]: trusting } : {}
  let keys: { url: string; get: JWTVerifyGetKey } | undefined
  // A description that could not be had is not remembered: the next one who comes tries again.
  const describe = remembered(
    (who: ProviderOptions) => discover(who, fetching),
    () => options.issuer,
    clock,
    { fresh: DESCRIBED, most: 1 },
  )
  return {
    /** Gives, beside where to go, what has to be known again when somebody comes back; nobody else may know it. */
    async begin() {
      const configuration = await describe(options)
      const attempt = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() }
      const url = buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: scopes.join(' '),
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      })
      return { ...attempt, url }
    },
    /**
     * `back` is where somebody was sent. Gives what the provider says of them, and when that ends, in milliseconds since the epoch. Throws
     * `unauthorized` unless the provider vouches for them in this very attempt.
     */
    async finish(back: URL, { state, nonce, verifier }: Record<'state' | 'nonce' | 'verifier', string>) {
      const configuration = await describe(options)
      try {
        const tokens = await authorizationCodeGrant(configuration, back, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        const claims = tokens.claims()
        if (!claims) throw new Failure('unauthorized', 'the provider has sent no ID token')
        const seconds = tokens.expiresIn()
        return { claims, until: seconds === undefined ? claims.exp * 1000 : clock.now() + seconds * 1000 }
      } catch (thrown) {
        throw refusalOf(thrown)
      }
    },
    /** Reads what the provider says of sessions that it has ended. Throws `unauthorized` for what it has not said. */
    async logoutIn(token: string): Promise<Logout> {
      const {
        issuer,
        jwks_uri: url,
        id_token_signing_alg_values_supported: algorithms,
      } = (await describe(options)).serverMetadata()
      if (url === undefined) throw new Failure('unauthorized', 'the identity provider publishes no keys')
      if (keys?.url !== url) keys = { url, get: keysAt(url, trusting && gettingBy(trusting)) }
      return readLogout(token, keys.get, { issuer, audience: clientId, algorithms, now: clock.now() })
    },
    /** Finds where to sign out there as well, if it says so. */
    async endOf(backTo: string) {
      const configuration = await describe(options)
      if (configuration.serverMetadata().end_session_endpoint === undefined) return
      return buildEndSessionUrl(configuration, { post_logout_redirect_uri: backTo })
    },
  }
}

/** Given to a configuration, it is used for whatever that asks later. */
function fetchTrusting(ca: string): CustomFetch {
  const dispatcher = new Agent({ connect: { ca: authoritiesIn(ca) } })
  return (url, { body, ...rest }) => fetch(url, { ...rest, body: body ?? null, dispatcher })
}

/** For keys, which are only read. */
const gettingBy =
  (trusting: CustomFetch): FetchImplementation =>
  (url, { headers, method, redirect, signal }) =>
    trusting(url, { headers: Object.fromEntries(headers), method, redirect, signal, body: undefined })

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** Read here, because TLS leaves out what it cannot read, and then trusts nobody without a word. */
function authoritiesIn(pem: string): string[] {
  try {
    return (pem.match(BLOCK) ?? [pem]).map((one) => new X509Certificate(one).toString())
  } catch (cause) {
    throw new Failure('invalid', 'the authorities of the identity provider cannot be read', {
      cause,
      remedy: 'Give certificates as PEM, one after the other.',
    })
  }
}

async function discover(
  { issuer, clientId, clientSecret }: ProviderOptions,
  fetching: { [customFetch]?: CustomFetch },
): Promise<Configuration> {
  const url = new URL(issuer)
  const execute = [enableNonRepudiationChecks, ...(url.protocol === 'http:' ? [allowInsecureRequests] : [])]
  const options = { execute, timeout: ANSWER_WITHIN_SECONDS, ...fetching }
  const secret = clientSecret?.reveal()
  try {
    const found = await discovery(url, clientId, {}, secret === undefined ? None() : ClientSecretBasic(secret), options)
    const methods = found.serverMetadata().token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    if (secret === undefined || methods.includes('client_secret_basic')) return found
    return await discovery(url, clientId, {}, ClientSecretPost(secret), options)
  } catch (thrown) {
    throw new Failure('unavailable', `the identity provider ${url.host} does not say how to sign in`, {
      reason: 'ProviderAway',
      remedy: 'Check --oidc-issuer, and that the proxy reaches it',
      cause: thrown,
    })
  }
}

const UNREACHED = /fetch failed|timeout|OAUTH_TIMEOUT|ECONN|ENOTFOUND/i

/** A provider that does not answer is no refusal: then it is worth trying again. */
function refusalOf(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown
  const word = thrown instanceof Error ? `${'code' in thrown ? String(thrown.code) : ''} ${thrown.message}` : ''
  if (UNREACHED.test(word)) {
    const details = { reason: 'ProviderAway', remedy: 'Try again in a moment', cause: thrown }
    return new Failure('unavailable', 'the identity provider does not answer', details)
  }
  const details = { reason: 'SignInRefused', remedy: 'Open the workspace again', cause: thrown }
  return new Failure('unauthorized', 'the identity provider does not vouch for this sign-in', details)
}
