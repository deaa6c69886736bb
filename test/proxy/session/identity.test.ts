import { equal, throws } from 'uvu/assert'
import { type IdentitySettings, personFrom } from '../../../src/proxy/session/identity.ts'
import { describe } from '../../support/suite.ts'

const SETTINGS: IdentitySettings = {
  issuer: 'https://id.example.com',
  usernameClaim: 'sub',
  usernamePrefix: undefined,
  groupsClaim: undefined,
  groupsPrefix: '',
}
const byEmail = { ...SETTINGS, usernameClaim: 'email' }
const withGroups = { ...byEmail, groupsClaim: 'groups', groupsPrefix: 'oidc:' }

describe('names from claims', (it) => {
  it('are those that the API server makes', () => {
    equal(personFrom({ sub: '42' }, SETTINGS).user, 'https://id.example.com#42')
    equal(personFrom({ sub: '42' }, { ...SETTINGS, usernamePrefix: '' }).user, '42')
    equal(personFrom({ sub: '42' }, { ...SETTINGS, usernamePrefix: 'oidc:' }).user, 'oidc:42')
    equal(personFrom({ email: 'ada@example.com' }, byEmail).user, 'ada@example.com')
    equal(personFrom({ email: 'ada@example.com', groups: ['a', 'b'] }, withGroups).groups, ['oidc:a', 'oidc:b'])
    equal(personFrom({ email: 'ada@example.com', groups: 'a' }, withGroups).groups, ['oidc:a'])
    equal(personFrom({ email: 'ada@example.com', groups: ['a'] }, byEmail).groups, [])
  })

  it('are nobody’s where the claim is no name', () => {
    for (const sub of [undefined, '', 42, null, ['a'], { a: 1 }]) throws(() => personFrom({ sub }, SETTINGS), /names nobody/)
  })

  it('are refused for an address that is not verified', () => {
    for (const email_verified of [false, 'true', 1, null])
      throws(() => personFrom({ email: 'ada@example.com', email_verified }, byEmail), /not been verified/)
  })

  it('are never those of the cluster itself', () => {
    const plain = { ...SETTINGS, usernamePrefix: '' }
    throws(() => personFrom({ sub: 'system:admin' }, plain), /cannot be a user name/)
    throws(() => personFrom({ sub: 'a\nb' }, plain), /cannot be a user name/)
    throws(() => personFrom({ sub: 'a'.repeat(513) }, plain), /cannot be a user name/)
    const claims = { email: 'a@b', groups: ['system:masters', 'dev', '', 7, 'a\u0000'] }
    equal(personFrom(claims, { ...withGroups, groupsPrefix: '' }).groups, ['dev'])
  })

  it('come with as many groups as a cookie holds', () => {
    const groups = Array.from({ length: 500 }, (_, n) => `group-${n}`)
    const found = personFrom({ email: 'a@b', groups }, withGroups).groups
    equal(
      found,
      groups.slice(0, found.length).map((name) => `oidc:${name}`),
    )
    equal(found.length > 50 && JSON.stringify(found).length < 2100, true)
  })
})
