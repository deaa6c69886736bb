import { equal, is } from 'uvu/assert'
import { createKeyPair, readUnprovedCertificate } from '../../../src/adapters/ssh/index.ts'
import { createCertificates } from '../../../src/proxy/ssh/certificates.ts'
import type { Session } from '../../../src/proxy/web/ports.ts'
import { hours, minutes, seconds } from '../../../src/std/index.ts'
import { steppedClock } from '../../support/clock.ts'
import { failureOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'

describe('what a certificate for SSH says', (it) => {
  const [signer, holder] = [createKeyPair(), createKeyPair()]
  const key = { type: 'ssh-ed25519', blob: holder.line.split(' ')[1] ?? '' }
  const issuing = () => {
    const clock = steppedClock()
    const signedOut = { at: 0 }
    const certificates = createCertificates({
      authority: { current: () => signer },
      longest: hours(8),
      sessions: { holds: ({ since, until }) => until > clock.now() && signedOut.at < since },
      clock,
    })
    const issue = (user: string, until: number) => {
      const session: Session = { person: { user, groups: ['staff'] }, since: clock.now(), until }
      return readUnprovedCertificate(Buffer.from(certificates.issue(session, key, hours(2)).text, 'base64'))
    }
    return { certificates, clock, signedOut, issue }
  }

  it('is that it lasts longer than a token of a person, and no longer than one of an account', () => {
    const { clock, issue } = issuing()
    const until = clock.now() + minutes(10)
    is(issue('ada@example.com', until).until, clock.now() + hours(2))
    is(issue('system:serviceaccount:team-a:job', until).until, until)
    is(issue('system:serviceaccount:team-a:job', clock.now() + hours(9)).until, clock.now() + hours(2))
  })

  it('is nothing in the second of a sign-out: whole seconds are said, and it would have begun before that', async () => {
    const { clock, signedOut, issue, certificates } = issuing()
    await clock.step(400)
    signedOut.at = clock.now()
    await clock.step(400)
    const { code, message } = await failureOf(async () => issue('ada@example.com', clock.now() + hours(1)))
    is(code, 'unavailable')
    is(message.startsWith('it would not count: you have just been signed out everywhere'), true, message)
    await clock.step(seconds(1))
    const session = certificates.sessionOf(issue('ada@example.com', clock.now() + hours(1)))
    equal(typeof session === 'string' ? session : session.person, { user: 'ada@example.com', groups: ['staff'] })
  })
})
