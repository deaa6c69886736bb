import type { AuthContext, AuthenticationType, Connection } from 'ssh2'
import { Failure, type Log, Secret } from '../../std/index.ts'
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
  const methods: AuthenticationType[] = door.byPassword ? ['publickey', 'password'] : ['publickey']
  let failed = 0
  const refuse = (context: AuthContext, isAttempt: boolean) => {
    if (isAttempt && ++failed >= MOST_FAILED) {
      log.info('Somebody did not log in over SSH', { from, attempts: failed })
      return cut()
    }
    context.reject(methods)
  }
  const enter = (context: AuthContext, visitor: SshVisitor | undefined) => {
    if (!visitor) return refuse(context, true)
    entered(visitor)
    context.accept()
  }
  client.on('authentication', (context) => {
    if (context.username.length > LONGEST_USER) return refuse(context, true)
    if (context.method === 'publickey') return enterByKey(context)
    if (context.method === 'password' && door.byPassword && context.password.length <= LONGEST_PASSWORD && mayTry())
      return void door.byPassword(context.username, new Secret(context.password)).then(
        (visitor) => enter(context, visitor),
        (thrown: unknown) => {
          log.warn('A login over SSH could not be judged', { from, error: Failure.from(thrown) })
          refuse(context, true)
        },
      )
    // Clients ask so what there is.
    refuse(context, context.method !== 'none')
  })
  const enterByKey = (context: Extract<AuthContext, { method: 'publickey' }>) => {
    const shown = readShown(context.key)
    // A key that is only shown tells nothing of who shows it.
    if (context.signature === undefined) {
      if (shown && door.takesKey(context.username, shown.key)) context.accept()
      else refuse(context, true)
    } else if (shown && isProof(shown, context)) enter(context, door.byKey(context.username, shown.key))
    else refuse(context, true)
  }
}
