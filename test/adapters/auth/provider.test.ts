import { equal, is, match, throws } from 'uvu/assert'
import { connectProvider } from '../../../src/adapters/auth/index.ts'
import { createAuthority, issueCertificate } from '../../../src/adapters/certificates/index.ts'
import { hours, systemClock } from '../../../src/std/index.ts'
import { identityProvider } from '../../support/identity-provider.ts'
import { describe } from '../../support/suite.ts'

describe('an identity provider with a certificate of an authority of its own', (it) => {
  it('is believed where one knows that authority, which has to be one', async () => {
    const validity = { clock: systemClock, lifetime: hours(1) }
    const [authority, stranger] = [await createAuthority('own', validity), await createAuthority('other', validity)]
    const asked = { name: 'provider', dnsNames: [], addresses: ['127.0.0.1'], usages: ['server'] as const }
    const { certificate, key } = await issueCertificate(authority, asked, validity)
    const provider = await identityProvider({ tls: { cert: certificate, key } })
    try {
      const redirectUri = 'https://sign-in.example.com/callback'
      const { issuer, clientId } = provider
      const connected = (ca: string | undefined) =>
        connectProvider({ issuer, clientId, redirectUri, clientSecret: undefined, scopes: ['openid'], clock: systemClock, ca })
      // One of several.
      const known = connected(`${stranger.certificate}\n${authority.certificate}`)
      match((await known.begin()).url.href, `${issuer}/authorize?`)
      equal(await known.logoutIn(await provider.logoutToken({ sub: 'ada', sid: 'one' })), { subject: 'ada', session: 'one' })
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
