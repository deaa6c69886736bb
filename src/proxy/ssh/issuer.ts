import type { SshVisitor } from '../../adapters/ssh/index.ts'
import { certificateWishIn } from '../../api/index.ts'
import { type Clock, Failure, type Log, seconds } from '../../std/index.ts'
import type { Session } from '../web/ports.ts'
import type { Certificates } from './certificates.ts'
import { tell } from './words.ts'

interface IssuerServices {
  certificates: Certificates
  clock: Clock
  log: Log
}

/** There is one thing to ask, and that is done at once. */
const STAYS = seconds(30)

/** Somebody who has shown a token, and gets certificates for it: nothing else can be asked of this visitor. */
export function createIssuer({ certificates, clock, log: plain }: IssuerServices, session: Session): SshVisitor {
  const log = plain.with({ user: session.person.user })
  const known = { from: '' }
  return {
    person: session.person.user,
    entered({ from, cut, closed }) {
      known.from = from
      const cancel = clock.after(STAYS, cut)
      closed.addEventListener('abort', cancel)
    },
    run({ kind, text }, channel) {
      const wish = kind === 'command' ? certificateWishIn(text) : undefined
      try {
        if (!wish)
          throw new Failure('invalid', 'certificates are given here, and nothing else', { remedy: 'Use `berth ssh-cert`.' })
        const key = { type: 'ssh-ed25519', blob: wish.key }
        const { text: certificate, serial } = certificates.issue(session, key, seconds(wish.seconds))
        log.info('A certificate for SSH was issued', {
          ...{ from: known.from, serial: String(serial), key: wish.key, seconds: wish.seconds },
        })
        void channel.write(Buffer.from(`${certificate}\n`)).then(() => channel.end(0))
      } catch (thrown) {
        tell(channel, thrown, log)
      }
    },
    connect: () => Promise.reject(new Failure('forbidden', 'certificates are given here, and nothing else')),
    refused: (what) => log.info('Something was refused over SSH', { what, from: known.from }),
  }
}
