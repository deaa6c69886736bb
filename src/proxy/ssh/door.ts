import type { PublicKey, SshChannel, SshDoor, SshLine, SshProgram, SshVisitor } from '../../adapters/ssh/index.ts'
import { keyOf, type Ref } from '../../api/index.ts'
import { type Judgement, judgeAccess, type Person } from '../../engines/access/index.ts'
import { type Clock, Failure, harmlessLine, type Log, sayFailure } from '../../std/index.ts'
import type { RoutedWorkspace, RouteTable, Session } from '../web/ports.ts'
import { forwardPort } from './forward.ts'
import type { Inside } from './inside.ts'
import { runProgram } from './programs.ts'
import { whyNotRunning } from './words.ts'

export interface SshServices {
  routes: Pick<RouteTable, 'workspace'>
  /** The workspace of that name. */
  find(ref: Ref): RoutedWorkspace | undefined
  inside: Inside
  streams: { enter(stream: SshStream): () => void }
  activity: {
    used(workspace: RoutedWorkspace, by: 'SSH'): void
    sshOpened(workspace: RoutedWorkspace, line: { received(): number; closed: Promise<void> }, isTerminal: boolean): void
  }
  clock: Clock
  log: Log
}

interface SshStream {
  uid: string
  port: 'ssh'
  session: Session
  links: readonly string[]
  as: string
  until: number
  holds(): boolean
  cut(): void
}

/** Lets people into workspaces as `NAME.NAMESPACE`. Whoever proves a key of the owner is the owner. */
export function createSshDoor(services: SshServices): SshDoor {
  const { find, routes, clock } = services
  const judge = (user: string, key: PublicKey) => {
    const workspace = find(refFrom(user))
    if (!workspace || !hasKey(workspace, key)) return
    const { owner } = workspace.rules
    const person = owner === undefined ? undefined : { user: owner, groups: [] }
    const judgement = judgeAccess({ rules: workspace.rules, port: 'ssh', person, now: clock.now() })
    return person && judgement.may ? { workspace, person, judgement } : undefined
  }
  return {
    takesKey: (user, key) => judge(user, key) !== undefined,
    byKey(user, key) {
      const found = judge(user, key)
      if (!found) return
      const { uid, rules } = found.workspace
      const holds = () => {
        const now = routes.workspace(uid)
        return now !== undefined && now.rules.owner === rules.owner && hasKey(now, key)
      }
      return visitorOf(services, { ...found, holds, means: key.type })
    },
  }
}

/** A name has no dot in it, and a namespace neither. */
function refFrom(user: string): Ref & { namespace: string } {
  const dot = user.lastIndexOf('.')
  return { name: user.slice(0, Math.max(dot, 0)), namespace: user.slice(dot + 1) }
}

const hasKey = ({ sshKeys }: RoutedWorkspace, { blob }: PublicKey): boolean => sshKeys.has(blob)

interface Entry {
  workspace: RoutedWorkspace
  person: Person
  judgement: Extract<Judgement, { may: true }>
  /** Whether what was shown lets in still. */
  holds(): boolean
  /** What was shown, for the log. */
  means: string
}

function visitorOf(services: SshServices, { workspace, person, judgement, holds, means }: Entry): SshVisitor {
  const { routes, inside, streams, activity, clock } = services
  const { uid } = workspace
  const log = services.log.with({ workspace: keyOf(workspace.ref), user: person.user })
  const known = { from: '' }
  /** Throws a sentence that says why nothing runs in it. */
  const running = (): RoutedWorkspace => {
    const now = routes.workspace(uid)
    if (!now) throw new Failure('not-found', 'the workspace is not there any more')
    const why = whyNotRunning(now)
    if (why) throw new Failure('conflict', why)
    return now
  }
  const use = (now: RoutedWorkspace, channel: SshChannel, isTerminal: boolean) => {
    activity.used(now, 'SSH')
    activity.sshOpened(now, { received: channel.received, closed: endOf(channel.closed) }, isTerminal)
  }
  return {
    entered({ from, cut, closed }: SshLine) {
      const since = clock.now()
      known.from = from
      const session = { person, since, until: Number.POSITIVE_INFINITY }
      const leave = streams.enter({
        ...{ uid, port: 'ssh', session, links: [] },
        as: judgement.as,
        until: judgement.until,
        holds,
        cut,
      })
      log.info('Somebody has logged in over SSH', { from, means, as: judgement.as })
      closed.addEventListener('abort', () => {
        leave()
        log.info('A connection over SSH is over', { from, ms: clock.now() - since })
      })
    },
    run(program: SshProgram, channel: SshChannel) {
      log.debug('A program is asked for over SSH', { kind: program.kind, from: known.from })
      const work = async () => {
        const now = running()
        use(now, channel, program.terminal !== undefined)
        await inside(now, (place) => runProgram(place, program, channel))
      }
      work().catch((thrown: unknown) => tell(channel, thrown, log))
    },
    async connect(port, accept) {
      const now = running()
      const begin = () => {
        const channel = accept()
        use(now, channel, false)
        return channel
      }
      await inside(now, (place) => forwardPort(place, port, begin, clock))
    },
    refused: (what) => log.info('Something was refused over SSH', { what, from: known.from }),
  }
}

function endOf(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (signal.aborted) resolve()
  signal.addEventListener('abort', () => resolve(), { once: true })
  return promise
}

/** As ssh itself ends where it could not do what was asked. */
const NOT_RUN = 255

function tell(channel: SshChannel, thrown: unknown, log: Log): void {
  // It has been closed meanwhile: there is nobody to be told.
  if (channel.closed.aborted) return
  const failure = Failure.from(thrown)
  if (failure.code === 'internal') log.error('A program could not be run over SSH', { error: failure })
  else log.info('A program was not run over SSH', { error: failure })
  const words =
    failure.code === 'internal' ? 'Something went wrong here; the cause is in the log of the proxy.' : sayFailure(failure)
  void channel.write(Buffer.from(`${harmlessLine(words)}\r\n`), 'stderr').then(() => channel.end(NOT_RUN))
}
