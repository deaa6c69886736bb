import { readFile } from 'node:fs/promises'
import { equal, is, throws } from 'uvu/assert'
import { parseConfig } from '../../src/proxy/index.ts'
import { describe } from '../support/suite.ts'

const NEEDED = { url: 'https://sign-in.example.com', oidcIssuer: 'https://id.example.com/', oidcClientId: 'berth' }

describe('the settings of the proxy', (it) => {
  it('need the host for signing in, the provider, and the client', () => {
    for (const [key, flag] of Object.entries({ url: '--url', oidcIssuer: '--oidc-issuer', oidcClientId: '--oidc-client-id' }))
      throws(
        () => parseConfig({ ...NEEDED, [key]: undefined }, {}),
        (error: Error) => error.message.startsWith(flag),
      )
  })

  it('have defaults, and flags win over variables', () => {
    const config = parseConfig({ ...NEEDED, sessionHours: '2' }, { BERTH_SESSION_HOURS: '9', BERTH_LISTEN: '0.0.0.0:443' })
    equal([config.longestSession, config.listen, config.homeNamespace], [7_200_000, '0.0.0.0:443', 'berth-system'])
    equal(config.oidc.scopes, ['openid', 'profile', 'email'])
    is(config.identity.usernamePrefix, undefined)
    is(parseConfig({ ...NEEDED, oidcUsernamePrefix: '-' }, {}).identity.usernamePrefix, '')
    is(config.oidc.issuer, NEEDED.oidcIssuer)
  })

  it('take no plain text between people and the proxy, nor to a provider elsewhere', () => {
    for (const url of [
      'http://sign-in.example.com',
      'sign-in.example.com',
      'https://a@b.example',
      'https://b.example/path',
      'https://b.example/?q',
    ])
      throws(() => parseConfig({ ...NEEDED, url }, {}), /--url is/, url)
    throws(() => parseConfig({ ...NEEDED, oidcIssuer: 'http://id.example.com' }, {}), /--oidc-issuer is/)
    is(parseConfig({ ...NEEDED, oidcIssuer: 'http://127.0.0.1:8080' }, {}).oidc.issuer, 'http://127.0.0.1:8080')
  })

  it('take no certificates that the values of an installation may not ask for, and no longer ones', async () => {
    const schema = JSON.parse(await readFile(new URL('../../deploy/values.schema.json', import.meta.url), 'utf8'))
    const { minimum, maximum } = schema.properties.proxy.properties.sshCertificatesFor
    const withHours = (hours: number) =>
      parseConfig({ ...NEEDED, sshListen: '127.0.0.1:0', sshCertificatesFor: String(hours) }, {}).ssh?.certificatesFor
    equal([minimum, maximum].map(withHours), [3_600_000, maximum * 3_600_000])
    for (const outside of [minimum - 1, maximum + 1])
      throws(() => withHours(outside), /--ssh-certificates-for is/, String(outside))
  })

  it('say what is wrong with a number', () => {
    throws(() => parseConfig({ ...NEEDED, sessionHours: '0' }, {}), /--session-hours is "0"/)
    throws(() => parseConfig({ ...NEEDED, tlsCert: 'a' }, {}), /--tls-key is/)
    for (const sshAddress of ['ssh://a', 'a b', 'a:99999', '-a', 'a:', 'ada@a'])
      throws(() => parseConfig({ ...NEEDED, sshListen: '127.0.0.1:0', sshAddress }, {}), /--ssh-address is/, sshAddress)
    throws(() => parseConfig({ ...NEEDED, sshTokens: true }, {}), /--ssh-listen is/)
    throws(() => parseConfig({ ...NEEDED, sshCertificatesFor: '8' }, {}), /--ssh-listen is/)
    for (const sshCertificatesFor of ['0', '-1', '1.5', '8h', '13'])
      throws(
        () => parseConfig({ ...NEEDED, sshListen: '127.0.0.1:0', sshCertificatesFor }, {}),
        /--ssh-certificates-for is/,
        sshCertificatesFor,
      )
    throws(() => parseConfig(NEEDED, { BERTH_PASS_AUTHORIZATION: 'yes' }), /BERTH_PASS_AUTHORIZATION is "yes"/)
  })
})
