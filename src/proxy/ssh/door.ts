import {
  createOpenFolders,
  type OpenFolders,
  type PublicKey,
  type SshChannel,
  type SshDoor,
  type SshLine,
  type SshProgram,
  type SshVisitor,
} from '../../adapters/ssh/index.ts'
import { keyOf, type Ref } from '../../api/index.ts'
import { type Judgement, judgeAccess } from '../../engines/access/index.ts'
import { aborted, type Clock, Failure, harmlessLine, type Log, sayFailure } from '../../std/index.ts'
import { judge } from '../web/judge.ts'
import type { MayOpen, RoutedWorkspace, RouteTable, Session } from '../web/ports.ts'
import { forwardPort } from './forward.ts'
import type { Inside } from './inside.ts'
import { runProgram } from './programs.ts'
import type { SessionOfToken } from './tokens.ts'
import { whyNotRunning } from './words.ts'

export interface SshServices {
  routes: Pick<RouteTable, 'workspace'>
  /** The workspace of that name. */
  find(ref: Ref): RoutedWorkspace | undefined
  inside: Inside
  /** Without it tokens let nobody in. */
  sessionOf: SessionOfToken | undefined
  mayOpen: MayOpen | undefined
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

/** Lets people into workspaces as `NAME.NAMESPACE`: whoever proves a key of the owner is the owner, and a token says who somebody is. */
export function createSshDoor(given: SshServices): SshDoor {
  const services = { ...given, foldersOf: createFoldersOf() }
  const { find, routes, sessionOf, mayOpen, clock } = services
  const judgeKey = (user: string, key: PublicKey) => {
    const workspace = find(refFrom(user))
    if (!workspace || !hasKey(workspace, key)) return
    const { owner } = workspace.rules
    const person = owner === undefined ? undefined : { user: owner, groups: [] }
    const judgement = judgeAccess({ rules: workspace.rules, port: 'ssh', person, now: clock.now() })
    return person && judgement.may ? { workspace, person, judgement } : undefined
  }
  const byToken = async (token: Parameters<SessionOfToken>[0], user: string, review: SessionOfToken) => {
    const session = await review(token)
    if (!session) return
    const ref = refFrom(user)
    const workspace = find(ref)
    if (!workspace) {
      // Asked of one that is not there, too, or the time would tell which are.
      await mayOpen?.(session.person, { ref })
      return
    }
    const judgement = await judge({ mayOpen, clock }, { workspace, port: 'ssh' }, { session, links: [] })
    if (!judgement.may) return
    return visitorOf(services, { workspace, session, judgement, holds: () => true, means: 'token' })
  }
  return {
    takesKey: (user, key) => judgeKey(user, key) !== undefined,
    byKey(user, key) {
      const found = judgeKey(user, key)
      if (!found) return
      const { workspace, person, judgement } = found
      const { uid, rules } = workspace
      const holds = () => {
        const now = routes.workspace(uid)
        return now !== undefined && now.rules.owner === rules.owner && hasKey(now, key)
      }
      const session = { person, since: clock.now(), until: Number.POSITIVE_INFINITY }
      return visitorOf(services, { workspace, session, judgement, holds, means: key.type })
    },
    byPassword: sessionOf && ((user, token) => byToken(token, user, sessionOf)),
  }
}

/** Of all connections of one person together: each has a share of the memory of everybody. */
function createFoldersOf() {
  const people = new Map<string, { folders: OpenFolders; lines: number }>()
  return (person: string, closed: AbortSignal): OpenFolders => {
    const own = people.get(person) ?? { folders: createOpenFolders(), lines: 0 }
    people.set(person, own)
    own.lines++
    const leave = () => {
      if (--own.lines === 0) people.delete(person)
    }
    closed.addEventListener('abort', leave, { once: true })
    return own.folders
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
  session: Session
  judgement: Extract<Judgement, { may: true }>
  /** Whether what was shown lets in still. */
  holds(): boolean
  /** What was shown, for the log. */
  means: string
}

type Visited = SshServices & { foldersOf: ReturnType<typeof createFoldersOf> }

function visitorOf(services: Visited, { workspace, session, judgement, holds, means }: Entry): SshVisitor {
  const { routes, inside, streams, activity, clock } = services
  const { uid } = workspace
  const log = services.log.with({ workspace: keyOf(workspace.ref), user: session.person.user })
  const known = { from: '', folders: createOpenFolders() }
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
    activity.sshOpened(now, { received: channel.received, closed: aborted(channel.closed) }, isTerminal)
  }
  return {
    person: session.person.user,
    entered({ from, cut, closed }: SshLine) {
      const since = clock.now()
      known.from = from
      known.folders = services.foldersOf(session.person.user, closed)
      const until = Math.min(judgement.until, session.until)
      const stream = { uid, port: 'ssh' as const, session, links: [], as: judgement.as, until, holds, cut }
      const leave = streams.enter(stream)
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
        await inside(now, (place) => runProgram(place, program, channel, known.folders))
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
