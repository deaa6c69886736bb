import { is, match, throws } from 'uvu/assert'
import { connectProvider } from '../../src/adapters/auth/index.ts'
import { createAuthority, issueCertificate } from '../../src/adapters/certificates/index.ts'
import { freePort } from '../../src/adapters/control-plane/index.ts'
import { hours, systemClock } from '../../src/std/index.ts'
import { identityProvider } from '../support/identity-provider.ts'
import { describe } from '../support/suite.ts'
import { SIGN_IN } from './running-proxy.ts'
import { type Stage, setStage } from './stage.ts'

describe('an identity provider that is away', (it) => {
  let stage: Stage
  it.before(async () => {
    stage = await setStage(
      (_request, response) => response.end('the app'),
      async () => ({
        oidcIssuer: `http://127.0.0.1:${await freePort()}`,
      }),
    )
  })
  it.after(() => stage.close())

  it('is told to whoever wants to sign in, and counted and logged under the number that they see', async () => {
    await stage.workspace('web')
    const { status, body, url } = await stage.browser().open('https://3000-web.ws.example.com/')
    is(url.host, SIGN_IN)
    is(status, 503)
    match(body, 'Nobody can sign in just now')
    const [, number = 'none'] = /\b([0-9a-f]{16})\b/.exec(body) ?? []
    const line = stage.proxy
      .log()
      .split('\n')
      .find((one) => one.includes(number) && one.includes('"level":50'))
    match(line ?? '', /the identity provider 127.* does not say how to sign in.*A request could not be decided/)
    const metrics = await (await fetch(`http://${stage.proxy.addresses.operations}/metrics`)).text()
    match(metrics, /^berth_proxy_requests_total\{outcome="sign-in-away",status="5xx"\} 1$/m)
  })
})

describe('an identity provider with a certificate of an authority of its own', (it) => {
  it('is believed where the proxy knows that authority, which has to be one', async () => {
    const validity = { clock: systemClock, lifetime: hours(1) }
    const [authority, stranger] = [await createAuthority('own', validity), await createAuthority('other', validity)]
    const asked = { name: 'provider', dnsNames: [], addresses: ['127.0.0.1'], usages: ['server'] as const }
    const { certificate, key } = await issueCertificate(authority, asked, validity)
    const provider = await identityProvider({ tls: { cert: certificate, key } })
    try {
      const redirectUri = `https://${SIGN_IN}/callback`
      const { issuer, clientId } = provider
      const connected = (ca: string | undefined) =>
        connectProvider({ issuer, clientId, redirectUri, clientSecret: undefined, scopes: ['openid'], clock: systemClock, ca })
      const { url } = await connected(authority.certificate).begin()
      match(url.href, `${issuer}/authorize?`)
      for (const ca of [undefined, stranger.certificate]) {
        const refused = await connected(ca)
          .begin()
          .catch((thrown) => thrown)
        is(refused.reason, 'ProviderAway')
      }
      throws(() => connected('no PEM'), /the authorities of the identity provider cannot be read/)
    } finally {
      await provider.close()
    }
  })
})
