import type { AuthContext, AuthenticationType, Connection } from 'ssh2'
import { Failure, type Log, Secret } from '../../std/index.ts'
import { CERTIFICATE_TYPE, isHeld, readCertificate } from './certificate.ts'
import type { SshDoor, SshVisitor } from './door.ts'
import { isProof, readShown } from './keys.ts'

/** So many of a connection may fail. */
const MOST_FAILED = 6
const LONGEST_USER = 320
const LONGEST_PASSWORD = 16 * 1024

interface LoginFrame {
  door: SshDoor
  from: string
  /** Hangs up. */
  cut(): void
  /** Whether one more password is judged: that costs others something. */
  mayTry(): boolean
  /** Called once, before the client hears of it: what it may have asked for already must be understood. */
  entered(visitor: SshVisitor): void
  log: Log
}

/** Asks until somebody has proved who they are. Whatever is wrong, the answer is the same. */
export function awaitLogin(client: Connection, { door, from, mayTry, cut, entered, log }: LoginFrame): void {
  let failed = 0
  const refuse = (context: AuthContext, isAttempt: boolean) => {
    if (isAttempt && ++failed >= MOST_FAILED) {
      log.info('Somebody did not log in over SSH', { from, attempts: failed })
      return cut()
    }
    const methods: AuthenticationType[] = door.byPassword?.(context.username) ? ['publickey', 'password'] : ['publickey']
    context.reject(methods)
  }
  const enter = (context: AuthContext, visitor: SshVisitor | undefined) => {
    if (!visitor) return refuse(context, true)
    entered(visitor)
    context.accept()
  }
  const enterWhenJudged = (context: AuthContext, judged: Promise<SshVisitor | undefined>) =>
    void judged.then(
      (visitor) => enter(context, visitor),
      (thrown: unknown) => {
        log.warn('A login over SSH could not be judged', { from, error: Failure.from(thrown) })
        refuse(context, true)
      },
    )
  client.on('authentication', (context) => {
    if (context.username.length > LONGEST_USER) return refuse(context, true)
    if (context.method === 'publickey')
      return context.key.algo === CERTIFICATE_TYPE ? enterByCertificate(context) : enterByKey(context)
    const judge = context.method === 'password' ? door.byPassword?.(context.username) : undefined
    if (context.method === 'password' && judge && context.password.length <= LONGEST_PASSWORD && mayTry())
      return enterWhenJudged(context, judge(new Secret(context.password)))
    // Clients ask so what there is.
    refuse(context, context.method !== 'none')
  })
  const enterByKey = (context: KeyContext) => {
    const shown = readShown(context.key)
    // A key that is only shown tells nothing of who shows it.
    if (context.signature === undefined) {
      if (shown && door.takesKey(context.username, shown.key)) context.accept()
      else refuse(context, true)
    } else if (shown && isProof(shown, context)) enter(context, door.byKey(context.username, shown.key))
    else refuse(context, true)
  }
  const enterByCertificate = (context: KeyContext) => {
    const authority = door.certificates?.authority()
    if (!door.certificates || authority === undefined) return refuse(context, true)
    const certificate = readCertificate(context.key.data, authority)
    const why = typeof certificate === 'string' ? certificate : door.certificates.whyNot(certificate)
    if (typeof certificate === 'string' || why !== undefined) {
      // Whatever it says is worth telling once the authority is known to have signed it.
      const proved = typeof certificate === 'string' ? {} : { serial: String(certificate.serial), keyId: certificate.keyId }
      log.info('A certificate was not taken over SSH', { from, why, ...proved })
      refuse(context, true)
    } else if (context.signature === undefined) context.accept()
    else if (isHeld(certificate, context)) enterWhenJudged(context, door.certificates.enter(context.username, certificate))
    else refuse(context, true)
  }
}

type KeyContext = Extract<AuthContext, { method: 'publickey' }>
